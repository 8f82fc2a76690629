// Package lambda builds a function as it is deployed and runs it here, as a
// real process behind AWS's runtime interface emulator.
//
// A Worker is one execution environment: one emulator, one process of the
// function, one invocation at a time. The process can be killed at any
// moment, and is killed at its timeout, as Lambda does; the next invocation
// starts another. Nothing of a worker outlives this process.
//
// What it does not do: memory is told to the function, not limited; nothing
// is frozen between invocations, so that what a function leaves running does
// run on.
//
// The emulator is built from the module that go.mod names as a tool, so
// commands and tests that use this package run inside the module infra/local.
package lambda
