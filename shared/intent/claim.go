package intent

import (
	"context"
	"errors"
	"time"
)

// runner is what Keyed and Blind do alike. They differ in what becomes of a
// claim whose outcome nobody knows.
type runner[P any] struct {
	Config
	effect     Effect[P]
	probe      Probe[P]
	probeAfter time.Duration
	window     time.Duration // Keyed: the provider's
	blind      bool
}

// claim is a record that this delivery owns, or asks for.
type claim struct {
	record Record
	// fresh: this attempt set claimed_at, so no earlier one can have happened.
	fresh bool
	// lapsed: it replaced a claim whose owner never said how it ended.
	lapsed bool
	// end of the lease on our own monotonic clock, which was read before the
	// claim was sent: never later than the lease in the record.
	end time.Time
}

// task is one delivery on its way through the runner.
type task[P any] struct {
	Delivery
	key     Key
	payload P
}

func (t task[P]) attempt(r Record) Attempt {
	return Attempt{Key: t.key, Downstream: t.key.Downstream(), Number: r.Attempt, MessageID: t.MessageID, Receives: t.Receives}
}

func (r runner[P]) deliver(ctx context.Context, d Delivery) (Outcome, error) {
	payload, err := Decode[P](d.Payload)
	if err != nil {
		return Outcome{}, err
	}
	key, err := r.Key(d.Key)
	if err != nil {
		return Outcome{}, err
	}
	t := task[P]{Delivery: d, key: key, payload: payload}
	storeCtx, cancel := StoreContext(ctx)
	defer cancel()
	c, o, err := r.acquire(ctx, storeCtx, t)
	if err == nil && o.Kind == "" {
		o, err = r.run(ctx, storeCtx, c, t)
		o.Lapsed = c.lapsed
	}
	o.Intent = key.ShortHash()
	return o, err
}

// acquire claims the intent, or tells by the record that stands why not: an
// Outcome with a Kind. The record decides in the order that the package
// documentation gives.
func (r runner[P]) acquire(ctx, storeCtx context.Context, t task[P]) (claim, Outcome, error) {
	// What is claimed later than this has no time to run.
	claimCtx, cancel := endEarly(ctx, minStart)
	defer cancel()
	var standing Record
	for vanished := 0; vanished < maxVanished; {
		if standing.State == StateAbsent && r.TooOld(t.SentAt) {
			var err error
			if standing, err = r.LoadExisting(storeCtx, t.key); err != nil {
				return claim{}, Outcome{}, err
			}
			if o, ok := r.follow(standing, t); ok {
				return claim{}, o, nil
			}
		}
		c, err := r.draft(ctx, standing, t)
		if err != nil {
			return claim{}, Outcome{}, err
		}
		shown := standing
		switch {
		case shown.State == StateAbsent:
			standing, err = r.Store.Claim(claimCtx, c.record)
		case shown.State == StateInDoubt:
			var o Outcome
			standing, o, err = r.settle(ctx, storeCtx, shown, t)
			if o.Kind != "" {
				return claim{}, o, err
			}
		// A released record keeps claimed_at after an attempt whose outcome is not known:
		// one of a Keyed effect, if the operation has become Blind since.
		case r.blind && !shown.ClaimedAt.IsZero():
			standing, err = r.Store.Replace(storeCtx, shown, shown.Parked("the outcome of an earlier attempt is not known", r.Now()))
		// And the other way round: no provider knows that attempt by a key.
		case shown.Blind && !shown.ClaimedAt.IsZero():
			standing, err = r.Store.Replace(storeCtx, shown, shown.Parked("the outcome of an attempt without a key is not known", r.Now()))
		case r.pastWindow(shown, c.record):
			standing, err = r.Store.Replace(storeCtx, shown, shown.Parked("the provider's window ends", r.Now()))
		default:
			standing, err = r.Store.Replace(claimCtx, shown, c.record)
		}
		if err != nil {
			// The write may have landed all the same, unless a record stands that we
			// cannot read. Its effect has not begun: give it back, so that nobody
			// waits for it or takes it for a doubt.
			if unreadable := (*FormatError)(nil); !errors.As(err, &unreadable) {
				r.giveBack(storeCtx, c)
			}
			return claim{}, Outcome{}, err
		}
		switch {
		case standing.State == StateAbsent:
			vanished++
			continue
		case standing.Owner == c.record.Owner && standing.State == StateClaimed && r.Now().Before(c.end):
			return c, Outcome{}, nil // also when our own write's reply was lost
		}
		if o, ok := r.follow(standing, t); ok {
			return claim{}, o, nil
		}
	}
	return claim{}, Outcome{}, ErrVanished
}

