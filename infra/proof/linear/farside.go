package linear

import (
	"fmt"
	"math/rand/v2"
)

// far is the far side of one intent. It counts what happens there, and answers as the
// class's far side would: a provider that takes idempotency keys sticks to its first
// final answer; what knows no keys makes each call one more effect; a ledger's is
// asked only whether it may, and its effects are counted in its table.
type far struct {
	class    Class
	declines bool // the business's no to this intent
	first    *reply
	calls    int
	effects  int
	again    int // deliveries that called a second time
}

// call is an effect that arrives. Unless it is a final answer's repetition chance
// decides what becomes of it.
func (f *far) call(delivery int, random *rand.Rand) reply {
	f.calls++
	if f.class == Ledger {
		r := reply{yes, fmt.Sprintf("receipt %d", delivery)}
		if f.declines {
			r.Verdict = declined
		}
		return r
	}
	if f.class != Blind && f.first != nil {
		return *f.first
	}
	switch random.IntN(10) {
	case 0:
		return reply{Verdict: no}
	case 1:
		return reply{Verdict: silent}
	}
	r := reply{yes, fmt.Sprintf("receipt %d", f.calls)}
	if f.declines {
		r.Verdict = declined
	} else {
		f.effects++
	}
	f.first = &r
	if random.IntN(10) == 0 {
		return reply{Verdict: silent} // it happened, and nobody hears of it
	}
	return r
}
