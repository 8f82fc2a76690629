package intenttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Call is one HTTP request to an AWS service, as Faults sees it. Each attempt of the SDK's own retries is a call of its own.
type Call struct {
	// Operation is the API's name, such as "PutItem": what follows the dot in X-Amz-Target.
	Operation string
	// Number counts the calls of this operation through these Faults, from 1.
	Number int
	// Body is the request as it leaves.
	Body []byte
}

// Fault says what happens to one call. The zero value lets it pass.
type Fault struct {
	// Delay is waited before the request is sent. The wait ends early, with the context's error, if the caller gives up.
	Delay time.Duration
	// Before runs when the caller has sent and the store has not yet seen the request: what it does, the store sees first.
	Before func()
	// Drop keeps the request from the store. The caller gets a connection error.
	Drop bool
	// LoseReply lets the store apply the request and gives the caller a connection error instead of the answer. The
	// request is sent even if the caller gives up meanwhile, so that "applied" is certain when the error is seen.
	LoseReply bool
	// Reply, if not nil, stands in for the store, which sees nothing: what an engine cannot be brought to say by itself
	// (throttling, TransactionConflict).
	Reply *Reply
	// Edit, if not nil, changes the store's answer: what an engine says in another way than AWS does.
	Edit func(Reply) Reply
	// After runs when the store has answered and the caller has not yet heard.
	After func()
}

// Reply is an answer in AWS's JSON protocol. An error has a status from 400 on and names its type in the field "__type".
type Reply struct {
	Status int
	Body   string
}

// Faults is an http.RoundTripper for the HTTP client of an SDK client. It counts the calls and spoils those that Plan picks.
// It is safe for use by several goroutines.
type Faults struct {
	// Plan is asked about each call. Nil lets all pass. It is asked about one call at a time, so it may keep state without a
	// lock; it must not block and must not call Counts. What takes time belongs in the Fault's Before and After.
	Plan func(Call) Fault
	// Base sends the requests. Defaults to http.DefaultTransport.
	Base http.RoundTripper

	mu     sync.Mutex
	counts map[string]int
}

// Client is an HTTP client whose requests go through f, for the HTTPClient option of an SDK client.
func (f *Faults) Client() *http.Client { return &http.Client{Transport: f} }

// Counts gives the calls so far, by operation. Dropped calls and those whose reply was lost are among them.
func (f *Faults) Counts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.counts)
}

// RoundTrip implements http.RoundTripper.
func (f *Faults) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := drain(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read request body: %w", err)
	}
	fault := f.plan(req.Header.Get("X-Amz-Target"), body)
	if err := wait(req.Context(), fault.Delay); err != nil {
		return nil, err
	}
	if fault.Before != nil {
		fault.Before()
	}
	if fault.Drop {
		return nil, reset("write")
	}
	ctx := req.Context()
	if fault.LoseReply {
		ctx = context.WithoutCancel(ctx)
	}
	resp, err := f.send(req.Clone(ctx), body, fault)
	if err != nil {
		return nil, err
	}
	if fault.LoseReply {
		// The whole answer is read first: it is the store's word that the request was applied.
		if _, err := drain(resp.Body); err != nil {
			return nil, fmt.Errorf("read the reply that was to be lost: %w", err)
		}
	}
	if fault.After != nil {
		fault.After()
	}
	if fault.LoseReply {
		return nil, reset("read")
	}
	return resp, nil
}

// plan counts the call and asks for its fault in one step, so that Plan sees each operation's numbers in their order.
func (f *Faults) plan(target string, body []byte) Fault {
	_, operation, _ := strings.Cut(target, ".")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil {
		f.counts = make(map[string]int)
	}
	f.counts[operation]++
	if f.Plan == nil {
		return Fault{}
	}
	return f.Plan(Call{Operation: operation, Number: f.counts[operation], Body: body})
}

func (f *Faults) send(req *http.Request, body []byte, fault Fault) (*http.Response, error) {
	if fault.Reply != nil {
		return fault.Reply.response(req), nil
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	base := f.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(req)
	if err != nil || fault.Edit == nil {
		return resp, err
	}
	answer, err := drain(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the reply to be edited: %w", err)
	}
	edited := fault.Edit(Reply{Status: resp.StatusCode, Body: string(answer)})
	return edited.response(req), nil
}

// response carries no X-Amz-Crc32: the SDK takes a reply without one as it is, and refuses one whose sum is wrong.
func (r Reply) response(req *http.Request) *http.Response {
	return &http.Response{
		Status:        fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status)),
		StatusCode:    r.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:          io.NopCloser(strings.NewReader(r.Body)),
		ContentLength: int64(len(r.Body)),
		Request:       req,
	}
}

// reset is what a caller sees of a connection that died: the SDK takes it for retryable.
func reset(op string) error {
	return &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func drain(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer body.Close()
	return io.ReadAll(body)
}
