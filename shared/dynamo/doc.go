// Package dynamo keeps the records of package intent in a DynamoDB table, and
// runs effects that are themselves writes to DynamoDB.
//
// Store makes every change in one conditional request and answers with the item
// that stands, which DynamoDB hands back with a failed condition: a duplicate
// costs one request and learns everything. expressions.go holds every condition.
//
// Ledger commits the record and the effect in one transaction.
//
// # Group commit
//
// The deliveries of one batch share their calls (Store.Group): all claims leave as
// one BatchExecuteStatement, and so do the ends of effects that end within 50 ms of
// each other. An INSERT is the same put on attribute_not_exists, an UPDATE names the
// same owner and state, both at the same write units; DynamoDB decides each statement
// for itself. Whatever it answers beside "done" and "this stands in its way" is asked
// again alone, as is the claim of an expired record. A call ends with the last of those
// who wait for it, and not before. Store.Alone turns it off.
//
// # What a failed condition is billed
//
// A put that fails its condition is billed write units by the size of the item
// that is already there (Amazon DynamoDB, "Condition expressions"), so the record
// stays small: results of more than 512 bytes go to an item of their own, put
// before the record is completed.
//
// # Retries
//
// The client's own are few; beyond them the store repeats throttled, lost and
// conflicting calls with full jitter until the context ends.
package dynamo
