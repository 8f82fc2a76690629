package main

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"
)

// requestTracker is the HTTP client of one call, and knows afterwards whether its request may have
// arrived. The zero value is ready.
type requestTracker struct {
	next sesv2.HTTPClient
	body *trackedBody // nil until there is a request
}

// trace is an option of the call.
func (t *requestTracker) trace(o *sesv2.Options) {
	t.next, o.HTTPClient = o.HTTPClient, t
}

// Do sends the request.
func (t *requestTracker) Do(r *http.Request) (*http.Response, error) {
	r, t.body = track(r)
	return t.next.Do(r)
}

// mayHaveArrived is for after the call. If it is false, the request has not arrived and never will.
func (t *requestTracker) mayHaveArrived() bool { return t.body != nil && t.body.seal() }

// trackedBody is the body of one request. It counts what the transport takes.
//
// A request can have arrived only if the transport took the last byte of its body: the server waits
// for as many bytes as Content-Length says. So a request did not happen if its host has no address or
// refuses the connection, if TLS fails, or if the connection is lost before the request was written, or
// when a part of it was. Whatever breaks after the last byte leaves a doubt.
//
// The hooks of httptrace know less. GotConn does not tell whether anything was written. An error in
// WroteRequest may come from closing the body, after all of it was written. And a hook that has not
// been called yet may be called later: the transport writes in a goroutine of its own.
type trackedBody struct {
	io.ReadCloser
	mu     sync.Mutex
	left   int64 // bytes that the transport has not taken
	sealed bool
}

// track returns the request with its body tracked. A request without a body, or with one of unknown
// length, counts as one that may have arrived. GetBody is removed: with it, the transport or a redirect
// would send a body that is not tracked.
func track(r *http.Request) (*http.Request, *trackedBody) {
	b := &trackedBody{ReadCloser: r.Body, left: r.ContentLength}
	if r.Body == nil {
		return r, b
	}
	tracked := r.WithContext(r.Context())
	tracked.Body, tracked.GetBody = b, nil
	return tracked, b
}

// errSealed is returned to a transport that reads on after its call has ended.
var errSealed = errors.New("the call has ended")

func (b *trackedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errSealed
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// seal keeps the transport from taking any more and reports whether it has taken everything. Under one
// lock with Read, so that the last byte cannot leave after the report says that it has not.
func (b *trackedBody) seal() (taken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return b.left <= 0
}
