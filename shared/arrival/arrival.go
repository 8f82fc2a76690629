// Package arrival tells, after a call to a provider has failed, whether its request may have arrived. It
// works with every client that sends through net/http or through something like http.Client.Do, such as
// stripe-go and the AWS SDK.
//
// The promise: if MayHaveArrived is false, no server has received the request whole, and none will. So the
// effect did not happen in this attempt, and the verdict is intent.NotApplied. It is the effect's own check
// and not the provider's answer: it says nothing of an earlier attempt, so it is never intent.Answered.
//
// The limit: true means "perhaps". Whatever breaks after the transport took the end of the body leaves a
// doubt, and so does every request without a body, since nothing of it can be counted. The call must go
// through a Client with the context that Track returns: of a call that went another way, or with another
// context, MayHaveArrived is false although its request may have arrived. Each function has a test that
// breaks the connection after the request. A provider that acts on half a request is beyond the promise.
//
//	Track → the call → Client ┬→ no connection, or broken within the body → false: NotApplied
//	   │                      └→ the transport took the end of the body   → true: read the answer,
//	   │                                                                    and without one it is unknown
//	   └→ failed before the Client: no credentials, a bad address         → false: NotApplied
//
// # Why the body
//
// A server does not take a request for whole before its body has ended. With a Content-Length it waits for
// that many bytes, and a chunked body ends with a chunk of its own (RFC 9112, section 8: a message is
// incomplete without them). Over HTTP/2 a body ends with a flag, and its length must be the Content-Length
// (RFC 9113, sections 8.1 and 8.1.1). So a request did not happen if its host has no address or refuses the
// connection, if TLS fails, if no stream is free, or if the connection breaks within the request.
//
// The hooks of net/http/httptrace know less. GotConn does not tell whether anything was written. An error in
// WroteRequest may come from closing the body, after all of it was written. And a hook that has not been
// called yet may be called later: the transport writes in a goroutine of its own.
package arrival

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Call is one call to a provider: one request, or several of the same if the client repeats it or follows a
// redirect. It is safe for concurrent use.
type Call struct {
	mu    sync.Mutex
	whole bool // the transport took the end of a body, or got a request without one
	ended bool // the transport takes no more
}

// inCall is the context key of a *Call.
type inCall struct{}

// Track returns the context to make one call with, and the call.
func Track(ctx context.Context) (context.Context, *Call) {
	c := &Call{}
	return context.WithValue(ctx, inCall{}, c), c
}

// MayHaveArrived is for after the call. If it is false, no request of the call has arrived whole, and none
// will: from now on the call sends nothing any more.
func (c *Call) MayHaveArrived() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	return c.whole
}

// errEnded is returned when something is sent for a call that has ended.
var errEnded = errors.New("the call has ended")

// Client sends requests through the function that it is, a transport's RoundTrip or a client's Do, and tracks
// those whose context is of Track. It is itself an http.RoundTripper, and the HTTPClient of the AWS SDK's
// options.
type Client func(*http.Request) (*http.Response, error)

// RoundTrip sends the request.
func (send Client) RoundTrip(r *http.Request) (*http.Response, error) {
	c, ok := r.Context().Value(inCall{}).(*Call)
	if !ok {
		return send(r)
	}
	tracked, err := c.track(r)
	if err != nil {
		return nil, err
	}
	return send(tracked)
}

// Do sends the request.
func (send Client) Do(r *http.Request) (*http.Response, error) { return send.RoundTrip(r) }

// track returns the request with its body tracked. Bodies of GetBody are tracked, too: the transport sends
// one where it knows that the server did not take the first request, and a client where it follows a
// redirect.
func (c *Call) track(r *http.Request) (*http.Request, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// http.NoBody stays what it is: wrapped, it would be sent as a body of unknown length.
	bodiless := r.Body == nil || r.Body == http.NoBody
	if c.ended {
		if !bodiless {
			_ = r.Body.Close() // as http.RoundTripper demands
		}
		return nil, errEnded
	}
	if bodiless {
		c.whole = true
		return r, nil
	}
	tracked := r.WithContext(r.Context())
	tracked.Body = &body{ReadCloser: r.Body, call: c, length: r.ContentLength}
	if again := r.GetBody; again != nil {
		tracked.GetBody = func() (io.ReadCloser, error) {
			b, err := again()
			if err != nil {
				return nil, err
			}
			return &body{ReadCloser: b, call: c, length: r.ContentLength}, nil
		}
	}
	return tracked, nil
}

// body is the body of one request. It counts what the transport takes.
type body struct {
	io.ReadCloser
	call   *Call
	length int64 // 0 or less: unknown, as net/http reads it where there is a body
	taken  int64
}

// Read reads before it asks whether the call has ended, so that MayHaveArrived never waits for a slow body.
// What it then has read it does not hand over. It hands over under the lock of MayHaveArrived: the end of the
// body cannot leave after the report that it has not.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.call.mu.Lock()
	defer b.call.mu.Unlock()
	if b.call.ended {
		return 0, errEnded
	}
	b.taken += int64(n)
	if b.length > 0 && b.taken >= b.length || b.length <= 0 && err == io.EOF {
		b.call.whole = true
	}
	return n, err
}
