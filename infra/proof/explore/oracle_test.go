package explore

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// at is so many seconds into a history.
func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// claimed is the record of a first claim.
func claimed() intent.Record {
	return intent.Record{
		Intent: key.String(), State: intent.StateClaimed, Owner: "a", Attempt: 1, LeaseUntil: at(33), ClaimedAt: at(0),
		Fingerprint: body(0).fingerprint(), MessageID: "message-0",
	}
}

// with is the record after some changes.
func with(r intent.Record, changes ...func(*intent.Record)) intent.Record {
	for _, change := range changes {
		change(&r)
	}
	return r
}

func state(s intent.State) func(*intent.Record) { return func(r *intent.Record) { r.State = s } }

func owned(owner string, attempt int, leaseUntil time.Time) func(*intent.Record) {
	return func(r *intent.Record) { r.Owner, r.Attempt, r.LeaseUntil = owner, attempt, leaseUntil }
}

func forgotten(r *intent.Record) { r.ClaimedAt = time.Time{} }

func otherPayload(r *intent.Record) { r.Fingerprint = body(1).fingerprint() }

func final(s intent.State, result string) func(*intent.Record) {
	return func(r *intent.Record) { *r = r.Finish(s, result, at(1), time.Hour) }
}

// The judge catches each kind of wrong change, and lets the right ones pass.
func TestJudgeOfChanges(t *testing.T) {
	a := claimed()
	released := with(a, state(intent.StateReleased), forgotten)
	doubt := a.Parked("broken off", at(20))
	open := func(r *intent.Record) { r.OpenSince = at(20) }
	unlisted := func(r *intent.Record) { r.OpenSince = time.Time{} }
	done := with(a, final(intent.StateCompleted, "r"))
	takeover := with(a, owned("b", 2, at(70)))
	none := intent.Record{}
	for _, tt := range []struct {
		name  string
		c     change
		fault string // part of it; empty: it is right
	}{
		{"claim", change{before: none, now: a, drawn: true}, ""},
		{"claim without a lease", change{before: none, now: with(a, owned("a", 1, time.Time{})), drawn: true}, "lease_until"},
		{"claim for its invocation and the margin", change{before: none, now: a, drawn: true, least: at(33)}, ""},
		{"claim for less", change{before: none, now: a, drawn: true, least: at(34)}, "1s too early"},
		{"claim without claimed_at", change{before: none, now: with(a, forgotten), drawn: true}, "claimed_at"},
		{"claim in attempt 2", change{before: none, now: with(a, owned("a", 2, at(33))), drawn: true}, "attempt 0 -> 2"},
		{"claim that expires", change{before: none, now: with(a, func(r *intent.Record) { r.ExpiresAt = at(99) }), drawn: true}, "expires_at"},
		{"takeover", change{before: a, now: takeover, lapsed: true, drawn: true}, ""},
		{"takeover too early", change{before: a, now: takeover, drawn: true}, "a lease that runs"},
		{"takeover under an old token", change{before: a, now: takeover, lapsed: true}, "old owner token"},
		{"takeover in the same attempt", change{before: a, now: with(a, owned("b", 1, at(70))), lapsed: true, drawn: true}, "attempt 1 -> 1"},
		{"takeover that moves claimed_at", change{before: a, now: with(takeover, func(r *intent.Record) { r.ClaimedAt = at(40) }), lapsed: true, drawn: true}, "moves claimed_at"},
		{"takeover by another payload", change{before: a, now: with(takeover, otherPayload), lapsed: true, drawn: true}, "fingerprint"},
		{"takeover of what did not happen, by another payload", change{before: released, now: with(takeover, otherPayload), drawn: true}, ""},
		{"renewal", change{before: a, now: with(a, owned("a", 1, at(43))), own: true}, ""},
		{"renewal backwards", change{before: a, now: with(a, owned("a", 1, at(23))), own: true}, "move the lease on"},
		{"renewal by another", change{before: a, now: with(a, owned("a", 1, at(43)))}, "another's"},
		{"renewal that counts", change{before: a, now: with(a, owned("a", 2, at(43))), own: true}, "without a claim"},
		{"renewal that forgets", change{before: a, now: with(a, owned("a", 1, at(43)), forgotten), own: true}, "moves claimed_at"},
		{"release", change{before: a, now: released, own: true, setter: true}, ""},
		{"release that forgets nothing", change{before: a, now: with(a, state(intent.StateReleased)), own: true, setter: true}, "claimed_at"},
		{"release that forgets an earlier attempt", change{before: a, now: released, own: true}, "claimed_at"},
		{"release by another", change{before: a, now: released, setter: true}, "another's"},
		{"park", change{before: a, now: doubt, own: true}, ""},
		{"park of another's that lapsed", change{before: a, now: doubt, lapsed: true}, ""},
		{"park of another's too early", change{before: a, now: doubt}, "while its lease runs"},
		{"park that forgets", change{before: a, now: with(doubt, forgotten), own: true}, "another owner, claimed_at or lease"},
		{"settlement as not having happened", change{before: doubt, now: with(released, owned("s", 1, at(33))), drawn: true, settled: true}, ""},
		{"settlement within the settle time", change{before: doubt, now: with(released, owned("s", 1, at(33))), drawn: true}, "too early"},
		{"settlement that keeps the owner", change{before: doubt, now: released, settled: true}, "keeps its owner"},
		{"settlement that keeps claimed_at", change{before: doubt, now: with(a, state(intent.StateReleased), owned("s", 1, at(33))), drawn: true, settled: true}, "keeps claimed_at"},
		{"settlement as having happened", change{before: doubt, now: with(doubt, final(intent.StateCompleted, "r"))}, ""},
		{"completion", change{before: a, now: done, own: true}, ""},
		{"completion by another", change{before: a, now: done}, "an end of another's claim"},
		{"completion by another owner", change{before: a, now: with(done, owned("b", 1, at(33))), own: true}, "another owner"},
		{"completion that is never forgotten", change{before: a, now: with(done, func(r *intent.Record) { r.ExpiresAt = time.Time{} }), own: true}, "expires_at"},
		{"completion of what was released", change{before: released, now: with(released, final(intent.StateCompleted, "r")), own: true}, "no transition"},
		{"commit of a ledger", change{before: none, now: done, drawn: true}, ""},
		{"release of what is final", change{before: done, now: released, own: true}, "final"},
		{"another result", change{before: done, now: with(done, final(intent.StateCompleted, "q")), own: true}, "final"},
		{"park that lists nothing", change{before: a, now: with(doubt, unlisted), own: true}, "in_doubt, and listed for operators"},
		{"takeover that stays listed", change{before: with(released, open), now: with(takeover, open), drawn: true}, "claimed, and listed for operators"},
		{"completion that stays listed", change{before: a, now: with(done, open), own: true}, "completed, and listed for operators"},
		{"settlement that stays listed", change{before: doubt, now: with(released, owned("s", 1, at(33)), open), drawn: true, settled: true}, ""},
		{"park by another payload", change{before: a, now: doubt, lapsed: true, conflict: true}, "a conflict changes"},
		{"deletion", change{before: a, now: none, own: true}, "no transition"},
		{"claim of what is too old", change{before: none, now: a, drawn: true, old: true}, "older than MaxAge"},
		{"release by an inner intent's verdict", change{before: a, now: released, own: true, setter: true, inner: true}, "an inner intent's verdict"},
	} {
		if got := tt.c.fault(); got == "" != (tt.fault == "") || !strings.Contains(got, tt.fault) {
			t.Errorf("%s: got fault %q, want %q", tt.name, got, tt.fault)
		}
	}
}

