package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// service is what a line leads to. It counts what it has done and the
// connections that it has open.
type service struct {
	*httptest.Server
	answer  func(http.ResponseWriter, *http.Request)
	applied atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
}

func newService(t *testing.T, answer func(http.ResponseWriter, *http.Request)) *service {
	t.Helper()
	s := &service{answer: answer, open: map[net.Conn]bool{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r)
		s.applied.Add(1)
	}))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[c] = true; state == http.StateClosed {
			delete(s.open, c)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *service) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

func answerOK(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }

// lineTo opens a line on which every request has the fate. kill may be nil.
func lineTo(t *testing.T, target string, f fate, kill func()) *line {
	t.Helper()
	l, err := newLine(target, func(*http.Request, int) fate { return f }, kill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// eventually waits for what happens in another goroutine or process.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), forwarded/2)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

// ask asks as the SDK does: one try, and nothing unpacked.
func ask(t *testing.T, r *http.Request) (*http.Response, string, error) {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, string(body), err
}

func request(t *testing.T, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLinePassesOn(t *testing.T) {
	type asked struct {
		method, uri, host, body string
		header                  http.Header
	}
	var got asked
	answers := map[string]func(http.ResponseWriter){
		"an answer with its checksum": func(w http.ResponseWriter) {
			w.Header()["X-Amz-Crc32"] = []string{"2745614147"}
			w.Header().Add("X-Twice", "a")
			w.Header().Add("X-Twice", "b")
			fmt.Fprint(w, `{"Item":{}}`)
		},
		"a refusal": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"ConditionalCheckFailedException"}`)
		},
		"a packed answer": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "\x1f\x8b as it is")
		},
		"a redirection": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				got = asked{r.Method, r.RequestURI, r.Host, string(body), r.Header}
				w.Header()["Date"] = []string{"Thu, 01 Jan 2026 00:00:00 GMT"} // or it differs by the second
				answer(w)
			})
			type told struct {
				status int
				header http.Header
				body   string
			}
			var directly, byLine told
			var want asked
			for _, way := range []struct {
				url   string
				told  *told
				asked *asked
			}{{s.URL, &directly, &want}, {lineTo(t, s.URL+"/", replies, nil).url, &byLine, nil}} {
				r := request(t, way.url+"/v1/a%2Fb?c=d%20e", `{"x":1}`)
				r.Host = "dynamodb.local:8000" // it is signed
				r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
				r.Header.Set("Authorization", "AWS4-HMAC-SHA256 SignedHeaders=host")
				response, body, err := ask(t, r)
				if err != nil {
					t.Fatal(err)
				}
				*way.told = told{response.StatusCode, response.Header, body}
				if way.asked != nil {
					*way.asked = got
				}
			}
			if got.method != want.method || got.uri != want.uri || got.host != want.host || got.body != want.body {
				t.Errorf("asked: got %+v, want %+v", got, want)
			}
			if !maps.EqualFunc(got.header, want.header, slices.Equal) {
				t.Errorf("asked with: got %v, want %v", got.header, want.header)
			}
			if byLine.status != directly.status || byLine.body != directly.body {
				t.Errorf("told: got %+v, want %+v", byLine, directly)
			}
			if !maps.EqualFunc(byLine.header, directly.header, slices.Equal) {
				t.Errorf("told with: got %v, want %v", byLine.header, directly.header)
			}
		})
	}
}

func TestLineLosesReply(t *testing.T) {
	s := newService(t, answerOK)
	l := lineTo(t, s.URL, losesIt, func() { t.Error("the worker is killed") })
	response, body, err := ask(t, request(t, l.url, "{}"))
	if _, network := errors.AsType[*net.OpError](err); err == nil || !network && !errors.Is(err, io.EOF) {
		t.Errorf("got answer %v %q and error %v, want a broken connection", response, body, err)
	}
	if got := s.applied.Load(); got != 1 {
		t.Errorf("applied: got %d, want 1", got)
	}
}

func TestLineDies(t *testing.T) {
	s := newService(t, answerOK)
	var appliedAtKill atomic.Int64
	l := lineTo(t, s.URL, dies, func() { appliedAtKill.Store(s.applied.Load()) })
	response, body, err := ask(t, request(t, l.url, "{}"))
	if err == nil {
		t.Errorf("got answer %v %q, want none", response, body)
	}
	if got := appliedAtKill.Load(); got != 1 {
		t.Errorf("applied before the kill: got %d, want 1", got)
	}
	if got := s.applied.Load(); got != 1 {
		t.Errorf("applied: got %d, want 1", got)
	}
}

// The worker is gone, its request is not.
func TestLineOutlivesTheWorker(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	cutOff := make(chan error, 1)
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		close(began)
		<-finish
		cutOff <- r.Context().Err()
	})
	decided := make(chan int, 1)
	l, err := newLine(s.URL, func(_ *http.Request, status int) fate { decided <- status; return replies }, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	gone := make(chan struct{})
	watched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { close(gone) })
		l.ServeHTTP(w, r)
	}))
	t.Cleanup(watched.Close)
	ctx, die := context.WithCancel(t.Context())
	last := request(t, watched.URL, "{}").WithContext(ctx)
	died := make(chan error)
	go func() {
		_, _, err := ask(t, last)
		died <- err
	}()
	<-began
	die()
	if err := <-died; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the worker's own end", err)
	}
	<-gone // the line knows
	close(finish)
	if err := <-cutOff; err != nil {
		t.Errorf("the service's request ended: %v", err)
	}
	eventually(t, "the line hears the answer", func() bool { return len(decided) == 1 })
	if status := <-decided; status != http.StatusOK {
		t.Errorf("decided on: got status %d, want 200", status)
	}
}

func TestLineWithoutItsService(t *testing.T) {
	s := newService(t, answerOK)
	l := lineTo(t, s.URL, replies, nil)
	s.Close()
	if response, body, err := ask(t, request(t, l.url, "{}")); err == nil {
		t.Errorf("got answer %v %q, want a broken connection", response, body)
	}
}

func TestLineCloseLeavesNothing(t *testing.T) {
	began, never := make(chan struct{}), make(chan struct{})
	s := newService(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			close(began)
			select {
			case <-r.Context().Done():
			case <-never:
			}
			return
		}
		answerOK(w, r)
	})
	t.Cleanup(func() { close(never) })
	l := lineTo(t, s.URL, replies, nil)
	hanging := request(t, l.url+"/hangs", "{}")
	ended := make(chan error)
	go func() {
		_, _, err := ask(t, hanging)
		ended <- err
	}()
	<-began
	if _, _, err := ask(t, request(t, l.url, "{}")); err != nil {
		t.Fatal(err)
	}
	if got := s.connections(); got != 2 {
		t.Errorf("connections: got %d, want one in use and one idle", got)
	}
	l.close()
	if err := <-ended; err == nil {
		t.Error("a request under way was answered")
	}
	eventually(t, "the service's connections are closed", func() bool { return s.connections() == 0 })
	if response, body, err := ask(t, request(t, l.url, "{}")); err == nil {
		t.Errorf("got answer %v %q from a closed line", response, body)
	}
}
