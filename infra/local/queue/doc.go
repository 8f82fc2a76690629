// Package queue is a small SQS that runs in this process: the part of the service that decides whether an intent is
// delivered once more, and nothing else.
//
// # Promise
//
// A message that was accepted is delivered until it is deleted, moved to its dead-letter queue, purged or past its
// retention; between a delivery and the end of its visibility timeout nobody else gets it. With a redrive policy of N
// receives a message is delivered at most N times and the receive attempt after that moves it (receive N+1, C19). In
// a FIFO queue a group is delivered in the order it was sent, and not at all while one of its messages is in flight.
//
//	           DelaySeconds over                  received
//	delayed ────────────────────▶ visible ──────────────────────▶ in flight ──deleted──▶ gone
//	                                 ▲  │                             │
//	                                 │  └─ receive N+1 ─▶ dead-letter │ visibility timeout over,
//	                                 │                    queue       │ or changed to 0
//	                                 └────────────────────────────────┘
//	(past its retention a message is gone from wherever it is)
//
// # Limits
//
// This is a model, so it is kinder than AWS: it never delivers a message twice by itself, never out of the order it
// was sent, counts exactly where AWS says "Approximate", moves a whole dead-letter queue at once, and has no quota of
// messages in flight. Everything lives in memory and in one account, 000000000000 in us-east-1. A request that uses
// what is not here (tags, policies, encryption, pagination, message system attributes) is refused, not half obeyed.
//
// Time comes from one clock, Config.Now, and is read once an operation; ids come from one source, Config.Random. With
// both injected a sequence of operations always gives the same answers. Nothing runs in the background: what time
// does to a message is worked out by the next operation that looks at it.
//
// Texts of errors, and behaviour that the developer guide leaves open, follow what LocalStack's suite recorded from
// AWS itself (tests/aws/services/sqs in localstack/localstack).
package queue
