package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/singleeffect/once/shared/intent"
)

// inners are the intents that a nested effect may deliver: of which class, and whether
// under the key of the outer one.
var inners = []struct {
	kind Class
	id   string
}{{Blind, key.ID}, {Keyed, companion.ID}, {Ledger, key.ID}}

// manner is how an effect delivers another intent, and returns the error of that.
type manner struct {
	name  string
	first bool // before its own call
	of    func(error) error
}

var manners = []manner{
	{"wraps the error", false, func(err error) error { return fmt.Errorf("receipt: %w", err) }},
	{"delivers first", true, func(err error) error { return fmt.Errorf("receipt: %w", err) }},
	{"returns the error", false, func(err error) error { return err }},
	{"joins the error", false, func(err error) error { return errors.Join(errUnheard, err) }},
	{"joins two errors in a wrap", false, func(err error) error { return fmt.Errorf("%w: %w", errUnheard, err) }},
}

var errInner = errors.New("the inner intent has no end")

// nest is an effect that also delivers another intent. Where that has no end, its own
// outcome is not known: it is not for the inner intent to say.
func (k *worker) nest(ctx context.Context, p payload, a intent.Attempt) (any, error) {
	m := manners[k.manner]
	if m.first {
		if err := k.deliverInner(ctx); err != nil {
			return nil, m.of(err)
		}
	}
	result, err := k.request(ctx, p, a)
	if err != nil || m.first {
		return result, err
	}
	if err := k.deliverInner(ctx); err != nil {
		return nil, m.of(err)
	}
	return result, nil
}

func (k *worker) deliverInner(ctx context.Context) error {
	t := &told{subject: 1, message: k.message, body: k.body, nested: true}
	k.mu.Lock()
	k.told = append(k.told, t)
	k.mu.Unlock()
	k.deliverTo(ctx, k.handler(k.world.subjects[1]).Deliver, t)
	err := t.err
	switch {
	case err == nil && (t.outcome.Done() || t.outcome.Kind == intent.Conflict): // nothing else will come of it
		return nil
	case err == nil:
		err = fmt.Errorf("%w: %s", errInner, t.outcome.Kind)
	}
	k.innerFailed = true
	return err
}

// decidedByInner says that an effect which returned an inner intent's error, and no
// verdict of its own, decided its intent all the same.
func (k *worker) decidedByInner(s *subject, now intent.Record) bool {
	return k.innerFailed && s == k.world.subjects[0] && (now.State == intent.StateReleased || now.State.Final())
}
