package main

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// connTracker tells whether one request to Stripe ever had a connection. One that had none was not sent:
// the host was not found, nobody listened, the TLS handshake failed, the context was over, or the
// request was not even well-formed. The zero value is ready.
//
// One that had a connection may have arrived, whatever its error says: a kept connection that is dead
// takes the request and gives no answer. That is no loss where the provider's key stands in between: the
// claim lapses, and the next attempt asks under the same key.
type connTracker struct {
	up atomic.Bool
}

// trace returns the context to make the request with. It must go through an *http.Transport, wrapped or
// not: another http.RoundTripper may tell a trace of no connection although it has one.
func (t *connTracker) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The last hook before the first byte, of HTTP/1 and of HTTP/2. WroteHeaders may not have come yet
		// when a request over HTTP/2 is given up whose headers are written.
		GotConn: func(httptrace.GotConnInfo) { t.up.Store(true) },
	})
}

// connected is for after the request.
func (t *connTracker) connected() bool { return t.up.Load() }
