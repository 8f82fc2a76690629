package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestProxy(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
		w.Write(append([]byte(r.Header.Get("X-Amz-Target")+" "), body...))
	}))
	defer engine.Close()
	const delay = 20 * time.Millisecond
	p, err := Start(engine.URL, delay)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := p.Requests(); got != 0 {
		t.Errorf("before the first: %d requests", got)
	}
	var running sync.WaitGroup
	const n = 20
	for range n {
		running.Go(func() {
			request, err := http.NewRequest(http.MethodPost, p.URL()+"/", strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
			begin := time.Now()
			reply, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer reply.Body.Close()
			if took := time.Since(begin); took < delay {
				t.Errorf("a reply after %v, want none before %v", took, delay)
			}
			if body, err := io.ReadAll(reply.Body); err != nil || reply.StatusCode != http.StatusTeapot || string(body) != "DynamoDB_20120810.PutItem {}" {
				t.Errorf("got %d %q, %v", reply.StatusCode, body, err)
			}
		})
	}
	running.Wait()
	if got := p.Requests(); got != n {
		t.Errorf("got %d requests, want %d", got, n)
	}
}
