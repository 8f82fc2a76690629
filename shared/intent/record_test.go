package intent_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// The record's answer, in its order: another payload before anything else,
// unless the effect is known not to have happened.
func TestAnswer(t *testing.T) {
	ours, other := intent.Fingerprint{1}, intent.Fingerprint{2}
	final := intent.Result{JSON: []byte(`"r-0"`)}
	for _, c := range []struct {
		state       intent.State
		claimed     bool
		fingerprint intent.Fingerprint
		want        intent.Kind
	}{
		{intent.StateCompleted, true, ours, intent.Replayed},
		{intent.StateRefused, true, ours, intent.Refused},
		{intent.StateClaimed, true, ours, ""},
		{intent.StateInDoubt, true, ours, ""},
		{intent.StateReleased, true, ours, ""},
		{intent.StateReleased, false, ours, ""},
		{intent.StateAbsent, false, ours, ""},
		{intent.StateCompleted, true, other, intent.Conflict},
		{intent.StateRefused, true, other, intent.Conflict},
		{intent.StateClaimed, true, other, intent.Conflict},
		{intent.StateInDoubt, true, other, intent.Conflict},
		{intent.StateReleased, true, other, intent.Conflict},
		{intent.StateReleased, false, other, ""},
	} {
		r := intent.Record{State: c.state, Attempt: 3, Fingerprint: ours, Result: final}
		if c.claimed {
			r.ClaimedAt = time.UnixMilli(1)
		}
		got, ok := r.Answer(c.fingerprint)
		if got.Kind != c.want || ok != (c.want != "") {
			t.Errorf("%s, claimed at %v: got %+v, %t, want %q", c.state, r.ClaimedAt, got, ok, c.want)
		}
		if ok && got.Attempt != 3 || got.Done() != (string(got.Result.JSON) == `"r-0"`) {
			t.Errorf("%s: got %+v", c.state, got)
		}
	}
}

// C17: whatever the clock and the retention, a record expires in whole seconds
// of this epoch, never in milliseconds, and less than a second before its
// retention is over.
func TestC17Expiry(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		now := time.UnixMilli(1_700_000_000_000 + random.Int64N(2_000_000_000_000))
		retention := time.Duration(random.Int64N(int64(10 * 365 * 24 * time.Hour)))
		r := intent.Record{}.Finish(intent.StateCompleted, nil, now.Add(time.Duration(random.IntN(1e6))), retention)
		if ttl := r.ExpiresAt.Unix(); ttl <= 1e9 || ttl >= 1e11 || r.ExpiresAt.Nanosecond() != 0 {
			t.Fatalf("expires at %v", r.ExpiresAt)
		}
		if early := now.Add(retention).Sub(r.ExpiresAt); early >= time.Second || early < -time.Second {
			t.Fatalf("expires %v before its retention of %v is over", early, retention)
		}
		if !r.CompletedAt.Equal(now) {
			t.Fatalf("completed at %v, want whole milliseconds of %v", r.CompletedAt, now)
		}
	}
}

func TestFinish(t *testing.T) {
	before := intent.Record{
		Intent: record, State: intent.StateInDoubt, Owner: "owner", Attempt: 2, LeaseUntil: time.UnixMilli(2),
		ClaimedAt: time.UnixMilli(1), Fingerprint: intent.Fingerprint{1}, MessageID: "message-1", Reason: "because",
		OpenSince: time.UnixMilli(3),
	}
	got := before.Finish(intent.StateRefused, reason("declined"), time.UnixMilli(3_999), time.Minute)
	want := before
	want.State, want.Reason, want.OpenSince = intent.StateRefused, "", time.Time{}
	want.Result = intent.Result{JSON: []byte(`{"reason":"declined"}`)}
	want.CompletedAt, want.ExpiresAt = time.UnixMilli(3_999), time.Unix(63, 0)
	wantSame(t, got, want)

	for name, result := range map[string]any{"a channel": make(chan int), "no number": math.NaN(), "a function": func() {}} {
		if got := (intent.Record{}).Finish(intent.StateCompleted, result, time.Now(), time.Hour).Result; !got.Omitted || got.JSON != nil {
			t.Errorf("%s: got %+v, want it omitted", name, got)
		}
	}
	if got := (intent.Record{}).Finish(intent.StateCompleted, nil, time.Now(), time.Hour).Result; got.Omitted || string(got.JSON) != "null" {
		t.Errorf("no result: got %+v, want null", got)
	}
}
