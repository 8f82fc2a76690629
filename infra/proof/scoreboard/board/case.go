package board

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/singleeffect/once/infra/proof/scoreboard/farside"
	"github.com/singleeffect/once/shared/intenttest"
)

// timeout is what an invocation is told that it has, and with it the length of the leases: short, for they are waited for, and long
// enough for a cold start on a busy machine.
const timeout = 3 * time.Second

// receives is after how many deliveries the queue moves a message to its dead-letter queue: AWS advises 5 or more.
const receives = 5

// Case is a schedule of faults and what the promise demands of it.
type Case struct {
	Name  string
	Story string         // what happens
	Right string         // what is right
	want  map[string]int // effects, by intent
	// reported: no message may be acknowledged.
	reported bool

	// The key is made of several fields, as the peer's documentation has it where it requires one.
	composite bool
	// retention of the records; zero is each side's own.
	retention time.Duration
	// What is deleted comes back, which a standard queue does not rule out.
	comesBack bool
	// answerBytes is the size of what the effect returns.
	answerBytes int

	run func(context.Context, *arena) error
}

// Cases are the schedules, in the order of the scoreboard. An intent has a name at the far side that no side looks at.
var Cases = []Case{
	{
		Name:  "lost_claim_reply",
		Story: "the store takes the claim, its reply is lost, the SDK sends it again",
		Right: "1 effect",
		want:  map[string]int{"a": 1},
		run: func(ctx context.Context, a *arena) error {
			a.plan = onClaim(intenttest.Fault{LoseReply: true})
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			a.send("charge", "a", "8821")
			return a.drain(ctx, p)
		},
	},
	{
		Name:  "zombie_completes",
		Story: "frozen after its claim; the message comes again when the lease has lapsed; then it wakes and goes on",
		Right: "1 effect",
		want:  map[string]int{"a": 1},
		run: func(ctx context.Context, a *arena) error {
			claimed, wake := make(chan struct{}), make(chan struct{})
			a.plan = onClaim(intenttest.Fault{After: func() {
				close(claimed)
				select {
				case <-wake:
				case <-ctx.Done():
				}
			}})
			return a.zombie(ctx, claimed, wake)
		},
	},
	{
		Name:  "zombie_fails_late",
		Story: "frozen while its effect is being rejected; the message comes again when the lease has lapsed; then it wakes and fails",
		Right: "1 effect",
		want:  map[string]int{"a": 1},
		run: func(ctx context.Context, a *arena) error {
			rejected, wake := make(chan struct{}), make(chan struct{})
			a.far.Plan = onFirst(farside.Fate{Reject: true, Decided: func() { close(rejected) }, Hold: wake})
			return a.zombie(ctx, rejected, wake)
		},
	},
	{
		Name:  "crash_before_completion",
		Story: "killed between its effect and its completion",
		Right: "1 effect",
		want:  map[string]int{"a": 1},
		run: func(ctx context.Context, a *arena) error {
			done := make(chan struct{})
			a.far.Plan = onFirst(farside.Fate{Decided: func() { close(done) }, Hold: ctx.Done()})
			a.send("charge", "a", "8821")
			victim, err := a.start(ctx)
			if err != nil {
				return err
			}
			ended := a.deliverAside(ctx, victim)
			if err := reach(ctx, done, ended); err != nil {
				return err
			}
			if err := victim.Kill(); err != nil {
				return err
			}
			if err := <-ended; err != nil {
				return err
			}
			next, err := a.start(ctx)
			if err != nil {
				return err
			}
			return a.drain(ctx, next)
		},
	},
	{
		Name:        "result_not_storable",
		Story:       "the effect returns 500 KB, more than an item of the store can hold",
		Right:       "1 effect",
		want:        map[string]int{"a": 1},
		answerBytes: 500 << 10,
		run: func(ctx context.Context, a *arena) error {
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			a.send("charge", "a", "8821")
			return a.drain(ctx, p)
		},
	},
	{
		Name:      "null_key",
		Story:     "two messages of one user, whose key is null",
		Right:     "0 effects, both reported",
		want:      map[string]int{"a": 0, "b": 0},
		reported:  true,
		composite: true,
		run: func(ctx context.Context, a *arena) error {
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			a.send("charge", "a", "null")
			a.send("charge", "b", "null")
			return a.drain(ctx, p)
		},
	},
	{
		Name:  "big_ids",
		Story: "two messages with the keys 2^53 and 2^53 + 1",
		Right: "2 effects, one each",
		want:  map[string]int{"a": 1, "b": 1},
		run: func(ctx context.Context, a *arena) error {
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			a.send("charge", "a", fmt.Sprint(1<<53))
			a.send("charge", "b", fmt.Sprint(1<<53+1))
			return a.drain(ctx, p)
		},
	},
	{
		Name:  "two_operations",
		Story: "one function with two operations and one table; both are asked for under the same key",
		Right: "2 effects, one each",
		want:  map[string]int{"charge": 1, "ship": 1},
		run: func(ctx context.Context, a *arena) error {
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			a.send("charge", "charge", "8821")
			if err := a.drain(ctx, p); err != nil {
				return err
			}
			a.send("ship", "ship", "8821")
			return a.drain(ctx, p)
		},
	},
	{
		Name:      "short_retention",
		Story:     "records are kept for less time than messages; one message is delivered again when its record is gone",
		Right:     "1 effect",
		want:      map[string]int{"a": 1},
		retention: 6 * time.Second,
		comesBack: true,
		run: func(ctx context.Context, a *arena) error {
			p, err := a.start(ctx)
			if err != nil {
				return err
			}
			m := a.send("charge", "a", "8821")
			if err := a.drain(ctx, p); err != nil {
				return err
			}
			if err := a.expire(ctx, m); err != nil {
				return err
			}
			a.pass()
			return a.drain(ctx, p)
		},
	},
}

// Named is the case of that name.
func Named(name string) Case {
	i := slices.IndexFunc(Cases, func(c Case) bool { return c.Name == name })
	return Cases[i]
}

// onClaim spoils the first claim: on each side a PutItem.
func onClaim(f intenttest.Fault) func(intenttest.Call) intenttest.Fault {
	return func(c intenttest.Call) intenttest.Fault {
		if c.Operation == "PutItem" && c.Number == 1 {
			return f
		}
		return intenttest.Fault{}
	}
}

// onFirst decides the first call of the far side.
func onFirst(f farside.Fate) func(int) farside.Fate {
	return func(call int) farside.Fate {
		if call == 1 {
			return f
		}
		return farside.Fate{}
	}
}
