package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"github.com/singleeffect/once/shared/intent"
)

// clientFunc is a way to SES.
type clientFunc func(*http.Request) (*http.Response, error)

func (f clientFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

// C58: an e-mail whose request cannot have arrived whole is sent with the next delivery. One whose
// request was written to its last byte is a doubt, whether it left or not.
func TestC58_ConnectionBreaks(t *testing.T) {
	reset := &net.OpError{Op: "write", Net: "tcp", Err: syscall.ECONNRESET}
	// after writes as many bytes as it is told of the request's length, and breaks.
	after := func(bytes func(length int64) int64) func(*http.Request, sesv2.HTTPClient) {
		return func(r *http.Request, _ sesv2.HTTPClient) {
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

// A redirect is not followed: the e-mail would be sent in a second request.
func TestRedirectIsNotFollowed(t *testing.T) {
	w := newFixture(t, reply{status: http.StatusTemporaryRedirect, does: func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, r.URL.Path, http.StatusTemporaryRedirect)
	}})
	w.worker(t, 0).wantOne(t, "delivery", lesson, intent.InDoubt, doubt)
	if got := w.ses.requests(); got != 1 {
		t.Errorf("requests: got %d, want 1", got)
	}
}
