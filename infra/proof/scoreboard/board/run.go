// Package board runs the same schedules of faults against several guards of an effect, on one store, and counts the effects of each
// intent at the far side.
//
// A side is a Lambda function in processes of its own. All of them are given the same messages, meet the same proxy in front of the
// store, which spoils the same call, and call the same far side, which knows no idempotency keys: what keeps the count right is the
// guard alone. A message that is not acknowledged is delivered again once the lease has lapsed by the side's own record, at most five
// times in all.
package board

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// caseLimit bounds one case of one side; the longest waits for four leases.
const caseLimit = 2 * time.Minute

// Score is how a side did in a case.
type Score struct {
	Effects    int  `json:"effects"` // of all intents
	Wrong      bool `json:"wrong"`
	deliveries int
	unheard    int // messages that were never acknowledged
}

// Run runs a case against the sides, side by side, and gives their scores in the same order. log takes what their processes write; it
// must be safe for use by several goroutines.
func Run(ctx context.Context, engine Engine, c Case, sides []Side, log io.Writer) ([]Score, error) {
	scores, errs := make([]Score, len(sides)), make([]error, len(sides))
	var running sync.WaitGroup
	for i, side := range sides {
		running.Go(func() { scores[i], errs[i] = runSide(ctx, engine, c, side, log) })
	}
	running.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", c.Name, sides[i].Name, err)
		}
	}
	return scores, nil
}

func runSide(ctx context.Context, engine Engine, c Case, side Side, log io.Writer) (Score, error) {
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	a, err := enter(ctx, side, c, engine, log)
	if err != nil {
		return Score{}, err
	}
	defer a.leave()
	if err := c.run(ctx, a); err != nil {
		return Score{}, err
	}
	return c.judge(a.far.Effects(), a.messages), nil
}

// judge compares the effects with what is right, intent by intent: two of one and none of another are not two.
func (c Case) judge(effects map[string]int, messages []*message) Score {
	var s Score
	for intent, n := range effects {
		s.Effects += n
		s.Wrong = s.Wrong || n != c.want[intent]
	}
	for intent, n := range c.want {
		s.Wrong = s.Wrong || n != effects[intent]
	}
	for _, m := range messages {
		s.deliveries += m.deliveries
		if !m.acknowledged {
			s.unheard++
		}
		s.Wrong = s.Wrong || c.reported && m.acknowledged
	}
	return s
}
