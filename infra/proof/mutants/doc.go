// Package mutants breaks the library on purpose, in every way that it derives, and asks
// whether a test notices. A mutant that survives stands for a check that is not needed,
// or for a test that is missing.
//
// # What is broken
//
//   - Expressions, of records and of the functions' own tables: of each condition, each
//     clause is dropped and flipped, and each AND and OR is flipped; of each update, each
//     assignment and each removal is dropped.
//   - Conditions: each part of each condition in the files that decide what becomes of an
//     intent once always holds, and once never. So each check of an owner, a state, a
//     lease, a window is removed, whichever way it faces.
//   - Steps, by hand: writes that change places, that are left out, and margins that are.
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
