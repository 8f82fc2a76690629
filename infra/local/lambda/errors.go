package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrClosed is returned by a worker that was closed.
var ErrClosed = errors.New("the worker is closed")

// FunctionError is returned when the function answered with an error: it ran,
// and its process lives on.
type FunctionError struct {
	Type    string // the name of the error's Go type
	Message string
}

func (e *FunctionError) Error() string {
	return fmt.Sprintf("the function failed: %s: %s", e.Type, e.Message)
}

// CrashError is returned when the function's process ended before it answered:
// it was killed, it panicked, it exited, or it failed to initialise. How much
// of its work it had done, nobody knows.
type CrashError struct {
	Type    string // such as Runtime.ExitError
	Message string
}

func (e *CrashError) Error() string {
	return fmt.Sprintf("the function crashed: %s: %s", e.Type, e.Message)
}

// TimeoutError is returned when the function did not answer within its
// timeout. Its process is dead when the error is seen.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the function timed out after %v", e.After)
}

// failure is how an error is written on Lambda's Runtime API.
type failure struct {
	Type    *string `json:"errorType"`
	Message *string `json:"errorMessage"`
}

// readFailure reads an answer as a failure, if it is one. Lambda says so in a
// header, which the emulator leaves out: the shape of the answer has to do,
// and a function that answers with just these two fields is misread.
func readFailure(answer []byte) (kind, message string, ok bool) {
	var f failure
	if err := json.Unmarshal(answer, &f); err != nil || f.Type == nil || f.Message == nil {
		return "", "", false
	}
	return *f.Type, *f.Message, true
}
