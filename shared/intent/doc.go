// Package intent makes an effect happen once per intent, however often the
// message that asks for it is delivered.
//
// The caller names its intent with a key. Each delivery tries to put a record
// under that key where none stands; the one that wins runs the effect and
// completes the record; every later delivery gets the first outcome.
//
// # Promise
//
// What can be promised depends on what the effect can be told, so an effect
// declares its class:
//
//	Keyed          a call to a provider that takes an idempotency key: takes effect
//	               once within the provider's window; past it, in doubt
//	Blind          a call to something that knows no keys: at most once; in doubt
//	               if a crash leaves its outcome unknown
//	dynamo.Ledger  writes to DynamoDB: take effect once within the record's
//	               retention, in one transaction with the record
//	Natural        an absolute assignment or a bounded delete: the end state is right
//	               however often and however late it comes; no key, no record
//
// A Keyed or Blind effect may hand back a Completion, whose writes commit with its
// record's completion or not at all.
//
// # Limits
//
// A record is remembered for its retention (90 days unless set). An intent that is
// older than Config.MaxAge (19 days unless set) by Delivery.SentAt, and has no record or
// one past its retention, is not run: ErrExpired. One whose time is not known runs
// again. A claim is
// exclusive while clocks differ by less, and processes stall for less, than the
// margins in Config: a stall between the last look at the lease and the call is
// what no client can exclude. For Keyed the provider's key still stands between
// such a stall and a second effect; for
// Blind nothing does.
//
// # States
//
//	            claim                 complete
//	(absent) ──────────▶ claimed ──────────────────▶ completed
//	                     │ ▲ │ ▲      refuse             ▲
//	             release │ │ │ └─ renew, takeover   ┌──▶ refused
//	                     ▼ │ │                      │    ▲
//	                released │ park                 │    │
//	                  ▲  │   ▼                      │    │
//	                  │  └▶ in_doubt ───────────────┴────┘
//	                  └────── settle    settle, or its own owner coming back
//
// Three ways are not in the picture: open, by which a claim whose message is given up
// is listed for operators; commit, by which a dynamo.Ledger, which has no
// claim, leads from absent to completed or refused in one step; and park from
// released, for a Keyed past its provider's window. Transitions is the table
// behind it.
//
// # What a standing record says to a delivery
//
// In this order:
//
//	unknown format or state        *FormatError, nothing else is compared
//	ours, claimed, lease running   we won: our own put's reply was lost
//	another fingerprint            Conflict, unless the effect is known not to have happened
//	completed, refused             Replayed, Refused
//	in doubt                       the probe when its time has come, else InDoubt. Another
//	                               look is worth while 5, 20 and 60 minutes after it came so
//	claimed, lease running         InProgress
//	released, lapsed               takeover; a Blind after an attempt whose outcome is
//	                               not known, and a Keyed past its provider's window,
//	                               go in doubt
//
// # Clock
//
// lease_until = the invocation's deadline + Config.LeaseMargin, by the claimer's
// wall clock. Others wait for lease_until + Config.SkewMargin by theirs. The
// claimer itself measures its lease on its monotonic clock, from before the
// claim was sent, and looks again right before the effect.
package intent
