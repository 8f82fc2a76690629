package intent

import "context"

// Store keeps records. It has one method for each guard a write can have, and
// every write is one atomic conditional step.
//
// Every method returns the record that stands after the call, and the caller
// decides by what it is shown, never by what it remembers: a write whose reply
// was lost is repeated, fails its own condition, and is recognised because the
// record that stands carries our owner and the state we wrote. An error means
// that what stands is not known; the write may have landed. A *FormatError
// means that a record stands which this release cannot read. Amend and Replace
// commit the Writes of a final record in the same step, or nothing: a failure of
// theirs is ErrWritesRejected.
//
// Throttling and conflicts with transactions are retried until ctx ends, for 30 s
// under a ctx without a deadline.
type Store interface {
	// Claim puts next where no record stands or one past its retention, whole.
	//
	//	absent, expired     next
	//	any other           the record that stands, unchanged
	//	lost reply          next, or what became of it
	//	vanished            the zero Record: refused by a record that is gone now
	Claim(ctx context.Context, next Record) (Record, error)

	// Amend moves the owner's record to next.State, from the states that
	// Transitions lists for ByOwner.
	//
	//	ours, allowed       next
	//	absent              the zero Record; nothing is created
	//	another's, settled  the record that stands, unchanged
	//	lost reply          next, or what became of it
	Amend(ctx context.Context, next Record) (Record, error)

	// Replace moves the record to next.State, from the states that Transitions
	// lists for ByShown, if it still has the state, owner and lease of shown.
	//
	//	as shown, allowed   next
	//	absent              the zero Record; nothing is created
	//	changed since       the record that stands, unchanged
	//	lost reply          next, or what became of it
	Replace(ctx context.Context, shown, next Record) (Record, error)

	// Load reads the record consistently; the zero Record if there is none.
	Load(ctx context.Context, intent string) (Record, error)
}

// Grouper is a Store that can write several records in one call.
type Grouper interface {
	// Group returns the store for a batch of that many deliveries side by side. Each
	// of them calls leave once when it has ended, so that the others are not kept
	// waiting for its writes.
	Group(members int) (s Store, leave func())
}
