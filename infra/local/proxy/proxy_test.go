package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// service counts what it applied: requests that came whole.
type service struct {
	*httptest.Server
	applied, connections atomic.Int64
}

// newService says back what it is told.
func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.applied.Add(1)
		_, _ = w.Write(body)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// caller is one that asks once and then never again, as the functions' clients of
// the payment provider and of the mail service do.
type caller struct {
	client *http.Client
	url    string
}

// newProxy opens a proxy to the service, and gives its caller.
func newProxy(t *testing.T, s *service, fate func() Fate, kill func()) (*Proxy, caller) {
	t.Helper()
	p, err := New(Config{Service: s.Listener.Addr().String(), Fate: fate, Kill: kill})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return p, caller{&http.Client{Transport: transport}, "http://" + p.Address()}
}

func (c caller) ask(ctx context.Context, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, io.NopCloser(strings.NewReader(body))) // cannot be sent twice
	if err != nil {
		return "", err
	}
	r.ContentLength = int64(len(body))
	response, err := c.client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return string(answer), err
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}

func wantCounts(t *testing.T, s *service, p *Proxy, applied, lost int) {
	t.Helper()
	if a, l := int(s.applied.Load()), p.Lost(); a != applied || l != lost {
		t.Errorf("got %d applied and %d lost, want %d and %d", a, l, applied, lost)
	}
}

// Each exchange has a fate of its own, however long it is, on one connection.
func TestGood(t *testing.T) {
	s := newService(t)
	var fates atomic.Int64
	p, c := newProxy(t, s, func() Fate { fates.Add(1); return Fate{} }, nil)
	for _, size := range []int{0, 1, 100, 5 * piece} {
		said := strings.Repeat("x", size) + rand.Text()
		if got, err := c.ask(t.Context(), said); err != nil || got != said {
			t.Errorf("%d bytes: got %d bytes and error %v, want them back", len(said), len(got), err)
		}
	}
	wantCounts(t, s, p, 4, 0)
	if got := fates.Load(); got != 4 {
		t.Errorf("got %d fates, want 4", got)
	}
	if got := s.connections.Load(); got != 1 {
		t.Errorf("got %d connections, want 1", got)
	}
}

func TestFaults(t *testing.T) {
	isReset := func(err error) bool { return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) }
	isEnd := func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }
	tests := []struct {
		name          string
		fate          Fate
		sees          func(error) bool
		applied, lost int
	}{
		{"reset before", Fate{Fault: Reset}, isReset, 0, 0},
		{"reset after", Fate{Fault: Reset, After: true}, isReset, 1, 1},
		{"cut before", Fate{Fault: Cut}, func(err error) bool { return isEnd(err) || isReset(err) }, 0, 0},
		{"cut after", Fate{Fault: Cut, After: true}, isEnd, 1, 1},
		{"held before", Fate{Fault: Hold, For: time.Millisecond}, func(err error) bool { return err == nil }, 1, 0},
		{"held after", Fate{Fault: Hold, For: time.Millisecond, After: true}, func(err error) bool { return err == nil }, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			const spoiled = 1 // of three exchanges
			fates := make(chan Fate, 3)
			fates <- Fate{}
			fates <- tt.fate
			fates <- Fate{}
			p, c := newProxy(t, s, func() Fate { return <-fates }, func() { t.Error("killed") })
			for i := range cap(fates) {
				said := strings.Repeat("x", 1000)
				got, err := c.ask(t.Context(), said)
				if i != spoiled {
					if err != nil || got != said {
						t.Fatalf("exchange %d: got %d bytes and error %v, want an answer", i, len(got), err)
					}
				} else if !tt.sees(err) || err == nil && got != said {
					t.Errorf("got %d bytes and error %v", len(got), err)
				}
			}
			c.client.CloseIdleConnections()
			p.Close()
			wantCounts(t, s, p, tt.applied+2, tt.lost)
		})
	}
}

// The caller waits for nothing, and gives up.
func TestDrop(t *testing.T) {
	for _, after := range []bool{false, true} {
		s := newService(t)
		began := make(chan struct{})
		p, c := newProxy(t, s, func() Fate { close(began); return Fate{Fault: Drop, After: after} }, nil)
		ctx, giveUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := c.ask(ctx, "hello")
			ended <- err
		}()
		<-began
		want := 0
		if after {
			want = 1
			eventually(t, "the answer is lost", func() bool { return p.Lost() == 1 })
		}
		select {
		case err := <-ended:
			t.Errorf("after %t: the caller heard of %v", after, err)
		default:
		}
		giveUp()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("after %t: got error %v, want the caller's own", after, err)
		}
		p.Close()
		wantCounts(t, s, p, want, want)
	}
}

// What is on its way arrives, though its caller is gone when it does.
func TestHeldOutlastsCaller(t *testing.T) {
	s := newService(t)
	began, gone := make(chan struct{}), make(chan struct{})
	p, c := newProxy(t, s, func() Fate {
		close(began)
		<-gone
		return Fate{Fault: Hold, For: time.Millisecond}
	}, nil)
	ctx, giveUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.ask(ctx, "hello")
		ended <- err
	}()
	<-began
	giveUp()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the caller's own", err)
	}
	close(gone)
	eventually(t, "it arrives", func() bool { return s.applied.Load() == 1 })
	p.Close()
}

func TestKill(t *testing.T) {
	for _, after := range []bool{false, true} {
		s := newService(t)
		ctx, die := context.WithCancel(t.Context())
		appliedAtKill := int64(-1)
		p, c := newProxy(t, s, func() Fate { return Fate{Fault: Kill, After: after} }, func() {
			appliedAtKill = s.applied.Load()
			die()
		})
		if got, err := c.ask(ctx, "hello"); err == nil {
			t.Errorf("after %t: got %q, want the caller's end", after, got)
		}
		eventually(t, "the request arrives", func() bool { return s.applied.Load() == 1 })
		p.Close()
		want := int64(0)
		if after {
			want = 1
			wantCounts(t, s, p, 1, 1)
		}
		if appliedAtKill != want {
			t.Errorf("after %t: got %d applied at the kill, want %d", after, appliedAtKill, want)
		}
	}
}

// Close waits for what is on its way, and takes no caller any more.
func TestClose(t *testing.T) {
	s := newService(t)
	began := make(chan struct{})
	p, c := newProxy(t, s, func() Fate { close(began); return Fate{Fault: Hold, For: 50 * time.Millisecond} }, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := c.ask(t.Context(), "hello")
		ended <- err
	}()
	<-began
	p.Close()
	if got := s.applied.Load(); got != 1 {
		t.Errorf("closed with %d applied, want what was on its way", got)
	}
	if err := <-ended; err == nil {
		t.Error("the caller was answered")
	}
	if _, err := c.ask(t.Context(), "hello"); err == nil {
		t.Error("a closed proxy answers")
	}
}

func TestServiceIsGone(t *testing.T) {
	s := newService(t)
	s.Server.Close()
	p, c := newProxy(t, s, func() Fate { return Fate{} }, nil)
	if _, err := c.ask(t.Context(), "hello"); err == nil {
		t.Error("got an answer, want none")
	}
	wantCounts(t, s, p, 0, 0)
}