// LoadExisting is the record of an intent that is TooOld to run without one. Where it
// has none, or one past its retention, the error is ErrExpired.
func (c Config) LoadExisting(ctx context.Context, k Key) (Record, error) {
	r, err := c.Store.Load(ctx, k.String())
	if err == nil && (r.State == StateAbsent || r.Expired(c.WithDefaults().Now())) {
		return Record{}, ErrExpired
	}
	return r, err
}

// draft is the claim to make next, after the record shown.
func (r runner[P]) draft(ctx context.Context, shown Record, t task[P]) (claim, error) {
	if err := TimeToStart(ctx); err != nil {
		return claim{}, err
	}
	now := r.Now()
	lease := r.leaseUnder(ctx)
	c := claim{fresh: shown.ClaimedAt.IsZero(), lapsed: shown.State == StateClaimed, end: now.Add(lease - time.Millisecond)}
	c.record = Record{
		Intent:      t.key.String(),
		State:       StateClaimed,
		Owner:       NewOwner(),
		Attempt:     shown.Attempt + 1,
		LeaseUntil:  millis(now.Add(lease)),
		ClaimedAt:   shown.ClaimedAt,
		Blind:       r.blind,
		Fingerprint: t.Fingerprint,
		MessageID:   t.MessageID,
	}
	if c.fresh {
		c.record.ClaimedAt = millis(now)
	}
	return c, nil
}

// follow is the outcome that a record of another's dictates. False: it is there
// to be taken over, parked or probed.
func (r runner[P]) follow(standing Record, t task[P]) (Outcome, bool) {
	if o, ok := standing.Answer(t.Fingerprint); ok {
		return o, true
	}
	if wait := r.untilLapsed(standing); standing.State == StateClaimed && wait > 0 {
		return Outcome{Kind: InProgress, Attempt: standing.Attempt, Wait: wait}, true
	}
	return Outcome{}, false
}

// untilLapsed is how long the lease and the skew margin still run.
func (r runner[P]) untilLapsed(rec Record) time.Duration {
	return rec.LeaseUntil.Add(r.SkewMargin).Sub(r.Now())
}

// pastWindow reports whether the provider might forget the key before the claim
// that is to follow would lapse. It holds for released records too: an attempt
// before the released one may have happened.
func (r runner[P]) pastWindow(shown, next Record) bool {
	if r.blind || shown.ClaimedAt.IsZero() {
		return false
	}
	return next.LeaseUntil.Add(r.SkewMargin).After(shown.ClaimedAt.Add(r.window - windowMargin))
}

// released is the record handed back. Only the attempt that set claimed_at may
// clear it: after an earlier attempt that nobody knows the end of, the provider's
// window and the payload still bind.
func released(c claim, reason string) Record {
	rec := c.record
	rec.State = StateReleased
	rec.Reason = clip(reason)
	if c.fresh {
		rec.ClaimedAt = time.Time{}
	}
	return rec
}

// giveBack releases a claim whose effect never began. It may fail: then the
// claim lapses.
func (r runner[P]) giveBack(ctx context.Context, c claim) {
	_, _ = r.Store.Amend(ctx, released(c, "not started"))
}
