package explore

import "time"

// Class is what is explored: a class of effect, and what is special in its world.
type Class string

const (
	Keyed  Class = "keyed"
	Blind  Class = "blind" // without a probe
	Probed Class = "probed"
	Ledger Class = "ledger"

	// Grouped is Keyed in a batch with another intent, whose calls it shares. Trio is
	// a batch of three, of which the third may be a second message of the first intent.
	Grouped Class = "grouped"
	Trio    Class = "trio"

	// Renewed and RenewedProbed are Keyed and Probed under no deadline, so that the
	// lease is renewed while the effect lasts.
	Renewed       Class = "renewed"
	RenewedProbed Class = "renewed-probed"

	// Outlived is Keyed in a world in which the provider's window may end, and
	// GroupedOutlived the same of a batch.
	Outlived        Class = "outlived"
	GroupedOutlived Class = "grouped-outlived"

	// NestedKeyed and NestedBlind are effects that deliver another intent, before
	// their own call or after it, and return the error of that delivery.
	NestedKeyed Class = "nested-keyed"
	NestedBlind Class = "nested-blind"

	// Aged, AgedGrouped and AgedLedger live for months: messages carry the time of
	// their intent and come late, records expire and are deleted, the retention is
	// changed, and a newer release leaves records of its own format.
	Aged        Class = "aged"
	AgedGrouped Class = "aged-grouped"
	AgedLedger  Class = "aged-ledger"

	// Large and LargeLedger are Keyed and Ledger with results that a sibling item keeps.
	Large       Class = "large"
	LargeLedger Class = "large-ledger"

	// Written and WrittenProbed are Keyed and Probed whose completions commit a write.
	Written       Class = "written"
	WrittenProbed Class = "written-probed"

	// Reclassed is an operation that each delivery may run as another class.
	Reclassed Class = "reclassed"
)

// traits are what a class is explored with.
type traits struct {
	kind     Class // Keyed, Blind or Ledger: whose promise holds
	members  int   // deliveries in a batch; 0: one, and no batch
	probes   bool
	renewed  bool // no deadline
	outlived bool // time passes the provider's window
	nested   bool // the effect delivers another intent
	aged     bool // time passes the retention
	large    bool // results are too large for the record
	written  bool // a completion commits a write
	changes  bool // the class is not the same in every delivery
	stalls   bool // a process may stand still between its claim and its effect

	// deep is how many deviations the exhaustive search makes at the most of one, two
	// and three deliveries side by side. Zero: it searches no such histories.
	deep [3]int
}

// everyClass is explored. Where one more deviation would take as long as all else, it
// is left to chance.
var everyClass = []Class{
	Keyed, Grouped, Renewed, Outlived, Blind, Probed, RenewedProbed, Ledger,
	Trio, GroupedOutlived, NestedKeyed, NestedBlind, Aged, AgedGrouped, AgedLedger, Large, LargeLedger, Written, WrittenProbed, Reclassed,
}

var traitsOf = map[Class]traits{
	Keyed:         {kind: Keyed, stalls: true, deep: [3]int{3, 3, 2}},
	Grouped:       {kind: Keyed, members: 2, deep: [3]int{3, 3, 2}},
	Renewed:       {kind: Keyed, renewed: true, stalls: true, deep: [3]int{3, 3, 2}},
	Outlived:      {kind: Keyed, outlived: true, stalls: true, deep: [3]int{3, 3, 2}},
	Blind:         {kind: Blind, stalls: true, deep: [3]int{3, 3, 2}},
	Probed:        {kind: Blind, probes: true, stalls: true, deep: [3]int{3, 3, 2}},
	RenewedProbed: {kind: Blind, probes: true, renewed: true, stalls: true, deep: [3]int{3, 3, 2}},
	Ledger:        {kind: Ledger, deep: [3]int{3, 3, 2}},

	Trio:            {kind: Keyed, members: 3, deep: [3]int{2, 2, 1}},
	GroupedOutlived: {kind: Keyed, members: 2, outlived: true, deep: [3]int{2, 2, 1}},
	NestedKeyed:     {kind: Keyed, nested: true, deep: [3]int{2, 2, 1}},
	NestedBlind:     {kind: Blind, nested: true, deep: [3]int{2, 2, 1}},
	Aged:            {kind: Keyed, aged: true, deep: [3]int{3, 2, 1}},
	AgedGrouped:     {kind: Keyed, members: 2, aged: true, deep: [3]int{2, 2, 1}},
	AgedLedger:      {kind: Ledger, aged: true, deep: [3]int{3, 2, 1}},
	Large:           {kind: Keyed, large: true, deep: [3]int{3, 2, 1}},
	LargeLedger:     {kind: Ledger, large: true, deep: [3]int{3, 2, 1}},
	Written:         {kind: Keyed, written: true, deep: [3]int{3, 2, 1}},
	WrittenProbed:   {kind: Blind, probes: true, written: true, deep: [3]int{3, 2, 1}},
	Reclassed:       {kind: Keyed, changes: true, deep: [3]int{3, 2, 1}},
}

func (c Class) traits() traits { return traitsOf[c] }

// doubts reports a class that may end in doubt: of the others somebody always knows.
func (c Class) doubts() bool {
	t := c.traits()
	return t.kind == Blind || t.outlived || t.changes || t.aged && t.kind == Keyed
}

// passes are the ways in which time passes while calls wait. The first is until
// everything is over; what the others lead to is where something still runs.
func (s setting) passes() []time.Duration {
	const little = 6 * time.Second // with another one it leads into the margins
	switch t := s.class.traits(); {
	case t.renewed:
		// The renewal is due; the lease is over and what is renewed now is not.
		return []time.Duration{12 * time.Second, 35 * time.Second}
	case t.outlived:
		return []time.Duration{s.lapse(), window, window - early/2}
	case s.breach == clocks:
		return []time.Duration{s.lapse(), 10 * time.Second}
	case t.probes:
		// The lease is over by every clock, and an effect may still be under way.
		return []time.Duration{s.lapse(), timeout + leaseMargin + skewMargin + 2*time.Second, little}
	}
	// The invocation is all but over, and its lease is not.
	return []time.Duration{s.lapse(), timeout - 2*time.Second, little}
}
