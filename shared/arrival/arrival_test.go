package arrival_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/singleeffect/once/shared/arrival"
)

const text = "a request"

var errReset = errors.New("connection reset")

// unsized is a body of unknown length.
func unsized() io.Reader { return io.MultiReader(strings.NewReader(text)) }

// taking is a way on which some bytes of the body are taken, and then the connection breaks.
func taking(bytes int) arrival.Client {
	return func(r *http.Request) (*http.Response, error) {
		_, _ = io.CopyN(io.Discard, r.Body, int64(bytes))
		return nil, errReset
	}
}

func post(ctx context.Context, t *testing.T, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.invalid", body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C58: a request may have arrived if it was taken to the end of its body: the last byte where its length is known, the end itself
// where it is not.
func TestC58_TakenToTheEnd(t *testing.T) {
	const whole = len(text)
	for name, tt := range map[string]struct {
		body io.Reader
		way  arrival.Client
		want bool
	}{
		"nothing":                          {strings.NewReader(text), taking(0), false},
		"half":                             {strings.NewReader(text), taking(whole / 2), false},
		"all but the last byte":            {strings.NewReader(text), taking(whole - 1), false},
		"the last byte":                    {strings.NewReader(text), taking(whole), true},
		"unknown length, nothing":          {unsized(), taking(0), false},
		"unknown length, half":             {unsized(), taking(whole / 2), false},
		"unknown length, not the end":      {unsized(), taking(whole), false},
		"unknown length, the end":          {unsized(), taking(whole + 1), true},
		"a body that breaks before it":     {io.MultiReader(strings.NewReader(text), broken{}), taking(whole + 1), false},
		"no body":                          {nil, func(*http.Request) (*http.Response, error) { return nil, errReset }, true},
		"a body that is known to be empty": {http.NoBody, taking(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, call := arrival.Track(t.Context())
			if _, err := tt.way.Do(post(ctx, t, tt.body)); !errors.Is(err, errReset) {
				t.Fatal(err)
			}
			for range 2 {
				if got := call.MayHaveArrived(); got != tt.want {
					t.Errorf("may have arrived: got %t, want %t", got, tt.want)
				}
			}
		})
	}
}

// broken is a body that cannot be read.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errReset }

// A call that failed before it had a request did not arrive.
func TestNoRequest(t *testing.T) {
	if _, call := arrival.Track(t.Context()); call.MayHaveArrived() {
		t.Error("may have arrived without a request")
	}
}

// What is said not to have arrived never does: a transport that reads on gets nothing, nor does one that repeats the request, nor does
// another request of the same call leave.
func TestNothingLeavesAfterTheReport(t *testing.T) {
	ctx, call := arrival.Track(t.Context())
	var sent *http.Request
	client := arrival.Client(func(r *http.Request) (*http.Response, error) {
		sent = r
		return taking(len(text) - 1)(r)
	})
	_, _ = client.Do(post(ctx, t, strings.NewReader(text)))
	if call.MayHaveArrived() {
		t.Fatal("may have arrived with its last byte missing")
	}

	if rest, err := io.ReadAll(sent.Body); len(rest) != 0 || err == nil {
		t.Errorf("the body read on: got %q and error %v, want nothing", rest, err)
	}
	again, err := sent.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(again); len(body) != 0 || err == nil {
		t.Errorf("the body repeated: got %q and error %v, want nothing", body, err)
	}
	sent = nil
	late := &closing{Reader: strings.NewReader(text)}
	if _, err := client.RoundTrip(post(ctx, t, late)); err == nil || sent != nil || !late.closed {
		t.Errorf("another request: got error %v, sent %t, body closed %t, want it refused", err, sent != nil, late.closed)
	}
	if _, err := client.RoundTrip(post(ctx, t, nil)); err == nil || sent != nil {
		t.Errorf("another request without a body: got error %v, sent %t, want it refused", err, sent != nil)
	}
	if call.MayHaveArrived() {
		t.Error("may have arrived after all")
	}
}

// closing knows whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

// All requests of a call count: those that its client makes, and the bodies that the transport repeats.
func TestEveryRequestCounts(t *testing.T) {
	t.Run("of the client", func(t *testing.T) {
		ctx, call := arrival.Track(t.Context())
		for _, bytes := range []int{0, len(text), 1} {
			_, _ = taking(bytes).Do(post(ctx, t, strings.NewReader(text)))
		}
		if !call.MayHaveArrived() {
			t.Error("said not to have arrived, and the second request may have")
		}
	})
	t.Run("of the transport", func(t *testing.T) {
		ctx, call := arrival.Track(t.Context())
		_, _ = arrival.Client(func(r *http.Request) (*http.Response, error) {
			again, err := r.GetBody()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, again)
			return nil, errReset
		}).Do(post(ctx, t, strings.NewReader(text)))
		if !call.MayHaveArrived() {
			t.Error("said not to have arrived, and the repeated request may have")
		}
	})
	t.Run("none that cannot be repeated", func(t *testing.T) {
		ctx, _ := arrival.Track(t.Context())
		_, _ = arrival.Client(func(r *http.Request) (*http.Response, error) {
			if r.GetBody != nil {
				t.Error("got a body to repeat, and the request has none")
			}
			return nil, errReset
		}).Do(post(ctx, t, unsized()))
	})
}

