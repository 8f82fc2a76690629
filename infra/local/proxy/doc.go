// Package proxy stands on the wire between a caller and a service and spoils what
// they say to each other.
//
// It knows bytes and no protocol. What it needs is that the two take turns, as they
// do in HTTP/1.1 without pipelining: what a caller says until it is answered, and
// the answer, are one exchange, and each exchange has one Fate.
//
//	          ┌───────── before ─────────┐          ┌────────── after ─────────┐
//	caller ───┤ hold, drop, reset, cut,  ├──▶ service, applies it and answers ──┤
//	          │ kill the caller          │          │ hold, drop, reset, cut,  ├──▶ caller
//	          └──────────────────────────┘          │ kill the caller          │
//	                                                └──────────────────────────┘
//
// A request that is on its way arrives, whatever has become of its caller meanwhile:
// one that is held may be applied when the caller has given up, and one whose caller
// is killed is applied for nobody. An answer's first byte says that the service has
// done what it was asked; so the faults after it are lost replies, and counted.
package proxy
