// Package explore runs the real code of the classes and of the store, not a model
// of it, through the schedules of a small world: one intent, several deliveries of
// it, an intent table in memory, a provider that counts what really happened. Time
// is virtual.
//
// Every call to the table, to the provider and of the probe is a point at which the
// history branches: who goes on, and what becomes of the call. A history is one such
// schedule run to quiescence, until the intent is decided, or in doubt and reported.
// Then effects are counted at the far side.
//
// Exhaustive: every history of up to a stated number of deviations from the one in
// which each delivery runs alone and nothing goes wrong. Random: as many of any
// number of deviations as are asked for, each by its seed.
//
// Inside the assumptions that DESIGN states (a pause between the last look at the
// lease and the call, and the difference of clocks, are shorter than the margins; a
// probe's "no" is final) nothing may go wrong.
package explore
