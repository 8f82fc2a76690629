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
// BatchExecuteStatement, with conditions, updates, filters, key conditions and projections, numbers of 38 decimal digits, the
// limits on sizes and counts, client request tokens, errors in DynamoDB's words, items in errors where they were asked for, and
// what each call costs by AWS's published rules (DB.Usage and ReturnConsumedCapacity).
//
// It is held to DynamoDB Local by the tests: the same calls, tabled and random, get the same answers, but for the differences
// that difference_test.go lists by name. In these it does what AWS documents, and above all what DynamoDB Local never does:
// a duplicate in a batch of statements shows its item, and a test's plan (Config.Plan) makes calls and their parts meet
// TransactionConflict, throttling, faults of the service, lost replies, unprocessed keys and errors without their items.
//
// # What it does not do
//
// There are no indexes, streams, transactions that read, BatchWriteItem, parallel scans, or parameters from before
// expressions. UPDATED_OLD and UPDATED_NEW are for whole attributes; PartiQL is for statements that name a key. What is not
// supported is an UnsupportedError, never ignored. Signatures and permissions are not checked, reads are always consistent, nothing
// is ever throttled that the plan does not throttle, and a table is there at once. TTL deletes when DB.Expire is called.
//
// Nothing is known of how the service bills a cancelled transaction, and nothing but documentation of what it does with
// ReturnValuesOnConditionCheckFailure in a batch of statements: code that counts on the item there should read it itself where it
// is missing, and be tested with Fault.HideItems, or LikeLocal.
package memdb
