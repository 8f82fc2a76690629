package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"github.com/singleeffect/once/shared/intent"
)

// clientFunc is a way to SES.
type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// connected tells the caller's hooks, if it has any, that there is a connection.
func connected(r *http.Request) {
	if hooks := httptrace.ContextClientTrace(r.Context()); hooks != nil && hooks.GotConn != nil {
		hooks.GotConn(httptrace.GotConnInfo{})
	}
}

// C58: an e-mail whose request cannot have arrived whole is sent with the next delivery. One whose
// request was written to its last byte is a doubt, whether it left or not.
func TestC58_ConnectionBreaks(t *testing.T) {
	reset := &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
	// after writes as many bytes as it is told of the request's length, and breaks.
	after := func(bytes func(length int64) int64) func(*http.Request, sesv2.HTTPClient) {
		return func(r *http.Request, _ sesv2.HTTPClient) {
			connected(r)
			_, _ = io.CopyN(io.Discard, r.Body, bytes(r.ContentLength))
		}
	}
	tests := []struct {
		name   string
		breaks func(r *http.Request, ses sesv2.HTTPClient)
		state  intent.State
		left   int // e-mails in the first delivery
	}{
		{"before there is one", func(*http.Request, sesv2.HTTPClient) {}, released, 0},
		{"before anything was written", after(func(int64) int64 { return 0 }), released, 0},
		{"in the middle of the request", after(func(n int64) int64 { return n / 2 }), released, 0},
		{"before the last byte", after(func(n int64) int64 { return n - 1 }), released, 0},
		{"after the last byte", after(func(n int64) int64 { return n }), doubt, 0},
		{"after the e-mail", func(r *http.Request, ses sesv2.HTTPClient) {
			response, err := ses.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			_ = response.Body.Close()
		}, doubt, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newFixture(t)
			w.way = func(ses sesv2.HTTPClient) sesv2.HTTPClient {
				return clientFunc(func(r *http.Request) (*http.Response, error) {
					tt.breaks(r, ses)
					return nil, reset
				})
			}
			if listed := w.worker(t, 0).deliver(t, lesson); len(listed) != 1 {
				t.Errorf("first delivery: listed %v, want the message", listed)
			}
			w.wantState(t, "first delivery", tt.state)
			if got := len(w.ses.sent()); got != tt.left {
				t.Errorf("e-mails in the first delivery: got %d, want %d", got, tt.left)
			}

			w.way = nil
			kind, state, left := intent.InDoubt, doubt, tt.left
			if tt.state == released {
				kind, state, left = intent.Executed, completed, 1
			}
			w.worker(t, lapse).wantOne(t, "second delivery", lesson, kind, state)
			if got := len(w.ses.sent()); got != left {
				t.Errorf("e-mails in both deliveries: got %d, want %d", got, left)
			}
		})
	}
}

// C58, on a real connection: the far side resets it while most of the request is still to be written.
func TestC58_ResetWhileItIsWritten(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	go func() {
		conn, err := far.Accept()
		if err != nil {
			return // the test is over
		}
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.(*net.TCPConn).SetLinger(0) // close by a reset
		_ = conn.Close()
	}()
	const moreThanSocketsHold = 64 << 20
	large := letter{subject: "Hello", text: strings.Repeat("a", moreThanSocketsHold)}
	_, err = newSES(sesConfig("http://"+far.Addr().String()), "once@example.com").send(t.Context(), "ada@example.com", large, "tag")
	if got := disposition(err); got != "not applied" {
		t.Errorf("got %s (%v), want not applied", got, err)
	}
}

// What is said to be not applied stays so: a transport that reads on gets nothing.
func TestSealedBodyIsNotSent(t *testing.T) {
	const text = "an e-mail"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://ses.invalid", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	tracked, body := track(r)
	if tracked.GetBody != nil {
		t.Error("a second body could be sent, which is not tracked")
	}
	if _, err := io.CopyN(io.Discard, tracked.Body, int64(len(text))-1); err != nil {
		t.Fatal(err)
	}
	if body.seal() {
		t.Error("may have arrived with its last byte missing")
	}
	if rest, err := io.ReadAll(tracked.Body); len(rest) != 0 || !errors.Is(err, errSealed) {
		t.Errorf("read after the call: got %q and error %v, want %v", rest, err, errSealed)
	}
	if body.seal() {
		t.Error("may have arrived after all")
	}
}

// Of a request without a body, or of unknown length, nothing can be excluded.
func TestUntrackableRequestsMayHaveArrived(t *testing.T) {
	for name, body := range map[string]io.Reader{"no body": nil, "no length": io.MultiReader(strings.NewReader("an e-mail"))} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://ses.invalid", body)
		if err != nil {
			t.Fatal(err)
		}
		if _, body := track(r); !body.seal() {
			t.Errorf("%s: said not to have arrived", name)
		}
	}
}
