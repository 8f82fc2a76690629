package proxy

import "time"

// Fault is what goes wrong in an exchange.
type Fault int

const (
	// None: the exchange goes well.
	None Fault = iota
	// Hold: what was said goes on after a while.
	Hold
	// Drop: what was said never arrives. The connection stays, and the caller waits.
	Drop
	// Reset: what was said never arrives, and the caller's connection is reset.
	Reset
	// Cut: half of what was said arrives, and then the connection ends as if that had been all.
	Cut
	// Kill: the caller is killed. What it was saying arrives, what it was about to hear does not.
	Kill
)

// Fate is what becomes of one exchange. The zero Fate is a good one.
type Fate struct {
	Fault Fault

	// After: it meets the answer, and so an exchange that was applied. Else it meets the request.
	After bool

	// For is how long Hold holds.
	For time.Duration
}
