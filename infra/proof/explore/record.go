package explore

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// subject is one intent of the world, as it is watched.
type subject struct {
	key     intent.Key
	kind    Class                           // Keyed, Blind or Ledger
	last    intent.Record                   // as it stands
	tokens  []token                         // every owner that was seen
	setter  string                          // the owner whose claim set claimed_at
	blindly bool                            // a Blind effect may have happened since claimed_at was set
	foreign map[string]types.AttributeValue // the record, once a newer release has written it
	from    int                             // the first worker since it had no record
	before  tally                           // what happened before that

	// What the intent had come to, what had happened and who had delivered it, when
	// months had passed.
	yet      ending
	yetCount tally
	yetFrom  int
}

// token is an owner, and who drew it.
type token struct {
	owner string
	by    *worker
}

// known is the place of an owner among those seen; -1 if it was not.
func (s *subject) known(owner string) int {
	return slices.IndexFunc(s.tokens, func(t token) bool { return t.owner == owner })
}

// holder is the worker who drew that owner; nil if none did.
func (s *subject) holder(owner string) *worker {
	if n := s.known(owner); n >= 0 {
		return s.tokens[n].by
	}
	return nil
}

func (w *world) read(s *subject) intent.Record {
	r, err := w.store.Load(context.Background(), s.key.String())
	if err != nil {
		w.fail("the record cannot be read: %v", err)
	}
	return r
}

// changed looks at the records after a call that may have changed them. It was a
// worker's, or an operator's.
func (w *world) changed(what string, by *worker) {
	w.judging.Lock()
	defer w.judging.Unlock()
	for _, s := range w.subjects {
		if s.foreign != nil {
			w.kept(s, what)
			continue
		}
		before, now := s.last, w.read(s)
		if w.unwritten(s, now) {
			w.fail("%s: the record of %s is %q, and the completion's write is not as it is", what, s.key.ID, now.State)
		}
		if reflect.DeepEqual(before, now) {
			continue
		}
		if by != nil && now.Owner != before.Owner && expired(before, by.clock()) {
			w.expires(s)
			before = intent.Record{}
		}
		c := change{
			before: before, now: now, own: by == s.holder(before.Owner), drawn: s.known(now.Owner) < 0, setter: before.Owner == s.setter, settled: by == nil,
		}
		if by != nil {
			c.conflict = by.bodyFor(s).fingerprint() != before.Fingerprint && !before.ClaimedAt.IsZero()
			c.lapsed = !by.clock().Before(before.LeaseUntil.Add(skewMargin))
			c.settled = !by.clock().Before(before.LeaseUntil.Add(skewMargin + probeAfter))
			if now.Owner != before.Owner || now.State != intent.StateClaimed { // else it is a renewal
				by.holds(s.key, now.State == intent.StateClaimed && now.MessageID == by.messageID())
			}
			if !by.ends.IsZero() {
				c.least = by.ends.Add(by.skew + leaseMargin - time.Millisecond)
				if w.nested && s != w.subjects[by.told[0].subject] {
					c.least = c.least.Add(-effectReserve)
				}
			}
			c.old = before.State == intent.StateAbsent && by.old()
			c.inner = c.own && by.decidedByInner(s, now)
			if now.State == intent.StateClaimed {
				by.lease = now.LeaseUntil.Add(-by.skew)
			}
		}
		s.last = now
		if c.drawn {
			s.tokens = append(s.tokens, token{now.Owner, by})
		}
		if now.State == intent.StateClaimed && before.ClaimedAt.IsZero() {
			s.setter, s.blindly = now.Owner, false
		}
		w.say("  record of %s %s: %s of owner %d -> %s of owner %d, attempt %d", s.key.Operation, s.key.ID,
			cmp.Or(before.State, "absent"), 1+s.known(before.Owner), now.State, 1+s.known(now.Owner), now.Attempt)
		if fault := c.fault(); fault != "" {
			w.fail("%s: %s", what, fault)
		}
	}
}

// change is one of a record, and what is known of who made it.
type change struct {
	before, now intent.Record
	own         bool      // by the worker whose claim stood before
	lapsed      bool      // the lease that stood before, and the margin after it, are over by the clock of who made it
	settled     bool      // so is the settle time, and a "no" counts
	least       time.Time // how long a new claim's lease must be, by the clock of who made it: for its invocation and the margin
	drawn       bool      // the owner is one that was never seen
	setter      bool      // the claim that stood before was the one that set claimed_at
	conflict    bool      // by a delivery of another payload than the one that the record is bound to
	old         bool      // where no record stood, by a delivery of an intent that is older than MaxAge
	inner       bool      // by an effect that returned an inner intent's error
}

