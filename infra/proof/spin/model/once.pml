/* A model of the protocol by which shared/intent makes an effect happen once: claim, lease, takeover, renewal, completion, refusal,
   release, park, probe, settle, quarantine and redrive of ONE intent, for a Keyed, a Blind and a Ledger effect. It is checked over all
   its states by Spin, and so is each of its mutants (rules.pml), in which Spin must find an error.

   Checked, in every state that can be reached:
     - the effect happens at most once; of a Blind one, once more for an operator's "no" that was false, and then once for
       the other payload, too (record.pml, happens)
     - no final record ever changes, until its retention is over (LAND)
     - a completed record's effect happened, with the record's payload; a refused one's did not, and never does (becomes, happens)
     - what is known not to have happened is not put in doubt again (record.pml, SET_park)
     - a message is acknowledged only for a final record that answers its own payload (worker.pml, ANSWER)
     - with LIVE: whatever happened, once faults cease every intent ends with its message acknowledged, or is in doubt with its
       message in quarantine; so no message is lost unreported, and nothing waits for ever (world.pml, ended)

   What may go wrong: a worker crashes, or stalls for however long, between any two steps. A call may fail although it was applied,
   and a copy of it may land any time later, also after its worker is gone. Any reading of a wall clock may be a tick ahead.
   Deliveries start whenever a worker is free: redelivery, duplicate and redrive are one to the record. A request is on its way until
   a tick after its lease, its answer is lost, or it is turned away. Probes know nothing, operators take their time. A provider
   forgets as soon as it may, and with FINISHED_ONLY it does not know a call that has not finished.

   What is left out, and why nothing is lost by it:
     - One intent. Records of different keys share nothing; a batch is several workers.
     - Two or three workers at a time, each with any number of deliveries, and up to two late copies at a time (LATE). That is a bound.
     - Time is in ticks: a lease of two, a skew margin of one, a settling time of one, a window of a few (see parameters.pml). Only the
       order of "lease over", "lapsed for others", "no request left" and "window over" matters, and ticks keep that order apart while
       any number of steps fit into one. Times are countdowns that stop where they decide nothing any more, so runs have no end.
     - The lease is what is left of the invocation plus its margin. The kill at its end is a crash like any other, and an effect's
       own deadline lies before the lease: the last look stands for both.
     - A stall between the last look and the request counts as part of the request's way. Longer ones no client can exclude.
     - Attempt numbers, reasons, results, TTL of siblings, group commit: nothing is conditional on them, and a call for several records
       is a call for each. A record that cannot be read fails its message before anything is written.
     - A completion whose writes are rejected is an attempt that ended unknown, which is possible after every answer.
     - Owners are named anew after every step and doomed writes are forgotten (memory.pml): states that differ in nothing that can
       ever be told apart are one. That what is forgotten could not have landed is checked with KEEP.
     - A lease that ended is forgotten where no write and no probe depends on it. */

#include "parameters.pml"
#include "rules.pml"
#include "transitions.pml"
#include "record.pml"
#include "memory.pml"
#include "worker.pml"
#include "ledger.pml"
#include "world.pml"

init {
	atomic {
		queued[0] = LIVE;
		run WORKER();
		run WORKER();
#if WORKERS == 3
		run WORKER();
#endif
		run FarSide();
		run Time();
		run Table();
#if LEDGER
		run Account();
#endif
#if FORGET
		run Retention();
#endif
#if LIVE
		run SQS();
#endif
	}
}
