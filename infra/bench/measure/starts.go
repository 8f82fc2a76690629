package measure

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
)

// starts starts each contender several times, each time in another order, and lets it answer one new batch: who comes after a process
// that held much memory starts more slowly.
func (b *bench) starts(ctx context.Context, r *report.Report) error {
	list := b.all
	polls, answers := make([][]float64, len(list)), make([][]float64, len(list))
	tables := make([]string, len(list))
	for i, c := range list {
		var err error
		if tables[i], err = b.createTable(ctx, c.Key); err != nil {
			return err
		}
	}
	for range b.Starts {
		for _, i := range rand.Perm(len(list)) {
			c := list[i]
			poll, answer, err := b.start(ctx, c, tables[i])
			if err != nil {
				return err
			}
			polls[i], answers[i] = append(polls[i], milliseconds(poll)), append(answers[i], milliseconds(answer))
		}
	}
	for i := range list {
		r.Contenders[i].FirstPollMS, r.Contenders[i].AnswerMS = median(polls[i]), median(answers[i])
	}
	return nil
}

func (b *bench) start(ctx context.Context, c contender.Contender, table string) (poll, answer time.Duration, err error) {
	event, err := message.Event(message.Keys(1)...)
	if err != nil {
		return 0, 0, err
	}
	p, err := c.Start(ctx, contender.Place{Endpoint: b.engine.Endpoint, Table: table}, b.Log)
	if err != nil {
		return 0, 0, err
	}
	defer p.Stop()
	took, err := p.Deliver(ctx, event)
	return p.Startup(), p.Startup() + took, err
}
