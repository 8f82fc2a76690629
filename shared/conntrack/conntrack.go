// Package conntrack tells whether an HTTP request ever had a connection. One that had none was not
// sent: the host was not found, nobody listened, the TLS handshake failed, the context was over, or the
// request was not even well-formed. Its effect did not happen, which no error of the client says as
// surely.
//
// The limit: a request that had a connection may have arrived, whatever its error says. A connection
// that was kept and is dead takes the request and gives no answer, and of what was written in part
// nobody knows which part arrived.
package conntrack

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// Tracker watches one request. The zero Tracker is ready; it must not be copied or used again.
type Tracker struct {
	connected atomic.Bool
}

// Trace returns the context to make the request with. The request must go through an *http.Transport,
// wrapped or not: another http.RoundTripper may tell a trace of no connection although it has one.
//
// Nobody else's request may be made with it: a client that first fetches credentials would be taken for
// connected. Give it to the request itself then, not to the call.
func (t *Tracker) Trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// The last hook before the first byte of HTTP/1 and HTTP/2 alike. WroteHeaders comes later than
		// the headers of a request over HTTP/2, and so may not have come when the request is given up.
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	})
}

// Connected reports whether the request had a connection. Ask when it has ended.
func (t *Tracker) Connected() bool { return t.connected.Load() }
