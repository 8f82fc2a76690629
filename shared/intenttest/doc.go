// Package intenttest holds what the tests of Once are made of: a real DynamoDB engine, a probe that says whether that engine
// keeps the promises the record rests on, tables with names of their own, and a transport that drops requests and loses replies.
//
// The engine is AWS's own DynamoDB Local. Three of its habits matter to a test: it never raises TransactionConflict, it never
// throttles, and a batched PartiQL INSERT answers DuplicateItem without the item. A test that needs one of these makes it with
// Faults.
//
// Limits: Linux and macOS, with a POSIX shell. Nothing that is deployed imports this package.
package intenttest
