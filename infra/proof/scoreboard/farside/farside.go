// Package farside is what the effects happen at: something that knows no idempotency keys, as a mail relay or a webhook, and so
// makes every call that it takes one more effect. It counts them by intent, outside the process that causes them, and can be asked
// what it did. It is the same for whoever calls.
package farside

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
)

// Fate says what becomes of one call. The zero value takes it and answers.
type Fate struct {
	// Reject answers 503 and does nothing.
	Reject bool
	// Decided, if not nil, is called when the call was taken or rejected and its caller has not heard.
	Decided func()
	// Hold keeps the answer back until it is closed or the caller is gone. Nil does not.
	Hold <-chan struct{}
}

// Config says how the calls go.
type Config struct {
	// Plan is asked about each call, by its number from 1. Nil takes all.
	Plan func(call int) Fate
	// AnswerBytes is the size of the receipt in the answer to a call that was taken.
	AnswerBytes int
}

// Side is a far side that listens. It has two requests:
//
//	POST /          {"intent": NAME, …}   one effect; answers {"receipt": …}, or 503 and no effect
//	GET /?intent=NAME                     answers {"effects": N}
type Side struct {
	Config
	server *loopback.Server

	mu      sync.Mutex
	calls   int
	effects map[string]int // by intent
}

// Listen starts a far side.
func Listen(c Config) (*Side, error) {
	s := &Side{Config: c, effects: map[string]int{}}
	server, err := loopback.Serve(s)
	if err != nil {
		return nil, fmt.Errorf("far side: %w", err)
	}
	s.server = server
	return s, nil
}

// URL is where it listens.
func (s *Side) URL() string { return s.server.URL() }

// Close ends it.
func (s *Side) Close() { s.server.Close() }

// Effects gives the effects so far, by intent.
func (s *Side) Effects() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.effects)
}

// ServeHTTP implements http.Handler.
func (s *Side) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"effects":%d}`, s.Effects()[r.URL.Query().Get("intent")])
		return
	}
	var call struct {
		Intent string `json:"intent"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil || call.Intent == "" {
		http.Error(w, fmt.Sprintf("want a JSON object with an intent: %v", err), http.StatusBadRequest)
		return
	}
	fate := s.decide(call.Intent)
	if fate.Decided != nil {
		fate.Decided()
	}
	if fate.Hold != nil {
		select {
		case <-fate.Hold:
		case <-r.Context().Done():
			return
		}
	}
	if fate.Reject {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, `{"receipt":%q}`, strings.Repeat("r", s.AnswerBytes))
}

// decide counts the call, and the effect unless the call is rejected.
func (s *Side) decide(intent string) Fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	var fate Fate
	if s.Plan != nil {
		fate = s.Plan(s.calls)
	}
	if !fate.Reject {
		s.effects[intent]++
	}
	return fate
}
