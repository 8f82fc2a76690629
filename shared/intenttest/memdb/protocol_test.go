package memdb

import "net/http"

func httpClient(db *DB) *http.Client { return &http.Client{Transport: db} }
