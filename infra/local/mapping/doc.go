// Package mapping is a local event source mapping: what Lambda does between an SQS queue and a function.
//
// # Promise
//
// A poller receives a batch, hands it to its function as one event, and deletes what the function did: after a whole
// success every message, after a partial batch response those it does not list, after a failure none. What is not
// deleted is not touched: it comes again when its visibility timeout is over, or moves to the dead-letter queue. There
// are as many pollers as there are functions to call, so MaximumConcurrency is the number of invokers, and each calls
// only its own, one batch at a time. Messages are hidden for the queue's own visibility timeout.
//
//	receive ──▶ event ──▶ Invoke ──┬─ error, crash, timeout ────────────────▶ delete none
//	                               ├─ ReportBatchItemFailures off ──────────▶ delete all
//	                               ├─ answer empty: null, {}, no list ──────▶ delete all
//	                               ├─ answer lists ids of this batch ───────▶ delete the others
//	                               └─ answer lists anything else, or is
//	                                  no such document ─────────────────────▶ delete none
//
// Sources: the Lambda developer guide, "Handling errors for an SQS event source in Lambda" (partial batch responses,
// "Success and failure conditions") and "Creating and configuring an Amazon SQS event source mapping".
//
// # Limits
//
// Lambda also takes pollers away while a function fails, filters events and puts failed batches elsewhere; none of that
// is here. A poller that failed polls on at once.
package mapping
