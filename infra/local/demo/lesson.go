package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/singleeffect/once/shared/intent"
)

// runs is how often the lesson runs each of its intents.
const runs = 3

// lesson is what an operation's intent comes to after its runs: by the handler of
// the tutorials, and when it takes effect once.
type lesson struct {
	what        string
	show        func(effects int) string
	naive, once string
}

func number(effects int) string { return strconv.Itoa(effects) }

// ifThere shows a natural operation's end state.
func ifThere(there, not string) func(int) string {
	return func(effects int) string {
		if effects == 1 {
			return there
		}
		return not
	}
}

// Lesson is what one intent of an operation came to after three runs: the worker
// of each delivery that takes effect is killed right after it did, but for the
// third delivery's.
type Lesson struct {
	Operation   string
	Effect      string // what is counted, and where
	Naive, Once string
	InDoubt     bool // of the guarded one
	want        lesson
}

// Err says what the lesson failed to show.
func (l Lesson) Err() error {
	if l.Naive != l.want.naive || l.Once != l.want.once {
		return fmt.Errorf("%s, three runs: %s is %q (naive) and %q (once), want %q and %q",
			l.Operation, l.Effect, l.Naive, l.Once, l.want.naive, l.want.once)
	}
	return nil
}

// teach runs the lesson.
func teach(ctx context.Context, progress io.Writer, all []action, once, naive *side) ([]Lesson, error) {
	sides := []*side{once, naive}
	var first []send
	for _, a := range all {
		first = append(first, send{action: a})
	}
	sent := 0
	for _, s := range sides {
		if err := s.seed(ctx, all); err != nil {
			return nil, err
		}
		s.chaos.force(runs - 1)
		n, err := s.send(ctx, first)
		if err != nil {
			return nil, err
		}
		sent += n
	}
	for sent > 0 {
		if err := drain(ctx, progress, sent, sides); err != nil {
			return nil, err
		}
		sent = 0
		for _, s := range sides {
			n, err := s.again(ctx, all)
			if err != nil {
				return nil, err
			}
			sent += n
		}
	}
	var rows []Lesson
	for _, a := range all {
		row := Lesson{Operation: a.operation.name, Effect: a.operation.lesson.what, want: a.operation.lesson}
		for cell, s := range map[*string]*side{&row.Naive: naive, &row.Once: once} {
			n, err := a.operation.count(ctx, s, a)
			if err != nil {
				return nil, err
			}
			*cell = a.operation.lesson.show(n)
		}
		outcome, err := once.outcome(ctx, a)
		if err != nil && !errors.Is(err, intent.ErrNoIntent) {
			return nil, err
		}
		row.InDoubt = outcome.Kind == intent.InDoubt
		rows = append(rows, row)
	}
	return rows, nil
}

// again brings back what was settled before its last run, and counts it: what is
// in quarantine by a redrive, all else by a producer that retries.
func (s *side) again(ctx context.Context, all []action) (int, error) {
	sent := 0
	for _, a := range all {
		if s.delivered(a.operation) >= runs {
			continue
		}
		q, err := s.queues(a.operation)
		if err != nil {
			return 0, err
		}
		reasons, err := s.quarantine(a.operation)
		if err != nil {
			return 0, err
		}
		if len(reasons) > 0 {
			err = s.redrive(q)
		} else {
			_, err = s.send(ctx, []send{{action: a, late: true}})
		}
		if err != nil {
			return 0, err
		}
		sent++
	}
	return sent, nil
}

// showLesson writes the lesson for people.
func showLesson(out io.Writer, rows []Lesson) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "operation\teffect\tnaive after three runs\tonce after three runs")
	for _, row := range rows {
		once := row.Once
		if row.InDoubt {
			once += " (in doubt)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Operation, row.Effect, row.Naive, once)
	}
	return w.Flush()
}
