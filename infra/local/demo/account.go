package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// end is how one intent ended on one side.
type end struct {
	effects int
	undone  bool // what came later was undone by a late redelivery
	settled bool // refused or in doubt: no effect is no loss
	stray   bool // it is in quarantine and should not be, or the other way round
}

// end counts what became of an intent. reached are the natural ones whose end
// state was there before the world moved on.
func (s *side) end(ctx context.Context, a action, reached map[action]bool) (end, error) {
	if !a.operation.natural() {
		n, err := a.operation.count(ctx, s, a)
		return end{effects: n}, err
	}
	if !reached[a] {
		return end{}, nil
	}
	stands, err := a.operation.stands(ctx, s, a)
	return end{effects: 1, undone: !stands}, err
}

// outcome is what the record says of an action; intent.ErrNoIntent where there is
// none.
func (s *side) outcome(ctx context.Context, a action) (intent.Outcome, error) {
	if a.operation.natural() {
		return intent.Outcome{}, intent.ErrNoIntent
	}
	o, err := intent.Lookup(ctx, dynamo.New(s.stack.DB, s.stack.Table("IntentTable")), a.key())
	s.log.look("a record's reason: " + o.Reason)
	return o, err
}

// account counts what became of the crowd on both sides. In quarantine may be, of
// the guarded functions, what is in doubt, the lesson's included.
func account(ctx context.Context, taught, all []action, once, naive *side, reached map[*side]map[action]bool) ([]Row, error) {
	var rows []Row
	for _, o := range operations {
		row := Row{Operation: o.name, LostReplies: once.chaos.lost(o.name), Deliveries: once.delivered(o), Crashes: once.crashed(o)}
		quarantine, err := once.quarantine(o)
		if err != nil {
			return nil, err
		}
		for _, a := range all {
			if a.operation != o {
				continue
			}
			row.Intents++
			e, err := naive.end(ctx, a, reached[naive])
			if err != nil {
				return nil, err
			}
			row.Naive.count(e)
			if e, err = once.end(ctx, a, reached[once]); err != nil {
				return nil, err
			}
			if err := row.settle(ctx, once, a, &e, quarantine); err != nil {
				return nil, err
			}
			row.Once.count(e)
		}
		for _, a := range taught {
			if a.operation == o && strings.HasPrefix(quarantine[a.body], inDoubt) && o.blind {
				delete(quarantine, a.body)
			}
		}
		for body, reason := range quarantine { // nobody's that was sent, or the lesson's for another reason
			row.Strays = append(row.Strays, fmt.Sprintf("%s in quarantine: %s", body, reason))
			row.Once.Lost++
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// inDoubt begins the reason of what is in quarantine because it is in doubt.
const inDoubt = "in_doubt"

// settle says of an intent's end what its record says, and whether its message
// lies where it should. It takes the message out of the quarantine's list.
func (row *Row) settle(ctx context.Context, s *side, a action, e *end, quarantine map[string]string) error {
	outcome, err := s.outcome(ctx, a)
	if err != nil && !errors.Is(err, intent.ErrNoIntent) {
		return err
	}
	reason, there := quarantine[a.body]
	delete(quarantine, a.body)
	switch outcome.Kind {
	case intent.Refused:
		row.Once.Refused++
		e.settled = true
	case intent.InDoubt:
		row.Once.InDoubt++
		e.settled = a.operation.blind
		if !there { // nobody would ever hear of it
			e.stray = true
			row.Strays = append(row.Strays, a.body+" in doubt, and not in quarantine")
		}
	}
	if there && !(outcome.Kind == intent.InDoubt && a.operation.blind && strings.HasPrefix(reason, inDoubt)) {
		e.stray = true
		row.Strays = append(row.Strays, fmt.Sprintf("%s in quarantine: %s", a.body, reason))
	}
	return nil
}
