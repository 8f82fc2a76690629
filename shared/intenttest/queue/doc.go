// Package queue is the part of SQS that decides which message is delivered when. It is one model for all that needs a queue: the
// local stack puts SQS's protocol before it, the system tests run it in virtual time, and the proofs deliver by it.
//
//	           delay over                       received
//	delayed ───────────────▶ visible ──────────────────────▶ in flight ──deleted──▶ gone
//	                            ▲  │                             │
//	                            │  └─ receive N+1 ─▶ dead-letter │ visibility timeout over,
//	                            │                    queue       │ or changed
//	                            └────────────────────────────────┘
//	(past its retention a message is gone from wherever it is)
//
// # Promise
//
// A Queue is a value: it has no goroutine, no clock and no source of chance of its own. Each call is told the time, which must not
// go back, and what SQS leaves open is asked of a Chooser. The same calls with the same answers give the same results. Without a
// Chooser nothing happens by chance: the oldest message comes first, each is delivered once in its visibility timeout, and what is
// deleted stays so.
//
// # Limits
//
// There is no lock: who calls from several goroutines brings one, which must span a queue and its dead-letter queue. There is no
// validation: names, sizes and characters are for who speaks SQS's protocol. Counts are exact where AWS says "approximate", and a
// redrive moves all at once.
//
// # Sources
//
// Facts are from the Amazon SQS developer guide ("guide") and API reference ("API"), by the names of their pages.
package queue
