package conntrack_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/singleeffect/once/shared/conntrack"
)

// C58: what never had a connection is told apart from what may have arrived.
func TestConnected(t *testing.T) {
	var arrived atomic.Int32
	server := func(start func(*httptest.Server), do http.HandlerFunc) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived.Add(1)
			do(w, r)
		}))
		start(s)
		t.Cleanup(s.Close)
		return s
	}
	answers := func(http.ResponseWriter, *http.Request) {}
	hangsUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	http2 := func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	}
	plain := server((*httptest.Server).Start, answers)
	refusing := httptest.NewServer(nil)
	refusing.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()

	tests := []struct {
		name    string
		ctx     context.Context
		url     string
		header  string
		trusted *httptest.Server // whose certificate is; nil for nobody's
		want    bool
	}{
		{name: "nobody listens", url: refusing.URL},
		{name: "no such host", url: "http://stripe.invalid"},
		{name: "no TLS there", url: strings.Replace(plain.URL, "http:", "https:", 1)},
		{name: "a certificate of nobody's", url: server((*httptest.Server).StartTLS, answers).URL},
		{name: "a header with a line break", url: plain.URL, header: "a\nb"},
		{name: "over before it began", ctx: over, url: plain.URL},
		{name: "hung up", url: server((*httptest.Server).Start, hangsUp).URL, want: true},
		{name: "hung up, HTTP/2", trusted: server(http2, hangsUp), want: true},
		{name: "answered", url: plain.URL, want: true},
		{name: "answered, HTTP/2", trusted: server(http2, answers), want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client, url := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{}, ForceAttemptHTTP2: true}}, tt.url
			if tt.trusted != nil {
				client, url = tt.trusted.Client(), tt.trusted.URL
			}
			defer client.CloseIdleConnections()
			ctx := t.Context()
			if tt.ctx != nil {
				ctx = tt.ctx
			}
			arrived.Store(0)
			var tracker conntrack.Tracker
			request, err := http.NewRequestWithContext(tracker.Trace(ctx), http.MethodPost, url, strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			if tt.header != "" {
				request.Header["X-Key"] = []string{tt.header}
			}
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			if got := tracker.Connected(); got != tt.want || arrived.Load() > 0 != tt.want {
				t.Errorf("got %v with %d arrived (error %v), want %v", got, arrived.Load(), err, tt.want)
			}
		})
	}
}

// A kept connection counts, too: it may be the one that takes the request.
func TestKeptConnection(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	dials := 0
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials++
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
	defer client.CloseIdleConnections()
	for range 2 {
		var tracker conntrack.Tracker
		request, err := http.NewRequestWithContext(tracker.Trace(t.Context()), http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if !tracker.Connected() {
			t.Error("got not connected")
		}
	}
	if dials != 1 {
		t.Errorf("dials: got %d, want 1", dials)
	}
}
