package soak

import (
	"fmt"
	"strings"

	"github.com/singleeffect/once/infra/local/demo"
	"github.com/singleeffect/once/shared/intent"
)

// inDoubt begins the reason of what is in quarantine because it is in doubt.
const inDoubt = "in_doubt"

// verdict is what is wrong with the end of one intent.
type verdict struct {
	duplicates int    // effects beyond the one, or beyond none where the business says no
	lost       bool   // no effect, and nobody was told
	odd        string // what its record or the quarantine says does not fit
}

func (v verdict) wrong() bool { return v != verdict{} }

// judge holds the effects of an intent against what is said of it.
func judge(e demo.Ended) verdict {
	var v verdict
	due := 1
	if e.Refusable {
		due = 0
	}
	v.duplicates = max(0, e.Effects-due)
	if e.Undone {
		v.duplicates++
	}
	doubted := e.Blind && strings.HasPrefix(e.Quarantine, inDoubt)
	switch record := e.Record.Kind; {
	case e.Quarantine != "" && !doubted:
		v.odd = "is in quarantine"
	case e.Natural:
		v.lost = e.Effects == 0
	case record == intent.Refused:
		if !e.Refusable {
			v.odd = "is refused, and the business says yes"
		}
		v.lost = e.Effects == 0 && !e.Refusable
	case record == intent.InDoubt:
		v.lost = e.Effects == 0 && !doubted
		switch {
		case !e.Blind:
			v.odd = "is in doubt, though its provider can be asked again"
		case !doubted:
			v.odd = "is in doubt, and not in quarantine"
		}
	case record == intent.Replayed:
		v.lost = e.Effects == 0
		if doubted {
			v.odd = "is in quarantine for a doubt, and its record has none"
		}
	default:
		v.odd = "has no final record"
		v.lost = e.Effects == 0
	}
	return v
}

// story tells of an intent what there is to tell.
func (t *trouble) story(e demo.Ended, v verdict) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s: %d effects, undone %t, refusable %t: %d duplicates, lost %t", e.Operation, e.Body, e.Effects, e.Undone, e.Refusable, v.duplicates, v.lost)
	if v.odd != "" {
		fmt.Fprintf(&s, ", %s", v.odd)
	}
	if !e.Natural {
		fmt.Fprintf(&s, "\n  record: %s, attempt %d, result %s, reason %q", e.Record.Kind, e.Record.Attempt, e.Record.Result.JSON, e.Record.Reason)
	}
	if e.Quarantine != "" {
		fmt.Fprintf(&s, "\n  in quarantine: %s", e.Quarantine)
	}
	for _, d := range t.deliveries[e.Operation+e.Body] {
		end := "answered"
		if d.err != nil {
			end = d.err.Error()
		}
		fmt.Fprintf(&s, "\n  %8.3f s  message %s, worker %d: %s", d.at.Seconds(), d.id, d.worker, end)
	}
	return s.String()
}
