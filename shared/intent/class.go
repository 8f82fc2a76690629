package intent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Delivery is one message that asks for an intent. Key and fingerprint are taken
// before the effect runs, so that nothing it does to its payload changes them.
type Delivery struct {
	Key         string // the caller's key, unescaped
	Payload     Payload
	Fingerprint Fingerprint // of the payload, or of the part of it that must be the same in every message
	MessageID   string
	Receives    int // how often SQS has delivered the message, this time included; 0: not known

	// Last says that the message has failed for long enough: it is given up if this
	// attempt fails, too. See ErrGivenUp.
	Last bool

	// SentAt is the intent's own time: the earliest that is known of it. One that is
	// older than Config.MaxAge is run only if it has a record. Zero: not known.
	SentAt time.Time
}

// Failed is the error of an attempt after which nothing stands: an ErrGivenUp where
// it was the last one, unless no delivery could mend it anyway.
func (d Delivery) Failed(err error) error {
	if d.Last && !errors.Is(err, ErrUnprocessable) {
		return fmt.Errorf("%w: %w", ErrGivenUp, err)
	}
	return err
}

// Keyed runs effects at a provider that itself takes an idempotency key, such
// as a card charge. The effect takes place once within the provider's window;
// past it the intent is in doubt, never sent again.
type Keyed[P any] struct {
	Config

	// Window is how long the provider remembers a key. Required; an hour of it is
	// kept free.
	Window time.Duration

	// Effect calls the provider under Attempt.Downstream. Required.
	Effect Effect[P]

	// Probe settles what is in doubt. Without one an operator does.
	Probe Probe[P]

	// ProbeAfter is how long after a lapsed lease a request may still be on its
	// way, so that a "no" does not count yet. Defaults to 60 s.
	ProbeAfter time.Duration
}

// Validate returns a *ConfigError.
func (k *Keyed[P]) Validate() error {
	if k.Effect == nil {
		return &ConfigError{"Effect", "is missing"}
	}
	if err := validDuration("ProbeAfter", k.ProbeAfter); err != nil {
		return err
	}
	if err := validDuration("Window", k.Window); err != nil {
		return err
	}
	if c := k.WithDefaults(); k.Window < windowMargin+c.Lease+c.LeaseMargin+c.SkewMargin {
		return &ConfigError{"Window", fmt.Sprintf("of %v is used up by its margin of %v, a lease of %v and margins of %v and %v",
			k.Window, windowMargin, c.Lease, c.LeaseMargin, c.SkewMargin)}
	}
	return k.Config.Validate()
}

// Deliver runs the intent once or tells what became of it. An error means that
// the message is to be delivered again.
//
// A Keyed that Validate refuses delivers nothing: the error is the *ConfigError.
func (k *Keyed[P]) Deliver(ctx context.Context, d Delivery) (Outcome, error) {
	if err := k.Validate(); err != nil {
		return Outcome{}, err
	}
	r := runner[P]{Config: k.WithDefaults(), effect: k.Effect, probe: k.Probe, probeAfter: k.ProbeAfter, window: k.Window}
	return r.deliver(ctx, d)
}

// Group returns Deliver for a batch of that many deliveries side by side, which
// claim together and complete together where the Store can. Each calls leave once
// when it has ended.
func (k *Keyed[P]) Group(members int) (deliver func(context.Context, Delivery) (Outcome, error), leave func()) {
	g, ok := k.Store.(Grouper)
	if !ok {
		return k.Deliver, func() {}
	}
	member := *k
	member.Store, leave = g.Group(members)
	return member.Deliver, leave
}

// Blind runs effects that know no keys, such as an e-mail: at most once, as
// long as a probe's or an operator's "no" is final. An effect whose outcome is
// not known is in doubt and never silently run again.
type Blind[P any] struct {
	Config

	// Effect makes the call. Required.
	Effect Effect[P]

	// Probe settles what is in doubt. Without one an operator does.
	Probe Probe[P]

	// ProbeAfter is how long after a lapsed lease a request may still be on its
	// way, so that a "no" does not count yet. Defaults to 60 s.
	ProbeAfter time.Duration
}

// Validate returns a *ConfigError.
func (b *Blind[P]) Validate() error {
	if b.Effect == nil {
		return &ConfigError{"Effect", "is missing"}
	}
	if err := validDuration("ProbeAfter", b.ProbeAfter); err != nil {
		return err
	}
	return b.Config.Validate()
}

// Deliver runs the intent at most once or tells what became of it. An error
// means that the message is to be delivered again.
//
// A Blind that Validate refuses delivers nothing: the error is the *ConfigError.
func (b *Blind[P]) Deliver(ctx context.Context, d Delivery) (Outcome, error) {
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	r := runner[P]{Config: b.WithDefaults(), effect: b.Effect, probe: b.Probe, probeAfter: b.ProbeAfter, blind: true}
	return r.deliver(ctx, d)
}

// OneAtATime tells a batch not to run several of these side by side: a crash
// must put one intent in doubt, not ten.
func (b *Blind[P]) OneAtATime() bool { return true }
