package demo

import (
	"context"
	"io"
)

// redeliverLate brings the messages of the natural operations back after the world
// has moved on: the carrier has delivered the orders, and users have put new things
// into their carts. A producer that retries does that, and so does a redrive.
//
// It gives, by side, the intents whose end state was there before.
func redeliverLate(ctx context.Context, progress io.Writer, all []action, sides []*side) (map[*side]map[action]bool, error) {
	reached := map[*side]map[action]bool{}
	var late []send
	for _, a := range all {
		if a.operation.natural() {
			late = append(late, send{action: a, late: true})
		}
	}
	sent := 0
	for _, s := range sides {
		reached[s] = map[action]bool{}
		for _, one := range late {
			a := one.action
			n, err := a.operation.count(ctx, s, a)
			if err != nil {
				return nil, err
			}
			if n == 0 {
				continue // nothing can be undone
			}
			if err := a.operation.later(ctx, s, a); err != nil {
				return nil, err
			}
			reached[s][a] = true
		}
		n, err := s.send(ctx, late)
		if err != nil {
			return nil, err
		}
		sent += n
	}
	return reached, drain(ctx, progress, sent, sides)
}
