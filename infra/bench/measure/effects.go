package measure

import (
	"context"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/bench/report"
)

// effectBatches are enough to see how effects of several lengths fall together; they take the time of the longest each.
const effectBatches = 20

// effects counts our requests when effects end at different times.
func (b *bench) effects(ctx context.Context, r *report.Report) error {
	for _, takes := range []string{"40ms-60ms", "50ms-500ms"} {
		s, err := b.effect(ctx, takes)
		if err != nil {
			return err
		}
		r.Effects = append(r.Effects, report.Effect{Takes: takes, Requests: float64(s.requests) / float64(s.messages)})
	}
	return nil
}

func (b *bench) effect(ctx context.Context, takes string) (s sample, err error) {
	e, err := b.enter(ctx, b.all.Of(contender.Once), true, 0, 1, "EFFECT="+takes)
	if err != nil {
		return s, err
	}
	defer e.leave()
	return e.run(ctx, message.Keys(effectBatches))
}
