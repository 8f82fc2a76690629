package sim

import (
	"slices"
	"strings"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// changed looks at the records after a call that may have changed them: they go the ways of the table, and a final one nowhere.
func (w *World) changed(c *call) {
	if c.kind != write {
		return
	}
	if s, ok := w.system.(interface{ Changed() }); ok {
		s.Changed()
	}
	if w.records == nil {
		return
	}
	for _, name := range c.records {
		if !strings.HasPrefix(name, Scope+"#") {
			continue
		}
		before, now := w.last[name], w.Record(name)
		w.last[name] = now
		if before.State == now.State && before.Owner == now.Owner && before.LeaseUntil.Equal(now.LeaseUntil) && string(before.Result.JSON) == string(now.Result.JSON) {
			continue
		}
		w.say("  %s: %s -> %s, attempt %d", name, before.State, now.State, now.Attempt)
		way := slices.ContainsFunc(intent.Transitions, func(t intent.Transition) bool { return t.From == before.State && t.To == now.State })
		if !way || before.State.Final() {
			w.Fail("%s: no way leads from %s to %s", name, before.State, now.State)
		}
	}
}

// acknowledged checks that who acknowledges a message has seen to it. What was in quarantine may be back in the queue by now; a FIFO
// queue takes a second copy for the first one, which may have gone that way.
func (w *World) acknowledged(m message) {
	s := m.Body.of
	kept := len(w.inQuarantine(s)) > 0
	elsewhere := slices.ContainsFunc(w.queue.live.Peek(time.Now()), func(other message) bool { return other.ID != m.ID && other.Body.of == s })
	switch r := w.recordOf(s); {
	case s.Want == "" && (r.State.Final() && r.Fingerprint == fingerprint(s.Body) || w.records == nil && !kept):
		s.answered = true
	case !kept && !elsewhere:
		w.Fail("%s is acknowledged, and neither has its intent an end nor is it in quarantine: %s", m.ID, m.Body.text)
	}
}

// recordOf is the record of the intent that a message asks for; the zero record if it asks for none.
func (w *World) recordOf(s *Sent) intent.Record {
	if w.records == nil || s.Key == (intent.Key{}) {
		return intent.Record{}
	}
	return w.Record(s.Key.String())
}

func fingerprint(body string) intent.Fingerprint {
	p, err := intent.ParsePayload([]byte(body))
	if err != nil {
		panic(err) // a producer's mistake in the test: what cannot be read has a Want
	}
	return p.Fingerprint()
}

// inQuarantine are the reasons of a send's messages in the dead-letter queue.
func (w *World) inQuarantine(s *Sent) (reasons []string) {
	for _, m := range w.queue.dead.Peek(time.Now()) {
		if m.Body.of == s {
			reasons = append(reasons, m.Body.reason)
		}
	}
	return reasons
}

// judge looks at every send, and then has the function's own effects counted.
func (w *World) judge() {
	for _, s := range w.sent {
		if s.ignored {
			continue
		}
		want, answered := w.wanted(s)
		reasons := w.inQuarantine(s)
		lost := want != "" && len(reasons) == 0
		wrong := slices.ContainsFunc(reasons, func(reason string) bool { return want == "" || !strings.HasPrefix(reason, want+": ") })
		if s.answered != answered || lost || wrong {
			w.Fail("%s is answered: %t, want %t; in quarantine for %q, want %q", s.Body, s.answered, answered, reasons, want)
		}
	}
	w.system.Judge()
}

// wanted is how a send must have ended, by the record of its intent.
func (w *World) wanted(s *Sent) (reason string, answered bool) {
	if s.Want != "" {
		return s.Want, false
	}
	if w.records == nil {
		return "", true
	}
	switch r := w.recordOf(s); {
	case r.State == intent.StateAbsent, r.State == intent.StateClaimed, r.State == intent.StateReleased:
		w.Fail("%s has no end, its record is %q", s.Key, r.State)
		return "", true
	case r.Fingerprint != fingerprint(s.Body):
		return "conflict", false
	case r.State == intent.StateInDoubt:
		return "in_doubt", false
	}
	return "", true
}

// Intents calls f with the record of each intent that was asked for, once, and with its key.
func (w *World) Intents(f func(k intent.Key, r intent.Record)) {
	seen := map[intent.Key]bool{}
	for _, s := range w.sent {
		if s.Key != (intent.Key{}) && s.Want == "" && !seen[s.Key] {
			seen[s.Key] = true
			f(s.Key, w.recordOf(s))
		}
	}
}

// JudgeEffects counts the effects of each intent at the far side against its record: one if it is completed, none if it is
// refused, at most one while it is in doubt.
func (w *World) JudgeEffects(count func(intent.Key) int) {
	w.Intents(func(k intent.Key, r intent.Record) {
		n := count(k)
		if n > 1 || n != 1 && r.State == intent.StateCompleted || n != 0 && r.State == intent.StateRefused {
			w.Fail("%s is %s, and took effect %d times", k, r.State, n)
		}
	})
}
