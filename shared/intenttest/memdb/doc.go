// Package memdb is a DynamoDB in memory, for tests: of handlers, and of what stands between them and the table.
//
// It evaluates the expressions that are really sent and answers in microseconds, deterministically and without goroutines,
// sockets or pauses, so it works inside a testing/synctest bubble. It has three faces:
//
//   - The methods of DB are those of *dynamodb.Client, on the SDK's types. One call is one attempt.
//   - DB.Client is the SDK's own client in front of it: what the SDK makes of errors, retries among it, is then tested too.
//   - DB is an http.RoundTripper and an http.Handler that speaks DynamoDB's JSON protocol: the transport of an HTTP client, the
//     Base of intenttest.Faults, a server for other processes.
//
// # What it answers
//
// PutItem, UpdateItem, DeleteItem, GetItem, Query, Scan, BatchGetItem, TransactWriteItems, ExecuteStatement and
// BatchExecuteStatement, with conditions, updates, filters, key conditions and projections, numbers of 38 decimal digits, client
// request tokens, errors in DynamoDB's words, items in errors where they were asked for, and what each call costs by AWS's
// published rules (DB.Usage and ReturnConsumedCapacity).
//
// It refuses what DynamoDB refuses, with a ValidationException, and does not run it: a refusal that read as a failed condition
// would look like a duplicate. So it does with operands of a type that their function does not take, paths into keys,
// placeholders without use, values that an enumeration does not have and starting keys outside a query's condition; and beyond
// the limits on sizes and counts: of items (400 KB, 32 levels, names of 65,535 bytes), keys (2,048 and 1,024 bytes), expressions
// (4,096 bytes, 300 operators and functions, 100 operands of IN, paths of 32 steps, placeholders of 255 bytes, names and values
// of 2 MB), statements (8,192 bytes), transactions (100 actions, 4 MB) and batches (100 keys, 25 statements). An invalid action
// is the only reason of its transaction.
//
// It is held to DynamoDB Local by the tests: the same calls, tabled and random, get the same answers, but for the differences
// that difference_test.go and refusal_difference_test.go list by name. In these it does what AWS documents, or what others have
// recorded of the service, and above all what DynamoDB Local never does: an update that only removes makes no item where none is,
// a duplicate in a batch of statements shows its item, and a test's plan (Config.Plan) makes calls and their parts meet
// TransactionConflict, throttling, faults of the service, lost replies, unprocessed keys and errors without their items.
//
// # What it does not do
//
// There are no indexes, streams, transactions that read, BatchWriteItem, parallel scans, protection from deletion, parameters
// from before expressions, nor a Select but COUNT. UPDATED_OLD and UPDATED_NEW are for whole attributes; PartiQL is for
// statements that name a key. What is not supported is an UnsupportedError, never ignored. Of PartiQL's grammar some is a
// ValidationException, as if it were malformed: IS NULL, functions in capitals, names in brackets, comments, a plus sign, sums of
// more than two, ORDER BY. What says only how a table is billed, encrypted or tagged is taken and means nothing. Signatures and
// permissions are not checked, reads are always consistent, nothing is ever throttled that the plan does not throttle, and a table
// is there at once. TTL deletes when DB.Expire is called.
//
// Nothing is known of how the service bills a cancelled transaction. In a batch of statements it heeds
// ReturnValuesOnConditionCheckFailure by its documentation, and never does by a record of others (nubo-db/dynoxide, CHANGELOG,
// "Captured against eu-west-2"): code that counts on the item there should read it itself where it is missing, and be tested with
// Fault.HideItems, or LikeLocal.
package memdb
