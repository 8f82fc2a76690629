package dynamo

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// linger is how long the first of several writes waits for those that the
	// others of its batch may still ask for.
	linger = 50 * time.Millisecond

	// maxStatements is what one BatchExecuteStatement takes (Amazon DynamoDB API
	// reference, BatchExecuteStatement).
	maxStatements = 25
)

// Group returns a store for one batch of that many deliveries side by side, and
// what each of them calls once when it has ended. It makes their claims in one
// call and their ends in one, instead of one each; whatever is not plain in the
// answer is asked again alone, as without a group. The role of the function needs
// dynamodb:PartiQLInsert, PartiQLUpdate and BatchGetItem on the record table.
func (s *Store) Group(members int) (_ intent.Store, leave func()) {
	if s.alone || members < 2 {
		return s, func() {}
	}
	g := &group{Store: s, running: members}
	return g, g.leave
}

// group collects the writes of one batch. A call is made when all who run wait for
// that one, or at the latest when its first write has lingered. Whoever waits for a
// call under way may ask for another right after it, also by giving up: ten claims
// that time ran out on are given back in one call.
type group struct {
	*Store

	mu      sync.Mutex
	running int      // deliveries that may still ask for a write
	pending []*write // not sent yet
	sends   int      // so far
	flush   *time.Timer
}

// write is one record's part of a call.
type write struct {
	next      intent.Record
	statement statement
	call      *call // once it is sent
	answer    chan answer
}

// call is one request for several writes. It ends when nobody waits for it any
// more, and not before: one who gives up takes nothing from the others.
type call struct {
	waiting int // for an answer
	cancel  context.CancelFunc
	done    chan struct{}
}

// answer is what a call says of one write: the item that stood in its way, empty if
// it is gone again, or that the write is to be made alone. Neither: it is done.
type answer struct {
	item  item
	alone bool
}

// Claim joins the claims of the batch.
func (g *group) Claim(ctx context.Context, next intent.Record) (intent.Record, error) {
	claim, ok := g.insert(next)
	if next.Writes != nil || !ok {
		return g.Store.Claim(ctx, next)
	}
	a, err := g.join(ctx, next, claim)
	switch {
	case err != nil:
		return intent.Record{}, wrap("claim intent", err)
	case a.alone || expired(a.item, next):
		return g.Store.Claim(ctx, next)
	case a.item == nil:
		return next, nil
	}
	standing, err := g.inTheWay(ctx, a.item)
	return standing, wrap("claim intent", err)
}

// Amend joins the ends of the batch. A renewal goes alone: it has no time to wait.
func (g *group) Amend(ctx context.Context, next intent.Record) (intent.Record, error) {
	if next.State == intent.StateClaimed || next.Writes != nil {
		return g.Store.Amend(ctx, next)
	}
	attribute := g.keep(ctx, &next)
	a, err := g.join(ctx, next, g.update(next, attribute))
	switch {
	case err != nil:
		return intent.Record{}, wrap(string(next.State)+" by owner", err)
	case a.item == nil && !a.alone:
		return next, nil
	case !a.alone:
		standing, err := g.inTheWay(ctx, a.item)
		// Its own owner may also end a doubt, which the statement does not say.
		if err != nil || standing.Owner != next.Owner || standing.State != intent.StateInDoubt || !next.State.Final() {
			return standing, wrap(string(next.State)+" by owner", err)
		}
	}
	return g.amend(ctx, next, attribute)
}

func (g *group) inTheWay(ctx context.Context, it item) (intent.Record, error) {
	if len(it) == 0 {
		return intent.Record{}, nil
	}
	return g.record(ctx, it)
}

// expired reports a record that a claim may replace, which an INSERT cannot.
func expired(it item, next intent.Record) bool {
	d := decoder{it: it}
	seconds := d.number(attrExpiresAt)
	return seconds != 0 && seconds < next.ClaimedAt.Unix()
}

// join hands in one write and waits for what its call says of it. An error means
// that the caller's time is over; the write may have landed.
func (g *group) join(ctx context.Context, next intent.Record, s statement) (answer, error) {
	w := &write{next: next, statement: s, answer: make(chan answer, 1)}
	if ctx.Err() == nil {
		if !g.add(w) {
			return answer{alone: true}, nil
		}
		defer g.part(w)
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		return answer{}, fmt.Errorf("gave up: %w", context.Cause(ctx))
	}
}

// add appends a write, and sends all there are if no more can come. False: another
// of the same record waits, and two of one record must not share a call.
func (g *group) add(w *write) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.pending {
		if other.next.Intent == w.next.Intent {
			return false
		}
	}
	if g.pending = append(g.pending, w); len(g.pending) == 1 {
		sends := g.sends
		g.flush = time.AfterFunc(g.linger, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.sends == sends {
				g.send()
			}
		})
	}
	g.sendIfComplete()
	return true
}

// leave tells that one delivery asks for nothing more.
func (g *group) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	g.sendIfComplete()
}

func (g *group) sendIfComplete() {
	if len(g.pending) >= g.running || len(g.pending) >= maxStatements {
		g.send()
	}
}

// send makes a call of what is pending.
func (g *group) send() {
	writes := g.pending
	if len(writes) == 0 {
		return
	}
	g.flush.Stop()
	g.pending = nil
	g.sends++
	if len(writes) == 1 {
		writes[0].answer <- answer{alone: true} // one write for itself is a plain put or update
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{waiting: len(writes), cancel: cancel, done: make(chan struct{})}
	for _, w := range writes {
		w.call = c
	}
	go func() {
		defer close(c.done)
		g.execute(ctx, writes)
	}()
}

// part withdraws a write that is not sent, or leaves its call. The last to leave
// ends it: no call outlives its callers.
func (g *group) part(w *write) {
	g.mu.Lock()
	if w.call == nil {
		g.pending = slices.DeleteFunc(g.pending, func(other *write) bool { return other == w })
		if len(g.pending) == 0 {
			g.flush.Stop() // the next write lingers for itself
		}
		g.mu.Unlock()
		return
	}
	w.call.waiting--
	last := w.call.waiting == 0
	g.mu.Unlock()
	if last {
		w.call.cancel()
		<-w.call.done
	}
}
