// Package explore runs the real code of the classes and of the store, not a model
// of it, through the schedules of a small world: one intent, several deliveries of
// it, an intent table in memory, a provider that counts what really happened. Time
// is virtual.
//
// Some worlds hold more (class.go lists them): a batch of two or three; an effect that
// delivers another intent and returns the error of that delivery; months in which
// records expire, are deleted or are rewritten by a newer release, while old messages
// come late and the retention is changed; results that a sibling item keeps;
// completions that commit a write; a class that is not the same in every delivery.
//
// Every call to the table, to the provider and of the probe is a point at which the
// history branches: who goes on, what becomes of the call, how much time passes, what
// arrives late. Between its claim and its effect a process may also stand still. A
// delivery begins with a clock that is right or off, and may be of
// another payload under the same key. A history is one such schedule run to
// quiescence: each message has its answer, the intent is decided, or in doubt and
// reported. Every change of the record is judged by the table of transitions and by
// what DESIGN says of each attribute; in the end effects are counted at the far side,
// and what the deliveries were told is compared with them.
//
// Exhaustive: every history of up to a stated number of deviations from the one in
// which each delivery runs alone and nothing goes wrong. The costly worlds are searched
// less deep (traits.deep), and processes stand still in those alone that are about
// leases (traits.stalls). Random: as many of any
// number of deviations as are asked for, each by its seed. Both call the narrow
// interface of package dynamo; some random ones go through the SDK's own client, with
// its retries and its encoding.
//
// Inside the assumptions that DESIGN states (a pause between the last look at the
// lease and the call, and the difference of clocks, are shorter than the margins; a
// probe's "no" is final; a provider remembers its keys for its window) nothing may go
// wrong. Outside them a second effect is looked for, and must be found, but where
// nothing is assumed: a ledger, and a provider that remembers its keys.
package explore
