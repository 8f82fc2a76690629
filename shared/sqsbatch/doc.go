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
//	unknown, released, lost, no time     listed
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
// # Limits
//
// An effect must heed its context. One that ignores its cancellation until the
// answer is due ends the process: no goroutine outlives its invocation, where it
// would run on inside the next one. The batch is delivered again, and what is
// final replays.
package sqsbatch
