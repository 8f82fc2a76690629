// Package linear checks that the record of an intent is linearizable, as its callers
// see it. Worker processes deliver a few hot intents at once through the real classes,
// the real SDK and a real engine. Their requests are dropped or arrive late, replies
// are lost, and processes are killed with SIGKILL in the middle.
//
// A history is all that was done to one intent. Its operations are what the parent
// process saw of each delivery, by one clock and never from inside a worker:
//
//	handed out ───── effect arrives ─ answered ───── outcome comes back
//	   └─── claim ───┘                   └──── end ───────┘
//
// A worker that is killed, or that says it does not know, leaves an operation that
// may have been applied, at any time since, or not. porcupine
// (https://github.com/anishathalye/porcupine) then looks for an order of the
// operations, each at one moment between its two times, in which every answer is the
// one that the sequential model in model.go gives. If there is none the record was
// not one. Effects are counted beside that, at the far side, which is the parent.
//
// What it cannot see: a takeover while the lease still ran by less than its margins.
package linear
