package sqsbatch

import (
	"context"
	"fmt"

	"github.com/singleeffect/once/shared/intent"
)

// split takes those lanes apart whose head may end its process: some of its receives
// ended without an answer. One that did so for giveUpAfter is not run any more.
func (b *Batch) split(lanes []*lane) (answered, unanswered []*lane) {
	for _, l := range lanes {
		head := l.jobs[0]
		switch {
		case head.unread != nil || !head.unanswered():
			answered = append(answered, l)
			continue
		case head.overdue():
			f := judge(intent.Outcome{}, fmt.Errorf("%w: %d receives, more than were answered", intent.ErrGivenUp, head.receives()))
			head.unread = &f
		}
		unanswered = append(unanswered, l)
	}
	return answered, unanswered
}

// putAside hides lanes that are about to run, as if they had failed.
func (b *Batch) putAside(ctx context.Context, lanes []*lane) {
	desk := b.newDesk(ctx)
	defer desk.close()
	for _, l := range lanes {
		wait := spread(delay(l.receives(l.jobs[0])))
		for _, j := range l.jobs {
			for _, m := range j.messages {
				desk.hide(m, wait)
			}
		}
	}
}
