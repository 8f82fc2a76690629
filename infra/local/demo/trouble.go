package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/stack"
	"github.com/singleeffect/once/shared/intent"
)

// Trouble is what befalls the guarded functions, where it is not the demo's own
// chaos: somebody else's, who runs a crowd of intents through them.
type Trouble struct {
	// Parameters replace some of the demo's for the stack.
	Parameters map[string]string

	// Visibility is the queues' visibility timeout. Defaults to the parameter's.
	Visibility time.Duration

	// Prepare and Observe are those of stack.Options.
	Prepare func(w *stack.Worker, environment map[string]string) (release func(), err error)
	Observe func(function string, batch mapping.Batch)
}

func (t *Trouble) replace(o *stack.Options) {
	o.Parameters = maps.Clone(o.Parameters)
	maps.Copy(o.Parameters, t.Parameters)
	o.Visibility, o.Prepare = t.Visibility, t.Prepare
	count := o.Observe
	o.Observe = func(function string, batch mapping.Batch) {
		count(function, batch)
		t.Observe(function, batch)
	}
}

// Ended is what became of one intent.
type Ended struct {
	Operation string
	Body      string // of its messages; no other intent of the operation has it
	Natural   bool   // it has no record
	Blind     bool   // it may be in doubt
	Refusable bool   // the business says no to it

	Effects    int            // at the far side; of a natural one 1 or 0, whether its end state was reached
	Undone     bool           // a late redelivery undid what had come after a natural one
	Record     intent.Outcome // what its record says; the zero Outcome where there is none
	Quarantine string         // the reason with which a message of it is in quarantine
}

// Aftermath is what the crowd came to.
type Aftermath struct {
	Ends     []Ended
	Strays   []string // what nobody sent and is in quarantine all the same
	Leaks    []string // what the functions' output or a reason tells of messages, rows or secrets
	Redriven int      // messages that went from a dead-letter queue back to its queue
}

// refusedOf is of how many intents that can be refused one is.
const refusedOf = 10

// Run sends a crowd to the functions and redrives what lands in a dead-letter queue
// until all is settled; then it lets the world move on, delivers the natural ones
// again, and redrives all quarantines once.
func (t Trouble) Run(ctx context.Context, c Config) (Aftermath, error) {
	all, err := crowd(c.Intents, time.Now())
	if err != nil {
		return Aftermath{}, err
	}
	for i := range all {
		all[i].refusable = !all[i].operation.natural() && i/len(operations)%refusedOf == refusedOf-1
	}
	s, err := open(ctx, "", c, &t)
	if err != nil {
		return Aftermath{}, err
	}
	defer s.close()
	if err := s.stack.Run(ctx); err != nil {
		return Aftermath{}, err
	}
	if err := s.seed(ctx, all); err != nil {
		return Aftermath{}, err
	}
	sides := []*side{s}
	sent, err := s.send(ctx, sends(all, rand.New(rand.NewPCG(c.Seed, 1))))
	if err != nil {
		return Aftermath{}, err
	}
	fmt.Fprintf(c.Progress, "%d intents, sent as %d messages.\n", len(all), sent)
	if err := drain(ctx, c.Progress, sent, sides); err != nil {
		return Aftermath{}, err
	}
	moved, err := s.redriveAll()
	if err != nil {
		return Aftermath{}, err
	}
	fmt.Fprintf(c.Progress, "%d messages are in quarantine, and are redriven. Orders are delivered by now, and users fill their carts again: "+
		"the messages of ship and clearcart come once more.\n", moved)
	reached, err := redeliverLate(ctx, c.Progress, all, sides)
	if err != nil {
		return Aftermath{}, err
	}
	s.stack.Stop() // what is counted now is final
	return s.aftermath(ctx, all, reached[s])
}

// redriveAll redrives every dead-letter queue and counts what it moved.
func (s *side) redriveAll() (int, error) {
	before := s.redriven
	for _, o := range operations {
		q, err := s.queues(o)
		if err != nil {
			return 0, err
		}
		if err := s.redrive(q); err != nil {
			return 0, err
		}
	}
	return s.redriven - before, nil
}

func (s *side) aftermath(ctx context.Context, all []action, reached map[action]bool) (Aftermath, error) {
	result := Aftermath{Redriven: s.redriven}
	quarantines := map[*operation]map[string]string{}
	for _, o := range operations {
		var err error
		if quarantines[o], err = s.quarantine(o); err != nil {
			return Aftermath{}, err
		}
	}
	for _, a := range all {
		o := a.operation
		e, err := s.end(ctx, a, reached)
		if err != nil {
			return Aftermath{}, err
		}
		record, err := s.outcome(ctx, a)
		if err != nil && !errors.Is(err, intent.ErrNoIntent) {
			return Aftermath{}, err
		}
		result.Ends = append(result.Ends, Ended{
			Operation: o.name, Body: a.body, Natural: o.natural(), Blind: o.blind, Refusable: a.refusable,
			Effects: e.effects, Undone: e.undone, Record: record, Quarantine: quarantines[o][a.body],
		})
		delete(quarantines[o], a.body)
	}
	for _, o := range operations {
		for body, reason := range quarantines[o] {
			result.Strays = append(result.Strays, fmt.Sprintf("%s: %s: %s", o.name, body, reason))
		}
	}
	result.Leaks = s.log.told()
	return result, nil
}
