package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// wireFatesOf are the fates of an attempt that the SDK makes.
func wireFatesOf(operation string) []fate {
	fates := fatesOf(operation)
	if slices.Contains(fates, late) { // a write
		fates = append(fates[:len(fates):len(fates)], silent, cut)
	}
	return fates
}

// wire is the table as the SDK's client of one worker reaches it. Each attempt waits
// for leave and has its own fate, also one that the SDK makes by itself.
type wire struct {
	db     *memdb.DB
	worker *worker
}

// newWire returns the SDK's client, tuned as the functions' is. An attempt's timeout
// is a fate here: a real one would end every attempt that waits for leave.
func newWire(db *memdb.DB, k *worker) *dynamodb.Client {
	return db.Client(dynamo.Tune, func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: &wire{db: db, worker: k}}
	})
}

func (t *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	fates := wireFatesOf(operation)
	operation += ofBody(body)
	if attempt := req.Header.Get("Amz-Sdk-Request"); !strings.HasPrefix(attempt, "attempt=1") {
		operation += ", the SDK's " + attempt
	}
	hears := func(f fate, resp *http.Response, err error) (*http.Response, error) {
		return t.hears(req.Context(), f, resp, err)
	}
	return through(req.Context(), t.worker, fates, operation, hears, func() (*http.Response, error) {
		again := req.Clone(context.WithoutCancel(req.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := t.db.RoundTrip(again)
		if err == nil && resp.StatusCode == http.StatusOK {
			t.worker.world.changed(operation, t.worker)
		}
		return resp, err
	})
}

// hears is what comes back over the wire from an attempt with that fate.
func (t *wire) hears(ctx context.Context, f fate, resp *http.Response, err error) (*http.Response, error) {
	switch f {
	case throttled:
		return exception("ProvisionedThroughputExceededException"), nil
	case refused:
		return exception("AccessDeniedException"), nil
	case silent:
		ctx, cancel := context.WithTimeout(ctx, dynamo.AttemptTimeout)
		defer cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	case cut:
		if err == nil {
			resp.Body = io.NopCloser(io.MultiReader(io.LimitReader(resp.Body, resp.ContentLength/2), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}
		return resp, err
	}
	return nil, reset()
}

func exception(name string) *http.Response {
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + name + `","message":"explored"}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// ofBody says which record a request is about, where it is one.
func ofBody(body []byte) string {
	var request struct {
		Item, Key struct{ Intent struct{ S string } }
	}
	if json.Unmarshal(body, &request) != nil || request.Item.Intent.S+request.Key.Intent.S == "" {
		return ""
	}
	return about(request.Item.Intent.S + request.Key.Intent.S)
}
