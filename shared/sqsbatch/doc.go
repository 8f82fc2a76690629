// Package sqsbatch turns an SQS event into a partial batch response: each
// message is an intent of its own, and one bad message never harms its batch.
//
// # Promise
//
// Every message starts as failed and leaves the list when it has its answer, so
// whatever is forgotten is delivered again, not lost. The mapping must report
// batch item failures; without that Lambda deletes what is listed.
//
//	executed, replayed, refused          acknowledged
//	in progress                          hidden for as long as it may take, and listed
//	unknown, released, lost              hidden for longer each time, and listed; to the
//	                                     dead-letter queue after twelve hours of failures
//	no time                              listed
//	conflict, in doubt, poison           to the dead-letter queue with the reason, and
//	                                     acknowledged; listed if that fails
//
// Hiding and quarantine go in calls of ten, beside the effects and within the
// invocation's time; what time is not left for is listed. Reading stops when no time
// is left to run anything. An event without Records, which SQS never sends, is an error
// that says what it looks like.
//
// Neither payloads, parts of them, nor keys are logged or put into a reason: an intent
// is named by intent.ShortHash of its record's key.
//
// Envelopes of SNS and EventBridge are opened; what goes to quarantine goes as it
// came. A message comes back from there as it went, and a redrive of the
// dead-letter queue must name its destination: SQS knows only the way of what it
// moved there itself.
//
// # Redelivery
//
// A message that fails is hidden for 30 s after its first receive and twice as long
// after each further one, up to an hour, a tenth less or more. It is hidden for longer
// where its provider asks for that (intent.RetryAfter) or where a claim stands that
// long. It is given up when it fails 12 h after its first receive. A message group has
// one delay, keeps its order, and gives up one head an invocation.
//
// After an error that speaks of a provider or a table as a whole one message goes
// ahead. If that fails in the same way, the others are hidden without being tried.
//
// What was received more often than that explains has ended its process, or was in a
// batch with what did. It is hidden before it runs, and runs alone and last; after 12 h
// it is given up without being run. The queue's maxReceiveCount must leave room for all
// that: 30 receives, and 100 on a FIFO queue.
//
// # Limits
//
// An effect must heed its context. One that ignores its cancellation until the
// answer is due ends the process: no goroutine outlives its invocation, where it
// would run on inside the next one. The batch is delivered again, and what is
// final replays.
package sqsbatch
