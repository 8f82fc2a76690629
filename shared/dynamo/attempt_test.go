package dynamo_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// proxy stands before the engine. What happens to the first request of an
// operation is the test's.
type proxy struct {
	engine    string
	operation string
	first     func(w http.ResponseWriter, r *http.Request, forward func() *http.Response)

	mu     sync.Mutex
	counts map[string]int
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	p.mu.Lock()
	p.counts[operation]++
	number := p.counts[operation]
	p.mu.Unlock()
	body, err := io.ReadAll(r.Body) // all of it: only then does the server see that a client left
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	forward := func() *http.Response {
		request, err := http.NewRequest(http.MethodPost, p.engine, strings.NewReader(string(body)))
		if err != nil {
			panic(err)
		}
		request.Header = r.Header.Clone()
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		return response
	}
	if operation == p.operation && number == 1 {
		p.first(w, r, forward)
		return
	}
	copyTo(w, forward(), 1)
}

// copyTo sends the answer's headers and that part of its body.
func copyTo(w http.ResponseWriter, response *http.Response, part float64) {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body[:int(float64(len(body))*part)])
	_ = http.NewResponseController(w).Flush()
}

// A server that hangs costs one attempt: the next one follows after about a
// second, and the effect takes place once. So it is with an answer that breaks
// off.
func TestAttemptThatGetsNoAnswer(t *testing.T) {
	if dynamo.AttemptTimeout < time.Second || dynamo.AttemptTimeout > 2*time.Second {
		t.Errorf("attempt timeout: got %v, want 1 to 2 s", dynamo.AttemptTimeout)
	}
	b := newBench(t)
	hang := func(r *http.Request) { <-r.Context().Done() }
	for name, c := range map[string]struct {
		first func(w http.ResponseWriter, r *http.Request, forward func() *http.Response)
		hangs bool
	}{
		"hangs before the request": {func(_ http.ResponseWriter, r *http.Request, _ func() *http.Response) { hang(r) }, true},
		"hangs after the request": {func(_ http.ResponseWriter, r *http.Request, forward func() *http.Response) {
			forward().Body.Close()
			hang(r)
		}, true},
		"hangs in the answer": {func(w http.ResponseWriter, r *http.Request, forward func() *http.Response) {
			copyTo(w, forward(), 0.5)
			hang(r)
		}, true},
		"breaks off in the answer": {func(w http.ResponseWriter, _ *http.Request, forward func() *http.Response) {
			copyTo(w, forward(), 0.5)
			panic(http.ErrAbortHandler)
		}, false},
		"breaks off before the answer": {func(_ http.ResponseWriter, _ *http.Request, forward func() *http.Response) {
			forward().Body.Close()
			panic(http.ErrAbortHandler)
		}, false},
	} {
		for _, operation := range []string{"PutItem", "UpdateItem", "TransactWriteItems"} {
			t.Run(name+"/"+operation, func(t *testing.T) {
				t.Parallel() // they wait
				front := &proxy{engine: *b.db.Options().BaseEndpoint, operation: operation, first: c.first, counts: map[string]int{}}
				server := httptest.NewServer(front)
				t.Cleanup(server.Close)
				w := b.worker(t)
				w.client = intenttest.Engine(t, dynamo.Tune, func(o *dynamodb.Options) { o.BaseEndpoint = &server.URL })
				w.store = dynamo.New(w.client, b.records)

				p := new(provider)
				d := message(t, `{"cents":10}`)
				b.open(t, d.Key, 100)
				class := "Keyed"
				if operation == "TransactWriteItems" {
					class = "Ledger"
				}
				began := time.Now()
				o, err := w.deliver(classes[class](w, p, d.Key), d)
				want(t, "delivery", o, err, intent.Executed)
				if took := time.Since(began); c.hangs && took < dynamo.AttemptTimeout || took > dynamo.AttemptTimeout+5*time.Second {
					t.Errorf("the delivery took %v, want about %v", took, dynamo.AttemptTimeout)
				}
				b.wantOneEffect(t, class, p, d)
				if got := front.counts[operation]; got != 2 {
					t.Errorf("%s requests: got %d, want 2", operation, got)
				}
			})
		}
	}
}
