// Package sim runs a function's handler in a whole small system, on virtual time and in memory: an SQS queue with its dead-letter
// queue, several workers, DynamoDB, and whatever the function calls beside it. A history is one schedule, drawn from a seed, and
// run until nothing more happens. Then what came of it is counted at the far side.
//
//	producers ─▶ queue ─▶ worker (process, clock, clients) ─▶ gate ─▶ DynamoDB, the far side
//	               ▲  │        ▲                               │
//	       redrive │  ▼        └─ killed, frozen, cut off      └─ lost, dropped, slow, twice, throttled
//	          dead-letter queue
//
// The system is one: a driver, on the goroutine of the test, does all that happens. Every call of a handler waits at the gate until
// the driver lets it through and draws what becomes of it; between two of its steps the driver waits until everybody else
// waits, too. So a seed gives the same history each time, whatever the Go scheduler does. What production code draws by chance for
// itself (the pause before a retry, the jitter of a message that is hidden) is taken out of it: see call.from and queues.hide.
//
// # Faults
//
// They cease after some time, and the system must then come to rest: messages that SQS gave up on are redriven once at once and once
// when every provider has forgotten its keys. At the end each message has been answered, or is in the dead-letter queue with
// a reason that its intent's record bears out.
//
// In between, every record may only go the ways of intent.Transitions, whoever acknowledges a message must have seen to it, and nothing
// overtakes a failure in its group.
//
// Clocks differ, and processes are frozen, within the margins that the library states. Outside them it promises less, and
// infra/proof shows what.
//
// # Flags
//
// A test binary with a system test takes -schedules (histories of each test, 200), -seed (of the first one) and -report (a file for
// {"histories":N,"violations":N}, the sums of the binary). A history that goes wrong prints its story and the command that runs it again.
// One in fifty is run twice, and must be the same both times.
package sim
