// Package calls records what a function calls of AWS while its tests run, as the permissions that its role needs.
//
// A test suite that ends with Main compares what was recorded with the list in the function's folder, testdata/calls.txt. A call that
// the list does not have fails the suite, and so does an entry that the whole suite never called. The doctor holds the function's role
// in template.yaml against the same list.
//
// Every client of a function is to have the option Record: intenttest.Engine and memdb's Client give it to theirs, the simulated
// services report with Saw, and the test's own clients are made of Config, or of Variables that were given Record. Main refuses a
// package that makes one in another way. Of a client that test and function share, the calls of the function alone count: those whose
// stack comes from code that is deployed.
//
// What is called through an interface that a test implements without the SDK is not seen, unless that test calls Saw.
package calls
