package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

const arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:stripe"

// manager plays Secrets Manager with one secret.
type manager struct {
	url   string
	mu    sync.Mutex
	text  string // the current secret; "" is one that cannot be read
	count int
}

func newManager(t *testing.T, text string) *manager {
	t.Helper()
	m := &manager{text: text}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("X-Amz-Target"); got != "secretsmanager.GetSecretValue" {
			t.Errorf("asked for %s", got)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.count++
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if m.text == "" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"AccessDeniedException","Message":"denied"}`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"ARN": arn, "SecretString": m.text})
	}))
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

// rotate puts another secret in the place of the current one.
func (m *manager) rotate(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.text = text
}

// reads is how often the secret was asked for.
func (m *manager) reads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}
