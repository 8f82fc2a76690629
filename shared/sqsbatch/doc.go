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
//	conflict, in doubt, poison           listed, with the reason in the log
//
// # Limits
//
// An effect must heed its context. One that ignores its cancellation until the
// answer is due ends the process: no goroutine outlives its invocation, where it
// would run on inside the next one. The batch is delivered again, and what is
// final replays.
package sqsbatch
