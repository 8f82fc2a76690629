package function

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// api is a Runtime API for one process, as far as Lambda's runtimes use it:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type api struct {
	ready func()           // the process asks for its first invocation
	next  chan *invocation // is received from when the process asks for another

	mu      sync.Mutex
	handed  int
	running map[string]*invocation
}

type invocation struct {
	event   []byte
	timeout time.Duration
	answer  chan answer // takes one without waiting
}

type answer struct {
	body []byte
	err  error
}

func newAPI() (a *api, ready <-chan struct{}) {
	polled := make(chan struct{})
	return &api{
		ready:   sync.OnceFunc(func() { close(polled) }),
		next:    make(chan *invocation),
		running: map[string]*invocation{},
	}, polled
}

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	const path = "/2018-06-01/runtime/invocation/"
	mux.HandleFunc("GET "+path+"next", a.handOver)
	mux.HandleFunc("POST "+path+"{id}/response", func(w http.ResponseWriter, r *http.Request) {
		a.end(w, r, func(body []byte) answer { return answer{body: body} })
	})
	mux.HandleFunc("POST "+path+"{id}/error", func(w http.ResponseWriter, r *http.Request) {
		a.end(w, r, func(body []byte) answer { return answer{err: failure(body)} })
	})
	return mux
}

// handOver waits for an invocation. Its time starts here, as Lambda's does.
func (a *api) handOver(w http.ResponseWriter, r *http.Request) {
	a.ready()
	var i *invocation
	select {
	case i = <-a.next:
	case <-r.Context().Done():
		return
	}
	a.mu.Lock()
	a.handed++
	id := strconv.Itoa(a.handed)
	a.running[id] = i
	a.mu.Unlock()
	w.Header().Set("Lambda-Runtime-Aws-Request-Id", id)
	w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(i.timeout).UnixMilli(), 10))
	w.Header().Set("Content-Type", "application/json")
	w.Write(i.event)
}

func (a *api) end(w http.ResponseWriter, r *http.Request, read func([]byte) answer) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process broke off, and is gone
	}
	a.mu.Lock()
	id := r.PathValue("id")
	i := a.running[id]
	delete(a.running, id)
	a.mu.Unlock()
	if i == nil {
		http.Error(w, "no such invocation: "+id, http.StatusBadRequest)
		return
	}
	i.answer <- read(body)
	w.WriteHeader(http.StatusAccepted)
}

// Error is returned for an invocation that the function answered with an error.
type Error struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *Error) Error() string { return fmt.Sprintf("function failed: %s: %s", e.Type, e.Message) }

func failure(body []byte) error {
	e := new(Error)
	if err := json.Unmarshal(body, e); err != nil {
		e.Message = string(body)
	}
	return e
}
