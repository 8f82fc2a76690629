package intent

import (
	"encoding/json"
	"time"
)

// Version is the record format and canonical form that this release writes, and
// the only one it reads.
const Version = 1

// Record is what is remembered of an intent. Times are whole milliseconds of
// wall clock; a zero time is an attribute that is not there.
type Record struct {
	Intent      string // Key.String
	State       State
	Owner       string // random token of the claim, drawn anew for every claim
	Attempt     int    // claims so far, from 1; data, never part of a condition
	LeaseUntil  time.Time
	ClaimedAt   time.Time // first claim since the effect was last known not to have happened
	Blind       bool      // claimed by a Blind: its call carries no key that a provider knows
	Fingerprint Fingerprint
	Result      Result
	CompletedAt time.Time
	MessageID   string
	Reason      string
	OpenSince   time.Time // since when operators are to look: while in doubt, or on a claim whose message was given up
	ExpiresAt   time.Time // whole seconds; only with a final state

	// Writes commit with this record when it is written in a final state, by a
	// Store that knows what they are. Never read back.
	Writes any
}

// Result is what a final record replays.
type Result struct {
	JSON    json.RawMessage // nil where there is none or it was omitted
	Omitted bool            // the effect ended, but its result could not be kept
}

// resultOf renders what an effect handed back. A result that cannot be rendered,
// or whose own method panics, is omitted: the effect did happen, and its
// completion must not depend on this.
func resultOf(v any) Result {
	var b []byte
	err := Contain(func() (err error) {
		b, err = json.Marshal(v)
		return err
	})
	if err != nil {
		return Result{Omitted: true}
	}
	return Result{JSON: b}
}

// Finish returns the record as it ends: in a final state, with its result, to
// expire after the retention. Of a Completion it takes the writes too.
func (r Record) Finish(state State, result any, now time.Time, retention time.Duration) Record {
	if c, ok := result.(Completion); ok {
		r.Writes, result = c.Writes, c.Result
	}
	r.State = state
	r.Result = resultOf(result)
	r.Reason, r.OpenSince = "", time.Time{}
	r.CompletedAt = millis(now)
	r.ExpiresAt = time.Unix(now.Add(retention).Unix(), 0)
	return r
}

// Parked returns the record in doubt. Its lease stays: a probe's time counts from it.
func (r Record) Parked(reason string, now time.Time) Record {
	r.State = StateInDoubt
	r.Reason = clip(reason)
	r.OpenSince = millis(now)
	return r
}

// clip bounds a reason without cutting a character in two.
func clip(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	cut := maxReason
	for cut > 0 && reason[cut]&0xc0 == 0x80 {
		cut--
	}
	return reason[:cut]
}

// Open names the part of the index of open records that an open record is in: 16 parts, so that no part is hot.
func (r Record) Open() string { return ShortHash(r.Intent)[:1] }

// Expired reports a record past its retention, which a claim may replace.
func (r Record) Expired(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && r.ExpiresAt.Unix() < now.Unix()
}

// Answer is what a delivery with this fingerprint learns from a record without
// running anything: a conflict, or the outcome that is already there. False
// means that the record holds no answer yet. A record whose effect is known not
// to have happened binds nobody to its payload.
func (r Record) Answer(f Fingerprint) (Outcome, bool) {
	switch {
	case r.Fingerprint != f && !r.ClaimedAt.IsZero():
		return Outcome{Kind: Conflict, Attempt: r.Attempt, Reason: "another payload under the same key"}, true
	case r.State == StateCompleted:
		return Outcome{Kind: Replayed, Result: r.Result, Attempt: r.Attempt}, true
	case r.State == StateRefused:
		return Outcome{Kind: Refused, Result: r.Result, Attempt: r.Attempt}, true
	}
	return Outcome{}, false
}

// millis cuts a time to what the record stores.
func millis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()) }
