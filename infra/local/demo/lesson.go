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

// lesson is how an operation's effects are told to people.
type lesson struct {
	what string // is counted, and where
	show func(effects int) string
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
	Naive, Once int  // effects
	InDoubt     bool // the guarded one
	of          *operation
}

// Err says what the lesson failed to show. The twin of an operation that is not
// natural takes effect in each of its runs, of which a slow machine makes more than
// three: an invocation that times out is one, too. One that times out before it
// sends an e-mail leaves a doubt and no e-mail.
func (l Lesson) Err() error {
	naive, once := l.Naive >= runs, l.Once == 1 || l.Once == 0 && l.InDoubt
	if l.of.natural() {
		naive = l.Naive == 1
	}
	if !naive || !once {
		return fmt.Errorf("%s, three runs: %s: %s (naive) and %s (once)", l.Operation, l.of.lesson.what, l.of.lesson.show(l.Naive), l.once())
	}
	return nil
}

func (l Lesson) once() string {
	text := l.of.lesson.show(l.Once)
	if l.InDoubt {
		text += " (in doubt)"
	}
	return text
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
		row := Lesson{Operation: a.operation.name, of: a.operation}
		var err error
		if row.Naive, err = a.operation.count(ctx, naive, a); err != nil {
			return nil, err
		}
		if row.Once, err = a.operation.count(ctx, once, a); err != nil {
			return nil, err
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.Operation, row.of.lesson.what, row.of.lesson.show(row.Naive), row.once())
	}
	return w.Flush()
}
