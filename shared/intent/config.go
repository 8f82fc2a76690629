package intent

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"
)

const (
	// minStart is what must be left before the deadline for a claim to be made:
	// time for the effect, for its completion and for the answer.
	minStart = time.Second

	// answerReserve is kept free at the end of an invocation, so that the answer
	// leaves before the kill. No call to the store runs into it.
	answerReserve = 250 * time.Millisecond

	// afterCancel is how long the store may still be written to once the caller has
	// given up, as on a signal to stop.
	afterCancel = 2 * time.Second

	// An effect's context ends maxReserve before the deadline: time for it to heed
	// its cancellation, and for its completion to be repeated. Where less than
	// twice that is left it gets half of it; with minReserve or less it is not
	// started.
	minReserve = 500 * time.Millisecond
	maxReserve = 1200 * time.Millisecond

	// windowMargin is kept free at the end of a provider's window: providers
	// state theirs as "at least", and clocks differ.
	windowMargin = time.Hour

	// defaultProbeAfter is how long after a lapsed lease a probe's "no" does not
	// count yet.
	defaultProbeAfter = time.Minute

	day = 24 * time.Hour

	// DefaultMaxAge is 4 days in a queue, 14 in its dead-letter queue, and one of slack.
	DefaultMaxAge = 19 * day

	// maxVanished bounds the claims made while the record that refuses them
	// cannot be found.
	maxVanished = 3

	// maxReason bounds a record's reason, in bytes: a failed conditional put is
	// billed on the size of the item that is already there.
	maxReason = 256
)

// Config is what the classes of effect share.
type Config struct {
	// Scope tells this deployment's intents and downstream keys from those of
	// others on the same provider account, and never comes from a message.
	// Required.
	Scope string

	// Operation is the name of the effect within the scope. Required.
	Operation string

	// Store keeps the records. Required.
	Store Store

	// Retention is how long a final record is remembered, counted from its end. It is
	// 2 × MaxAge and 2 days at least: one redrive may make the time of a message start
	// anew, and the other two days are for clocks and for the invocation. Defaults to
	// 90 days.
	Retention time.Duration

	// MaxAge is how old an intent may be, by Delivery.SentAt, to run where it has no
	// record. It covers the retention of the queue and of its dead-letter queue. It
	// does not follow Retention: a record that was written under a shorter one is gone
	// earlier. Before MaxAge is raised, Retention must have been 2 × the new MaxAge and
	// 2 days for as long as the new MaxAge. Defaults to 19 days.
	MaxAge time.Duration

	// LeaseMargin is how long after the invocation's deadline a claim still
	// stands: Lambda has been seen to kill 0.7 s late, and clocks differ.
	// Defaults to 3 s.
	LeaseMargin time.Duration

	// SkewMargin is how long after the end of a lease others wait before they
	// take over. Defaults to 2 s.
	SkewMargin time.Duration

	// Lease is the length of a claim made under a context without a deadline; it
	// is renewed by a heartbeat every third of it. Defaults to 30 s.
	Lease time.Duration

	// Now is the wall clock. Defaults to time.Now.
	Now func() time.Time
}

// WithDefaults returns the config with its zero fields filled in.
func (c Config) WithDefaults() Config {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.Retention, 90*day)
	def(&c.MaxAge, DefaultMaxAge)
	def(&c.LeaseMargin, 3*time.Second)
	def(&c.SkewMargin, 2*time.Second)
	def(&c.Lease, 30*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Validate returns a *ConfigError for the first field that is missing or clashes
// with another.
func (c Config) Validate() error {
	c = c.WithDefaults()
	if c.Store == nil {
		return &ConfigError{"Store", "is missing"}
	}
	if err := (Key{Scope: c.Scope, Operation: c.Operation, ID: "-"}).Validate(); err != nil {
		return &ConfigError{"Scope or Operation", "is unusable: " + err.Error()}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"Retention", c.Retention}, {"MaxAge", c.MaxAge}, {"LeaseMargin", c.LeaseMargin}, {"SkewMargin", c.SkewMargin}, {"Lease", c.Lease}} {
		if err := validDuration(d.field, d.value); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"LeaseMargin", c.LeaseMargin}, {"SkewMargin", c.SkewMargin}} {
		if d.value > day {
			return &ConfigError{d.field, fmt.Sprintf("of %v is longer than a day", d.value)}
		}
	}
	if c.Lease < 3*time.Second || c.Lease > day {
		return &ConfigError{"Lease", fmt.Sprintf("of %v cannot be renewed in time, want 3s to 24h", c.Lease)}
	}
	if c.MaxAge > (c.Retention-2*day)/2 {
		return &ConfigError{"Retention", fmt.Sprintf("of %v is shorter than twice the MaxAge of %v and 2 days", c.Retention, c.MaxAge)}
	}
	return nil
}

// validDuration refuses what is negative, or so long that sums with it overflow.
func validDuration(field string, d time.Duration) error {
	const longest = 100 * 365 * day
	switch {
	case d < 0:
		return &ConfigError{field, fmt.Sprintf("is negative: %v", d)}
	case d > longest:
		return &ConfigError{field, fmt.Sprintf("of %v is longer than 100 years", d)}
	}
	return nil
}

// Key returns the intent key of a caller's key, or a *KeyError.
func (c Config) Key(id string) (Key, error) {
	k := Key{Scope: c.Scope, Operation: c.Operation, ID: id}
	return k, k.Validate()
}

// leaseUnder is how long a claim made now is to stand: until the invocation's
// deadline and the margin after it.
func (c Config) leaseUnder(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline) + c.LeaseMargin
	}
	return c.Lease
}

// TooOld reports an intent that must not run where it has no record: it was sent
// longer ago than MaxAge, so it may have had a record that has expired. The zero time
// is not known to be old. A claim of a younger intent cannot come too late: the
// retention that its record has exceeds MaxAge by more than an invocation.
func (c Config) TooOld(sent time.Time) bool {
	c = c.WithDefaults()
	return !sent.IsZero() && c.Now().After(sent.Add(c.MaxAge))
}

// NewOwner draws the token of one claim: 130 random bits in 26 characters.
func NewOwner() string { return rand.Text() }

// StoreContext bounds the calls to the store within an invocation, so that time
// is left for the answer. It outlives a cancellation of ctx by 2 s: what an
// effect did is written down also when its caller waits no more.
func StoreContext(ctx context.Context) (context.Context, context.CancelFunc) {
	own := context.WithoutCancel(ctx)
	var cancel context.CancelFunc
	if deadline, ok := ctx.Deadline(); ok {
		own, cancel = context.WithDeadline(own, deadline.Add(-answerReserve))
	} else {
		own, cancel = context.WithCancel(own)
	}
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(afterCancel, cancel) })
	return own, func() {
		stop()
		cancel()
	}
}

// EffectContext bounds an effect within an invocation. It has no deadline where
// ctx has none.
func EffectContext(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, _ := ctx.Deadline()
	return endEarly(ctx, max(minReserve, min(maxReserve, time.Until(deadline)/2)))
}

// endEarly returns ctx with a deadline that much earlier, if it has one.
func endEarly(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-by))
	}
	return context.WithCancel(ctx)
}

// TimeToStart returns ErrNoTime when less than a second is left before ctx's
// deadline.
func TimeToStart(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < minStart {
		return ErrNoTime
	}
	return ctx.Err()
}
