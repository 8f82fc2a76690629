package intent

// State is how far an intent has come.
type State string

const (
	// StateAbsent is the state of an intent without a record: never claimed, or
	// expired.
	StateAbsent State = ""

	// StateClaimed is entered by a claim or a takeover and left by the owner's
	// completion, refusal, release or park, or by another's takeover or park
	// once the lease has lapsed.
	StateClaimed State = "claimed"

	// StateReleased is entered when the effect said it did not happen, or when a doubt
	// was settled so; the next delivery takes it over.
	StateReleased State = "released"

	// StateCompleted is final: the effect happened, its result is replayed.
	StateCompleted State = "completed"

	// StateRefused is final: the business said no, its reason is replayed.
	StateRefused State = "refused"

	// StateInDoubt is entered when nobody can say whether the effect happened. It is
	// left by its own owner coming back, by a probe, or by an operator.
	StateInDoubt State = "in_doubt"
)

// Known reports whether s is a state a record can stand in.
func (s State) Known() bool {
	switch s {
	case StateClaimed, StateReleased, StateCompleted, StateRefused, StateInDoubt:
		return true
	}
	return false
}

// Final reports whether s is never left until it expires.
func (s State) Final() bool { return s == StateCompleted || s == StateRefused }

// Guard is what a write to a record is conditional on.
type Guard string

const (
	// ByAbsence: no record stands, or one whose retention is over.
	ByAbsence Guard = "absence"

	// ByOwner: the record names our owner token and a state the table allows.
	ByOwner Guard = "owner"

	// ByShown: the record has exactly the state, owner and lease we were shown.
	// Owner and attempt alone are not enough: the owner's completion may land
	// between the look and the write.
	ByShown Guard = "shown"
)

// Transition is one way a record changes.
type Transition struct {
	Verb     string
	From, To State
	Guard    Guard
}

// Transitions is the one table of how records change. The stores take the
// states a write may start from out of it, and the documentation and the tests
// are compared with it.
var Transitions = []Transition{
	{"claim", StateAbsent, StateClaimed, ByAbsence},
	{"commit", StateAbsent, StateCompleted, ByAbsence}, // Ledger: record and effect in one transaction
	{"commit", StateAbsent, StateRefused, ByAbsence},   // Ledger: the refusal alone

	{"renew", StateClaimed, StateClaimed, ByOwner},
	{"complete", StateClaimed, StateCompleted, ByOwner},
	{"refuse", StateClaimed, StateRefused, ByOwner},
	{"release", StateClaimed, StateReleased, ByOwner},
	{"park", StateClaimed, StateInDoubt, ByOwner},
	// Who ran the effect knows best, also after another parked its claim.
	{"complete", StateInDoubt, StateCompleted, ByOwner},
	{"refuse", StateInDoubt, StateRefused, ByOwner},

	{"takeover", StateClaimed, StateClaimed, ByShown},
	{"takeover", StateReleased, StateClaimed, ByShown},
	{"open", StateClaimed, StateClaimed, ByShown}, // its message was given up
	{"park", StateClaimed, StateInDoubt, ByShown},
	{"park", StateReleased, StateInDoubt, ByShown},
	{"settle", StateInDoubt, StateCompleted, ByShown},
	{"settle", StateInDoubt, StateRefused, ByShown},
	{"settle", StateInDoubt, StateReleased, ByShown},
}

// Sources returns the states from which a write under the guard may lead to
// the state, in the table's order.
func Sources(to State, guard Guard) []State {
	var from []State
	for _, t := range Transitions {
		if t.To == to && t.Guard == guard {
			from = append(from, t.From)
		}
	}
	return from
}
