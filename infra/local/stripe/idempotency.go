package stripe

import (
	"fmt"
	"net/http"
	"time"
)

// execution is what an idempotency key stands for: the request it was first used with, and its
// answer once there is one.
type execution struct {
	fingerprint string
	begun       time.Time
	request     string  // the Request-Id of the execution, named by its replays
	answer      *answer // nil while in flight
}

// keyInUse is what a second request with a key gets while the first is still being executed. It is
// not stored: "no API endpoint initiates the execution" of a request that conflicts.
var keyInUse = failure{
	status: http.StatusConflict, Type: "invalid_request_error", Code: "idempotency_key_in_use",
	Message: "There is currently another in-progress request using this Idempotent Key. Please try again later.",
}

// begin starts an execution under key, or says what the key answers instead. A request without a key
// always executes. Parameters are compared before the state of the execution: a client that reuses a
// key for something else has a fault that waiting does not cure.
func (s *Server) begin(key, fingerprint, request string) (*execution, *answer) {
	now := s.config.Now()
	started := &execution{fingerprint: fingerprint, begun: now, request: request}
	if key == "" {
		return started, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, found := s.keys[key]
	switch {
	case !found || (known.answer != nil && !now.Before(known.begun.Add(Window))):
		s.keys[key] = started
		return started, nil
	case known.fingerprint != fingerprint:
		a := failure{
			status: http.StatusBadRequest, Type: "idempotency_error",
			Message: fmt.Sprintf("Keys for idempotent requests can only be used with the same parameters they were first used with. "+
				"Try using a key other than '%s' if you meant to execute a different request.", key),
		}.answer()
		return nil, &a
	case known.answer == nil:
		a := keyInUse.answer()
		return nil, &a
	default:
		replay := *known.answer
		replay.replayOf = known.request
		return nil, &replay
	}
}

// finish stores the answer of an execution, whatever its status: from now on its key replays it.
func (s *Server) finish(e *execution, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.answer = &a
}
