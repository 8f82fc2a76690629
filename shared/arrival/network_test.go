package arrival_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/singleeffect/once/shared/arrival"
)

// bodies are one text as a body of known length, and of unknown, which is sent in chunks.
func bodies(text string) map[string]io.Reader {
	return map[string]io.Reader{"known length": strings.NewReader(text), "unknown length": io.MultiReader(strings.NewReader(text))}
}

// send makes one call on a real connection, which must fail, and tells whether its request may have arrived.
func send(ctx context.Context, t *testing.T, transport *http.Transport, url string, body io.Reader) bool {
	t.Helper()
	ctx, call := arrival.Track(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: arrival.Client(transport.RoundTrip)}
	response, err := client.Do(request)
	if err == nil {
		_ = response.Body.Close()
		t.Error("got an answer, want an error")
	}
	return call.MayHaveArrived()
}

// C58: without a connection nothing arrives.
func TestC58_NoConnection(t *testing.T) {
	refusing := httptest.NewServer(nil)
	refusing.Close()
	var arrived atomic.Int32
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) })) // its certificate is nobody's
	defer stranger.Close()
	for name, url := range map[string]string{
		"nobody listens": refusing.URL, "the name does not resolve": "http://provider.invalid", "the TLS handshake fails": stranger.URL,
	} {
		for length, body := range bodies(text) {
			t.Run(name+", "+length, func(t *testing.T) {
				if send(t.Context(), t, &http.Transport{}, url, body) {
					t.Error("may have arrived")
				}
			})
		}
	}
	if got := arrived.Load(); got != 0 {
		t.Errorf("arrived: got %d, want 0", got)
	}
}

// C58: the far side resets the connection while most of the request is still to be written.
func TestC58_ResetWhileItIsWritten(t *testing.T) {
	far, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	go func() {
		for {
			conn, err := far.Accept()
			if err != nil {
				return // the test is over
			}
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.(*net.TCPConn).SetLinger(0) // close by a reset
			_ = conn.Close()
		}
	}()
	const moreThanSocketsHold = 64 << 20
	for length, body := range bodies(strings.Repeat("a", moreThanSocketsHold)) {
		t.Run(length, func(t *testing.T) {
			if send(t.Context(), t, &http.Transport{}, "http://"+far.Addr().String(), body) {
				t.Error("may have arrived")
			}
		})
	}
}

// C58: a request that has a connection and waits there for a stream was not sent.
func TestC58_NoStream(t *testing.T) {
	var arrived atomic.Int32
	began, release := make(chan struct{}), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if arrived.Add(1); r.URL.Path == "/slow" {
			close(began)
			<-release
		}
	}))
	s.EnableHTTP2 = true
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 1}
	s.StartTLS()
	defer s.Close()
	transport := s.Client().Transport.(*http.Transport)
	transport.HTTP2 = &http.HTTP2Config{StrictMaxConcurrentRequests: true}
	get := func(path string) {
		response, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Error(err)
			return
		}
		_ = response.Body.Close()
	}
	get("/") // the client knows the limit now
	var slow sync.WaitGroup
	slow.Go(func() { get("/slow") })
	<-began

	ctx, cancel := context.WithCancel(t.Context())
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected = true
		cancel()
	}})
	if send(ctx, t, transport, s.URL, strings.NewReader(text)) || !connected {
		t.Errorf("may have arrived, or had no connection (%t)", !connected)
	}
	close(release)
	slow.Wait()
	get("/") // the stream is free, and nothing else waits for it
	if got := arrived.Load(); got != 3 {
		t.Errorf("arrived: got %d, want 3", got)
	}
}

// C58: a request that the far side has read whole may have arrived, over HTTP/1.1, and over HTTP/2 on a new connection and on a kept one.
func TestC58_NoAnswer(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var arrived atomic.Int32
		proto := 1
		if http2 {
			proto = 2
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got, err := io.ReadAll(r.Body); string(got) != text || err != nil || r.ProtoMajor != proto {
				t.Errorf("got %s %q and error %v, want HTTP/%d and %q", r.Proto, got, err, proto, text)
			}
			arrived.Add(1)
			panic(http.ErrAbortHandler)
		}))
		s.EnableHTTP2 = http2
		s.StartTLS()
		transport := s.Client().Transport.(*http.Transport)
		for range 2 {
			for length, body := range bodies(text) {
				if !send(t.Context(), t, transport, s.URL, body) {
					t.Errorf("HTTP/%d, %s: said not to have arrived", proto, length)
				}
			}
		}
		s.Close()
		if got := arrived.Load(); got != 4 {
			t.Errorf("HTTP/%d: arrived: got %d, want 4", proto, got)
		}
	}
}