// A transport must see whether a request has a body, and a request that nobody tracks as it is.
func TestRequestIsNotChanged(t *testing.T) {
	ctx, _ := arrival.Track(t.Context())
	for name, tt := range map[string]struct {
		request *http.Request
		same    bool
	}{
		"not tracked": {post(t.Context(), t, strings.NewReader(text)), true},
		"no body":     {post(ctx, t, http.NoBody), true},
		"tracked":     {post(ctx, t, strings.NewReader(text)), false},
	} {
		t.Run(name, func(t *testing.T) {
			body := tt.request.Body
			_, _ = arrival.Client(func(r *http.Request) (*http.Response, error) {
				if (r == tt.request) != tt.same || r.ContentLength != tt.request.ContentLength {
					t.Errorf("got the same request: %t, of length %d, want %t and %d", r == tt.request, r.ContentLength, tt.same, tt.request.ContentLength)
				}
				return nil, errReset
			}).Do(tt.request)
			if tt.request.Body != body {
				t.Error("the caller's request has another body")
			}
		})
	}
}

// Calls at the same time on one client know their own requests only.
func TestCallsAtTheSameTime(t *testing.T) {
	var calls sync.WaitGroup
	for n := range 100 {
		calls.Go(func() {
			ctx, call := arrival.Track(t.Context())
			bytes := len(text) - n%2
			_, _ = taking(bytes).Do(post(ctx, t, strings.NewReader(text)))
			if got, want := call.MayHaveArrived(), n%2 == 0; got != want {
				t.Errorf("%d bytes taken: got %t, want %t", bytes, got, want)
			}
		})
	}
	calls.Wait()
}

// The call ends while the transport reads the last byte: the report says no, so the byte does not leave.
func TestReportWithinTheLastRead(t *testing.T) {
	ctx, call := arrival.Track(t.Context())
	request := post(ctx, t, during{strings.NewReader(text), func() {
		if call.MayHaveArrived() {
			t.Error("may have arrived before its last byte was taken")
		}
	}})
	request.ContentLength = int64(len(text))
	_, _ = arrival.Client(func(r *http.Request) (*http.Response, error) {
		if got, err := io.ReadAll(r.Body); len(got) != 0 || err == nil {
			t.Errorf("got %q and error %v, want nothing", got, err)
		}
		return nil, errReset
	}).Do(request)
}

// during is a body that calls a function while it is read.
type during struct {
	io.Reader
	call func()
}

func (d during) Read(p []byte) (int, error) {
	d.call()
	return d.Reader.Read(p)
}

// The transport reads in a goroutine of its own while the call ends: either the report is true or the body stays incomplete.
func TestReportWhileTheBodyIsRead(t *testing.T) {
	no := 0
	for range 2000 {
		ctx, call := arrival.Track(t.Context())
		taken := make(chan int, 1)
		_, _ = arrival.Client(func(r *http.Request) (*http.Response, error) {
			started := make(chan struct{})
			go func() {
				close(started)
				n := 0
				for b := make([]byte, 1); ; n++ {
					if _, err := io.ReadFull(r.Body, b); err != nil {
						break
					}
				}
				taken <- n
			}()
			<-started
			return nil, errReset
		}).Do(post(ctx, t, strings.NewReader(text)))
		mayHave := call.MayHaveArrived()
		if n := <-taken; mayHave != (n == len(text)) {
			t.Fatalf("may have arrived: got %t, and the transport took %d bytes of %d", mayHave, n, len(text))
		}
		if !mayHave {
			no++
		}
	}
	t.Logf("%d of 2000 reports came first", no)
}
