package explore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// Class is what is explored.
type Class string

const (
	Keyed  Class = "keyed"
	Blind  Class = "blind" // without a probe
	Probed Class = "probed"
	Ledger Class = "ledger"

	// Grouped is Keyed in a batch with another intent, whose calls it shares.
	Grouped Class = "grouped"

	// Renewed and RenewedProbed are Keyed and Probed under no deadline, so that the
	// lease is renewed while the effect lasts.
	Renewed       Class = "renewed"
	RenewedProbed Class = "renewed-probed"

	// Outlived is Keyed in a world in which the provider's window may end.
	Outlived Class = "outlived"
)

var everyClass = []Class{Keyed, Grouped, Renewed, Outlived, Blind, Probed, RenewedProbed, Ledger}

func (c Class) keyed() bool   { return slices.Contains([]Class{Keyed, Grouped, Renewed, Outlived}, c) }
func (c Class) renewed() bool { return c == Renewed || c == RenewedProbed }

func (c Class) probes() bool { return c == Probed || c == RenewedProbed }

// doubts reports a class that may end in doubt: of the others somebody always knows.
func (c Class) doubts() bool { return c == Blind || c == Outlived }

// breach is an assumption of DESIGN that a history need not keep to.
type breach string

const (
	pauses  breach = "an effect pauses between its last look at the lease and its call for longer than the margins"
	falseNo breach = "a probe's or an operator's no is not final"
	clocks  breach = "clocks differ by more than the margins"
	forgets breach = "the provider forgets its keys within seconds"
	keyless breach = "the provider knows no keys"
)

// setting is what the histories of one search have in common.
type setting struct {
	class  Class
	side   int    // deliveries side by side
	breach breach // of the assumptions, if any
	sdk    bool   // each delivery reaches the table through the SDK's client
}

const (
	// timeout is an invocation's.
	timeout = 30 * time.Second

	// The margins are the defaults of intent.Config.
	leaseMargin, skewMargin = 3 * time.Second, 2 * time.Second

	// probeAfter is how long after a lapsed lease an effect may still be under way.
	probeAfter = 5 * time.Second

	// window is how long the provider says that it remembers a key, early by how much
	// sooner it may forget one.
	window, early = 24 * time.Hour, time.Hour
)

// skew is how far one clock may be ahead of another.
func (s setting) skew() time.Duration {
	if s.breach == clocks {
		return 30 * time.Second
	}
	return leaseMargin + skewMargin
}

// lapse is when every lease that was taken before is over, by any clock, and a
// probe's "no" counts.
func (s setting) lapse() time.Duration {
	return timeout + leaseMargin + skewMargin + probeAfter + 2*s.skew()
}

// passes are the ways in which time passes while calls wait. The first is until
// everything is over; what the others lead to is where something still runs.
func (s setting) passes() []time.Duration {
	const little = 6 * time.Second // with another one it leads into the margins
	switch {
	case s.class.renewed():
		// The renewal is due; the lease is over and what is renewed now is not.
		return []time.Duration{12 * time.Second, 35 * time.Second}
	case s.class == Outlived:
		return []time.Duration{s.lapse(), window, window - early/2}
	case s.breach == clocks:
		return []time.Duration{s.lapse(), 10 * time.Second}
	case s.class == Probed:
		// The lease is over by every clock, and an effect may still be under way.
		return []time.Duration{s.lapse(), timeout + leaseMargin + skewMargin + 2*time.Second, little}
	}
	// The invocation is all but over, and its lease is not.
	return []time.Duration{s.lapse(), timeout - 2*time.Second, little}
}

// body is what a message asks for: the intent's first payload, or another.
type body int

var bodies = []string{`{"cents":10}`, `{"cents":20}`}

type payload struct {
	Cents int64 `json:"cents"`
}

func (b body) cents() int64 { return 10 * int64(b+1) }

func (b body) fingerprint() intent.Fingerprint { return fingerprints[b] }

var fingerprints = func() (all []intent.Fingerprint) {
	for _, b := range bodies {
		f, err := intent.FingerprintOf([]byte(b))
		if err != nil {
			panic(err)
		}
		all = append(all, f)
	}
	return all
}()

var (
	key       = intent.Key{Scope: "proof", Operation: "charge", ID: "k"}
	companion = intent.Key{Scope: "proof", Operation: "charge", ID: "other"}
)

type deliverer interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

type grouper interface {
	Group(members int) (deliver func(context.Context, intent.Delivery) (intent.Outcome, error), leave func())
}

// handler is a process's.
func (k *worker) handler() deliverer {
	w := k.world
	c := intent.Config{Scope: key.Scope, Operation: key.Operation, Store: dynamo.New(w.reach(k), records), Now: k.now}
	switch {
	case w.class.keyed():
		return &intent.Keyed[payload]{Config: c, Window: window, Effect: k.effect}
	case w.class == Ledger:
		return &dynamo.Ledger[payload]{Config: c, Effect: k.ledger}
	case w.class == Blind:
		return &intent.Blind[payload]{Config: c, Effect: k.effect}
	}
	return &intent.Blind[payload]{Config: c, Effect: k.effect, Probe: k.probe, ProbeAfter: probeAfter}
}

// opening is enough for many effects: no second one is refused for want of money.
const opening = 1000

// ledger takes the cents from an account that has enough for one, and counts that.
func (k *worker) ledger(_ context.Context, p payload, _ intent.Attempt) (dynamo.Writes, error) {
	return dynamo.Writes{
		Items: []types.TransactWriteItem{{Update: &types.Update{
			TableName: aws.String(accounts), Key: map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: "a"}},
			UpdateExpression: aws.String("SET balance = balance - :d, taken = taken + :one"), ConditionExpression: aws.String("balance >= :d"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":d": number(p.Cents), ":one": number(1)},
		}}},
		Result: ledgerReceipt(p.Cents),
		Failed: func([]types.CancellationReason) error { return intent.Refuse("insufficient funds") },
	}, nil
}

// ledgerReceipt is made from the payload: a transaction returns no values.
func ledgerReceipt(cents int64) string { return fmt.Sprint("taken ", cents) }

func number(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
