// Package mutants breaks the library on purpose, in every way that it derives, and asks
// whether a test notices. A mutant that survives stands for code that is not needed,
// or for a test that is missing.
//
// # What is broken
//
// Every file of the packages that decide what becomes of an intent (decisions), but for the few that decide
// nothing (undecided). Mutants are derived from the syntax tree and the types: none is found by a line of the code or by
// a function's name, so they survive a change of names and of structure, and cover what is written next.
//
//   - condition: each part of each condition always holds, and never does. An error is not looked at.
//   - expression: of each condition that DynamoDB is sent, each clause is dropped and flipped, its bound is moved by one, and each AND and OR
//     is flipped; of each update each assignment and each removal is dropped.
//   - statement: the same of the clauses that guard a write in PartiQL.
//   - left out: each call that is made for what it does, each assignment to a field, each wait.
//   - order: two statements change places, of which the second acts outside; so do the two sides of a
//     concatenation.
//   - later: each call to what is outside answers first, and is made a minute later. So the effect
//     comes before the claim, the completion before the effect, and the answer before the completion.
//   - time: each term of the arithmetic with times is left out: each margin, lease, skew, window and retention.
//   - bound: each time that a call or a record is given is none, and an hour more.
//   - field: each field of what is built is empty, or the one of the record before, or told anew.
//   - key: each part of what is put together to a key is left out.
//   - code: each value of a set is dropped out of it.
//   - kind: each state, outcome and verdict is exchanged for another.
//   - verdict: what an effect says of its intent is exchanged: refused, not applied, unknown, quarantined, answered by the provider.
//   - open: each failure is answered as success.
//
// Those that cannot be told from the code are named in equivalent, each with why.
//
// # How
//
// All mutants stand in one copy of the sources side by side, and a number in the
// environment says which of them a process runs. So the tests are compiled once, with
// go test -overlay: nothing in the tree changes. They run against memdb, a DynamoDB in
// memory, the cheap ones first. A test that fails kills, if it fails again when it is run
// alone; so does a panic, and a run that takes ten times as long as the code as it is. What
// does not compile is an error of this package. A test that compares the text of an
// expression kills nothing: it is left out.
package mutants
