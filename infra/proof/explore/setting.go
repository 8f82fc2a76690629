package explore

import (
	"time"

	"github.com/singleeffect/once/shared/intent"
)

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

	// effectReserve is how much sooner than its invocation an effect ends, and with
	// it the invocation of an intent that it delivers.
	effectReserve = 1200 * time.Millisecond

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

// body is what a message asks for: the intent's first payload, or another.
type body int

var bodies = []string{`{"cents":10}`, `{"cents":20}`}

type payload struct {
	Cents int64 `json:"cents"`
}

func (b body) cents() int64 { return 10 * int64(b+1) }

func (b body) payload() intent.Payload { return payloads[b] }

func (b body) fingerprint() intent.Fingerprint { return fingerprints[b] }

var payloads, fingerprints = func() (all []intent.Payload, prints []intent.Fingerprint) {
	for _, b := range bodies {
		p, err := intent.ParsePayload([]byte(b))
		if err != nil {
			panic(err)
		}
		all, prints = append(all, p), append(prints, p.Fingerprint())
	}
	return all, prints
}()
