package sqsbatch

import (
	"errors"
	"strings"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// fate is what became of one message. The zero fate is a failure. It holds no error:
// what an error says is read once, where a panic of its methods harms one message.
type fate struct {
	outcome       intent.Outcome // without a Kind where the delivery failed
	errors        []string       // for the log
	stack         string         // of a panic
	reason        string         // why the message goes to quarantine; empty: it does not
	unknownFormat bool           // the record is of another release
	retries       bool           // it failed, and may do better after a while
	whole         bool           // it failed by what all messages of the function need
	asked         time.Duration  // how long that asks to be left alone
	quarantined   bool
}

func (f fate) done() bool { return f.quarantined || f.outcome.Done() }

// mustWait reports an intent that is another's to end, or a probe's.
func (f fate) mustWait() bool {
	return f.outcome.Kind == intent.InProgress || f.outcome.Kind == intent.InDoubt && f.outcome.Wait > 0
}

func (f fate) text() string { return strings.Join(f.errors, "; ") }

// judge reads what a delivery came to.
func judge(o intent.Outcome, err error) fate {
	f := fate{outcome: o, reason: poison(o, err)}
	for _, e := range []error{err, o.Cause} {
		if e == nil {
			continue
		}
		f.errors = append(f.errors, e.Error())
		var panicked *intent.PanicError
		if errors.As(e, &panicked) {
			f.stack = string(panicked.Stack)
		}
	}
	f.outcome.Cause = nil
	if err != nil {
		var format *intent.FormatError
		f.outcome.Kind = ""
		f.unknownFormat = errors.As(err, &format)
		f.asked, f.whole = outage(err)
		// What there was no time for was not tried: it comes back soon.
		f.retries = f.reason == "" && !errors.Is(err, intent.ErrNoTime)
	}
	return f
}

// judged is judge of what f returns, or of its panic.
func judged(f func() (intent.Outcome, error)) fate {
	var is fate
	err := intent.Contain(func() error {
		is = judge(f())
		return nil
	})
	if err != nil {
		is = judge(intent.Outcome{}, err)
	}
	return is
}

// The codes of ReasonAttribute.
const (
	reasonUnreadable    = "unreadable"     // the body, or an envelope around it
	reasonNoKey         = "no_key"         // none, or a null or empty one
	reasonBadKey        = "bad_key"        // one that cannot be a key, or an unreadable Intent-Time
	reasonConflict      = "conflict"       // another payload under the key, or two keys
	reasonInDoubt       = "in_doubt"       // it may have happened, and no probe is left
	reasonOutsideWindow = "outside_window" // older than what the records remember
	reasonUnprocessable = "unprocessable"  // the effect says so
	reasonGaveUp        = "gave_up"        // it failed for giveUpAfter
)

// poison is the reason for which no further delivery of a message can end better;
// empty for what may. What an effect's own error is made of does not count: it is an
// intent.EffectError, which nothing here looks into.
func poison(o intent.Outcome, err error) string {
	var payload *intent.PayloadError
	var key *intent.KeyError
	code := ""
	switch {
	case err == nil && o.Kind == intent.Conflict:
		return reasonConflict + ": " + o.Reason
	case err == nil && o.Kind == intent.InDoubt && o.Wait == 0:
		return reasonInDoubt + ": " + o.Reason
	case errors.Is(err, intent.ErrGivenUp):
		code = reasonGaveUp
	case err == nil, errors.Is(err, intent.ErrUnknown), errors.Is(err, intent.ErrLost):
		return ""
	case errors.Is(err, intent.ErrUnprocessable):
		code = reasonUnprocessable
	case errors.Is(err, intent.ErrReleased), errors.Is(err, intent.ErrNotDone):
		return "" // whatever another Handler's errors are made of
	case errors.Is(err, intent.ErrExpired):
		code = reasonOutsideWindow
	case errors.Is(err, intent.ErrNoKey):
		code = reasonNoKey
	case errors.As(err, &key):
		code = reasonBadKey
	case errors.As(err, &payload):
		code = reasonUnreadable
	default:
		return ""
	}
	return code + ": " + err.Error()
}