// ended is a history of that class that ended so.
func ended(c Class, r intent.Record, effects []taken, all ...told) ending {
	e := ending{doubts: c.doubts(), record: r, effects: effects}
	for _, t := range all {
		e.told = append(e.told, &t)
	}
	return e
}

// The judge catches each kind of wrong end, and lets the right ones pass.
func TestJudgeOfEnds(t *testing.T) {
	completed := with(claimed(), final(intent.StateCompleted, "r"))
	declined := with(claimed(), final(intent.StateRefused, "no"))
	doubt := with(claimed(), state(intent.StateInDoubt))
	one := []taken{{cents: 10, receipt: "r"}}
	is := func(kind intent.Kind, result string) told {
		o := intent.Outcome{Kind: kind}
		if result != "" {
			o.Result.JSON, _ = json.Marshal(result)
		}
		return told{ended: true, outcome: o}
	}
	executed, replayed, refused := is(intent.Executed, "r"), is(intent.Replayed, "r"), is(intent.Refused, "no")
	running := told{ended: true, outcome: intent.Outcome{Kind: intent.InProgress, Wait: time.Second}}
	inDoubt := told{ended: true, outcome: intent.Outcome{Kind: intent.InDoubt, Reason: "no answer"}}
	conflict := told{ended: true, body: 1, outcome: intent.Outcome{Kind: intent.Conflict}}
	died := told{}
	failed := told{ended: true, err: errors.New("unknown")}
	but := func(t told, change func(*told)) told { change(&t); return t }
	away := but(failed, func(t *told) { t.away = true })
	nested := func(t *told) { t.nested = true }
	omitted := with(completed, func(r *intent.Record) { r.Result = intent.Result{Omitted: true} })
	in := func(e ending, change func(*ending)) ending { change(&e); return e }
	inner := func(e *ending) { e.inner = true }
	for _, tt := range []struct {
		name  string
		e     ending
		fault string // part of it; empty: it is right
	}{
		{"completed", ended(Keyed, completed, one, died, failed, running, executed, replayed, conflict), ""},
		{"two effects", ended(Keyed, completed, append(one, one...), executed), "2 effects"},
		{"completed without an effect", ended(Keyed, completed, nil, executed), "completed with 0 effects"},
		{"refused", ended(Keyed, declined, nil, refused, refused), ""},
		{"refused with an effect", ended(Keyed, declined, one, refused), "refused with 1 effects"},
		{"result of another effect", ended(Keyed, completed, []taken{{10, "q"}}, executed), "the far side's"},
		{"another payload's effect", ended(Keyed, completed, []taken{{20, "r"}}, executed), "another payload's fingerprint"},
		{"released", ended(Keyed, with(claimed(), state(intent.StateReleased)), nil, inDoubt), "neither decided"},
		{"no record", ended(Keyed, intent.Record{}, nil, inDoubt), "neither decided"},
		{"claimed and dead", ended(Keyed, claimed(), one, died), "has no answer"},
		{"message lost in an error", ended(Keyed, completed, one, executed, failed), "has no answer"},
		{"message lost in progress", ended(Keyed, completed, one, executed, running), "has no answer"},
		{"other message lost", ended(Keyed, completed, one, but(failed, func(t *told) { t.message = 1 }), executed), "has no answer"},
		{"in doubt", ended(Blind, doubt, one, inDoubt), ""},
		{"in doubt and unreported", ended(Blind, doubt, one, died, conflict, but(conflict, func(t *told) { t.body = 0 })), "nobody was told"},
		{"keyed in doubt", ended(Keyed, doubt, nil, inDoubt), "somebody knows"},
		{"ledger in doubt", ended(Ledger, doubt, nil, inDoubt), "somebody knows"},
		{"doubt without a reason", ended(Blind, doubt, nil, but(inDoubt, func(t *told) { t.outcome.Reason = "" })), "without a reason"},
		{"told executed in doubt", ended(Blind, doubt, one, executed, inDoubt), "the record says in_doubt"},
		{"told refused when completed", ended(Keyed, completed, one, executed, refused), "the record says completed"},
		{"executed twice", ended(Keyed, completed, one, executed, executed), "2 deliveries"},
		{"replay of another result", ended(Keyed, completed, one, executed, is(intent.Replayed, "q")), "told the result"},
		{"replay without the result", ended(Keyed, completed, one, executed, is(intent.Replayed, "")), "told the result"},
		{"replay to another payload", ended(Keyed, completed, one, executed, but(replayed, func(t *told) { t.body = 1 })), "another payload"},
		{"conflict of equals", ended(Keyed, completed, one, but(conflict, func(t *told) { t.body = 0 }), executed), "all payloads are the same"},
		{"in progress for no time", ended(Keyed, completed, one, but(running, func(t *told) { t.outcome.Wait = 0 }), executed), "nobody knows when"},
		{"came too late", ended(Keyed, intent.Record{}, nil, away), ""},
		{"came too late, and took place", ended(Keyed, intent.Record{}, one, away), "neither decided"},
		{"one of two came too late", ended(Keyed, intent.Record{}, nil, away, but(executed, func(t *told) { t.message = 1 })), "neither decided"},
		{"of a newer release", in(ended(Keyed, claimed(), one, away), func(e *ending) { e.foreign = true }), ""},
		{"of a newer release, run again", in(ended(Keyed, claimed(), append(one, one...), away), func(e *ending) { e.foreign = true }), "2 effects"},
		{"inner one that nobody delivers again", in(ended(Keyed, claimed(), one, but(failed, nested)), inner), ""},
		{"inner one that was run twice", in(ended(Keyed, claimed(), append(one, one...), but(failed, nested)), inner), "2 effects"},
		{"inner one whose own message is lost", in(ended(Keyed, completed, one, but(executed, nested), failed), inner), "has no answer"},
		{"inner one that its own message leaves open", in(ended(Keyed, claimed(), one, but(failed, nested), inDoubt), inner), "neither decided"},
		{"second message of a batch lost", ended(Keyed, completed, one, but(failed, func(t *told) { t.member = 2 }), executed), "has no answer"},
		{"result without a place", in(ended(Keyed, omitted, one, is(intent.Executed, "")), func(e *ending) { e.unkept = true }), ""},
		{"result omitted, and there was a place", ended(Keyed, omitted, one, is(intent.Executed, "")), "the far side's"},
		{"no outcome", ended(Keyed, completed, one, but(died, func(t *told) { t.ended = true }), executed), "no such outcome"},
	} {
		if got := tt.e.fault(); got == "" != (tt.fault == "") || !strings.Contains(got, tt.fault) {
			t.Errorf("%s: got fault %q, want %q", tt.name, got, tt.fault)
		}
	}
}

