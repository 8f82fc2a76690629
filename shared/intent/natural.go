package intent

import "context"

// Natural runs effects that set or delete what they name: status = 'shipped',
// clear the cart. Their end state is right however often and however late they
// come, so they need no key and leave no record, and nothing is folded.
//
// That is the effect's own doing, and "idempotent" is not enough for it: a late
// redelivery of shipped must not undo delivered, and one of "clear the cart" must
// not take what was put in since. Its write is conditional on the rank of the
// state it leads to, or on the intent's own time by one clock a row (of equal
// times the larger value wins); it never creates the row; and what it reads to
// find its bounds is read consistently and to the end.
type Natural[P any] struct {
	// Effect makes the write. It returns nil when the end state is there, also if
	// it was there before, Quarantine(err) when no delivery can ever bring it
	// about, and any other error to be delivered again, as often as it takes: a
	// half-done one is finished by the next. ctx ends before the invocation does. The
	// Attempt has no key and no number. Required.
	Effect func(ctx context.Context, payload P, a Attempt) error
}

// Validate returns a *ConfigError.
func (n *Natural[P]) Validate() error {
	if n.Effect == nil {
		return &ConfigError{"Effect", "is missing"}
	}
	return nil
}

// Deliver runs the effect, whoever ran it before. An error means that the
// message is to be delivered again, unless it is ErrUnprocessable.
func (n *Natural[P]) Deliver(ctx context.Context, d Delivery) (Outcome, error) {
	if err := n.Validate(); err != nil {
		return Outcome{}, err
	}
	payload, err := Decode[P](d.Payload)
	if err != nil {
		return Outcome{}, err
	}
	if err := TimeToStart(ctx); err != nil {
		return Outcome{}, err
	}
	ctx, stop := EffectContext(ctx)
	defer stop()
	err = RunUnrecorded(func() error {
		return n.Effect(ctx, payload, Attempt{MessageID: d.MessageID, Receives: d.Receives})
	})
	if err != nil {
		return Outcome{}, d.Failed(err)
	}
	return Outcome{Kind: Executed}, nil
}

// Keyless tells a batch that these messages carry no key.
func (n *Natural[P]) Keyless() bool { return true }