// fault says what is wrong with the change: it must be one that the table lists, of
// what DESIGN says may change with it, and leave a record as DESIGN describes it.
func (c change) fault() string {
	switch before, now := c.before, c.now; {
	case before.State.Final():
		return fmt.Sprintf("changes a final record: %s -> %s", before.State, now.State)
	case c.conflict:
		return "a conflict changes the record"
	case c.old:
		return "an intent older than MaxAge is run, and it has no record"
	case c.inner:
		return "an inner intent's verdict decides the outer one"
	case !listed(before.State, now.State):
		return fmt.Sprintf("no transition %q -> %q", before.State, now.State)
	case now.State.Final() != !now.ExpiresAt.IsZero() || now.State.Final() != !now.CompletedAt.IsZero():
		return fmt.Sprintf("%s with expires_at %v and completed_at %v", now.State, now.ExpiresAt, now.CompletedAt)
	// What is released by a verdict stays listed until it is claimed: nobody may be left to do so.
	case now.State != intent.StateReleased && now.OpenSince.IsZero() == (now.State == intent.StateInDoubt):
		return fmt.Sprintf("%s, and listed for operators since %v", now.State, now.OpenSince)
	case now.Fingerprint != before.Fingerprint && !before.ClaimedAt.IsZero():
		return "another fingerprint, while claimed_at stands"
	case now.State == intent.StateClaimed && (before.State != intent.StateClaimed || now.Owner != before.Owner):
		return c.claim()
	case now.Attempt != max(before.Attempt, 1):
		return fmt.Sprintf("attempt %d -> %d without a claim", before.Attempt, now.Attempt)
	case now.State == intent.StateClaimed:
		return c.renewal()
	case now.State == intent.StateReleased:
		return c.release()
	}
	return c.end()
}

func listed(from, to intent.State) bool {
	for _, t := range intent.Transitions {
		if t.From == from && t.To == to {
			return true
		}
	}
	return false
}

func (c change) claim() string {
	before, now := c.before, c.now
	switch {
	case !c.drawn || now.Owner == "":
		return "a claim under an old owner token"
	case now.Attempt != before.Attempt+1:
		return fmt.Sprintf("claim: attempt %d -> %d", before.Attempt, now.Attempt)
	case now.LeaseUntil.IsZero() || now.ClaimedAt.IsZero():
		return "a claim without lease_until or claimed_at"
	case now.LeaseUntil.Before(c.least):
		return fmt.Sprintf("a lease that ends %v too early for its invocation", c.least.Sub(now.LeaseUntil))
	case !before.ClaimedAt.IsZero() && !now.ClaimedAt.Equal(before.ClaimedAt):
		return "a takeover moves claimed_at"
	case before.State == intent.StateClaimed && !c.lapsed:
		return "a takeover of a lease that runs"
	}
	return ""
}

func (c change) renewal() string {
	switch {
	case !c.own:
		return "a renewal of another's claim"
	case !c.now.LeaseUntil.After(c.before.LeaseUntil):
		return "a renewal that does not move the lease on"
	case !c.now.ClaimedAt.Equal(c.before.ClaimedAt):
		return "a renewal moves claimed_at"
	}
	return ""
}

func (c change) release() string {
	if c.before.State == intent.StateInDoubt { // settled
		switch {
		case !c.drawn || c.now.Owner == "":
			return "a doubt settled as not having happened keeps its owner"
		case !c.now.ClaimedAt.IsZero():
			return "a doubt settled as not having happened keeps claimed_at"
		case !c.settled:
			return "a no that counts too early"
		}
		return ""
	}
	switch {
	case !c.own || c.now.Owner != c.before.Owner:
		return "a release of another's claim"
	case c.setter != c.now.ClaimedAt.IsZero():
		return fmt.Sprintf("release: claimed_at was set by this claim: %t, and is cleared: %t", c.setter, c.now.ClaimedAt.IsZero())
	}
	return ""
}

// end is how a claim or a doubt ends otherwise.
func (c change) end() string {
	before, now := c.before, c.now
	switch {
	case before.State == intent.StateAbsent: // a ledger's commit
		return ""
	case now.Owner != before.Owner || !now.ClaimedAt.Equal(before.ClaimedAt) || !now.LeaseUntil.Equal(before.LeaseUntil):
		return "it ends with another owner, claimed_at or lease"
	case before.State == intent.StateClaimed && !c.own && now.State.Final():
		return "an end of another's claim"
	case before.State == intent.StateClaimed && !c.own && !c.lapsed:
		return "another's claim parked while its lease runs"
	}
	return ""
}