// An effect that begins when its claim is gone is seen.
func TestJudgeOfBeginnings(t *testing.T) {
	first := claimed()
	a := intent.Attempt{Key: key, Number: first.Attempt, MessageID: first.MessageID}
	for name, tt := range map[string]struct {
		kind   Class
		record intent.Record
		setter string // the owner of the claim that set claimed_at
		blind  bool   // a Blind effect has begun since
		breach breach
		fault  bool
	}{
		"under its claim":              {Keyed, first, "a", false, "", false},
		"taken over":                   {Keyed, with(first, owned("b", 2, at(70))), "a", false, "", true},
		"parked":                       {Keyed, with(first, state(intent.StateInDoubt)), "a", false, "", true},
		"after a pause":                {Keyed, with(first, state(intent.StateInDoubt)), "a", false, pauses, false},
		"after an unknown one":         {Keyed, first, "z", false, "", false},
		"blind":                        {Blind, first, "a", false, "", false},
		"after a blind one, not known": {Keyed, first, "z", true, "", true},
		"blind, after an unknown one":  {Blind, first, "z", false, "", true},
	} {
		w := world{setting: setting{breach: tt.breach}, subjects: []*subject{{key: key, kind: tt.kind, last: tt.record, setter: tt.setter, blindly: tt.blind}}}
		k := worker{world: &w}
		if k.begins(a); w.fault != "" != tt.fault {
			t.Errorf("%s: got fault %q", name, w.fault)
		}
	}
}

// A record of a newer release is left as it is.
func TestJudgeOfOtherFormats(t *testing.T) {
	w := setting{class: Aged, side: 1}.history(t, &track{taken: []int{0, 0, 0, 0, 0, 0, 0, 0, 13}})
	s := w.subjects[0]
	if w.kept(s, ""); w.fault != "" {
		t.Fatal(w.violation())
	}
	s.foreign = maps.Clone(s.foreign)
	delete(s.foreign, "owner")
	if w.kept(s, ""); w.fault == "" {
		t.Error("a change is not seen")
	}
}

// A completion and its write are both there, or neither.
func TestJudgeOfWrites(t *testing.T) {
	w := setting{class: Written, side: 1}.history(t, &path{})
	s := w.subjects[0]
	for name, tt := range map[string]struct {
		record intent.Record
		wrong  bool
	}{
		"both":             {s.last, false},
		"the write alone":  {claimed(), true},
		"no record at all": {intent.Record{}, true},
	} {
		if got := w.unwritten(s, tt.record); got != tt.wrong {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if other := (&subject{key: companion}); !w.unwritten(other, s.last) || w.unwritten(other, claimed()) {
		t.Error("the record alone is not seen, or neither is")
	}
}
