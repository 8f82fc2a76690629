/* What surrounds the workers: the far side, time, the network, an operator, SQS. */

/* What a provider remembers under the key, and for how many more ticks. */
unsigned memory : 2;
unsigned remembers : 4;
bit memory_payload;

/* The request of a worker, or the one whose worker is gone, reaches the far side. It takes effect, or the business says no, or it is
   turned away. A provider answers a key that it knows from memory; with FINISHED_ONLY it knows only what has finished. Its memory is
   as short as its window allows. */
#define payload_of(r) (r < WORKERS -> write[r].payload : orphan_payload)
#define comes_in(r) (d[r].request > 0 && !d[r].executing)
#define done_with(r) (d[r].request > 0 && (d[r].executing || memory == nothing && !FINISHED_ONLY))

inline respond(r, answer_) {
	d[r].answer = (r < WORKERS -> answer_ : nothing);
	d[r].request = 0;
	d[r].executing = 0
}
inline remember(r, answer_) {
	if
	:: KEYED -> memory = answer_; memory_payload = payload_of(r); remembers = WINDOW
	:: else
	fi
}

#define ARRIVES(r) \
	:: d_step { comes_in(r) && memory != nothing && payload_of(r) == memory_payload -> respond(r, memory) } \
	:: d_step { comes_in(r) && memory != nothing && payload_of(r) != memory_payload -> respond(r, nothing) } \
	:: d_step { comes_in(r) && FAULT -> respond(r, rejected) } \
	:: d_step { comes_in(r) && memory == nothing && FINISHED_ONLY -> d[r].executing = 1 } \
	:: d_step { done_with(r) -> happens(payload_of(r)); remember(r, yes); respond(r, yes) } \
	:: d_step { done_with(r) -> remember(r, declined); respond(r, declined) }

proctype FarSide() {
	do
	ARRIVES(0)
	ARRIVES(1)
	ARRIVES(2)
#if WORKERS == 3 || FALSE_NO
	ARRIVES(3)
#endif
	od
}

#define count_down(x, least) if :: x > least -> x-- :: else fi

/* What the provider has begun it ends within its time; and once all is calm a tick passes only when nothing else happens. */
#define due(r) (d[r].executing && d[r].request == 1)
#if WORKERS == 3 || FALSE_NO
#define ANY_DUE (due(0) || due(1) || due(2) || due(3))
#define NO_REQUEST (d[0].request == 0 && d[1].request == 0 && d[2].request == 0 && d[3].request == 0)
#else
#define ANY_DUE (due(0) || due(1) || due(2))
#define NO_REQUEST (d[0].request == 0 && d[1].request == 0 && d[2].request == 0)
#endif
/* Beyond the workers all are idle. */
#define ALL_IDLE (d[0].at == idle && d[1].at == idle && d[2].at == idle)

proctype Time() {
	do
	:: d_step { !ANY_DUE && (!calm || ALL_IDLE && hidden_message) ->
		count_down(rec.lease, 0);
		k_ = 0;
		do
		:: k_ < WRITES ->
			count_down(write[k_].lease, 0);
			count_down(write[k_].shown_lease, 0);
			if
			:: KEYED -> count_down(write[k_].window, 1)
			:: else
			fi;
			k_++
		:: else -> break
		od;
		k_ = 0;
		do
		:: k_ < REQUESTS -> count_down(d[k_].request, 0); k_++
		:: else -> break
		od;
		if
		:: KEYED -> count_down(rec.window, 1); count_down(remembers, 0)
		:: else
		fi;
		if
		:: remembers == 0 -> memory = nothing; memory_payload = 0
		:: else
		fi;
		hidden_message = 0 }
	od
}

/* An operator settles a doubt by what the far side shows: no means that it did not happen and that no request is on its way. The
   verdict is written later, on the record that was shown. */
#define desk write[DESK]
inline decide(state_) {
	desk.verb = settle;
	desk.to = state_;
	desk.shown_state = rec.state;
	desk.shown_owner = rec.owner;
	if
	:: state_ == released -> draw(desk)
	:: else
	fi
}
#define DOUBTFUL (desk.verb == 0 && rec.state == in_doubt && FAULT)

/* An operator, and the writes of his, and late copies, that reach the table. */
byte arriving;
proctype Table() {
	do
	:: atomic {
		if
		:: d_step { DOUBTFUL && happened[rec.payload] -> decide(completed) }
		:: d_step { DOUBTFUL && !happened[rec.payload] && NO_REQUEST -> decide(refused) }
		:: d_step { DOUBTFUL && !happened[rec.payload] && NO_REQUEST -> decide(released) }
		:: d_step { FALSE_NO && DOUBTFUL && !false_no -> false_no = 1; decide(released) }
		:: desk.verb != 0 -> arriving = DESK
#if LATE > 0
		:: write[FIRST_COPY].verb != 0 -> arriving = FIRST_COPY
#endif
#if LATE == 2
		:: write[FIRST_COPY + 1].verb != 0 -> arriving = FIRST_COPY + 1
#endif
		fi;
		d_step {
			if
			:: arriving != 0 -> land(write[arriving]); clear(write[arriving]); arriving = 0
			:: else
			fi;
			tidy() } }
	od
}

/* With LEDGER: the conditions of the effect's own writes come and go. */
#if LEDGER
proctype Account() {
	do
	:: funds = 1 - funds
	od
}
#endif

/* With FORGET: retention ends, once nothing of the intent is under way. Then its record is deleted some time, and the producer may
   use the key for a new intent, of which the effect may happen again. */
#if FORGET
proctype Retention() {
	do
	:: d_step { final(rec.state) && !rec.expired && ALL_IDLE && NO_REQUEST ->
		find_write();
		if
		:: !found -> rec.expired = 1; forgotten = 1; reused = 0; effects = 0; happened[0] = 0; happened[1] = 0; memory = nothing; remembers = 0
		:: else
		fi }
	:: d_step { rec.expired -> rec.state = absent; rec.owner = 0; rec.lease = 0; rec.window = 0; rec.payload = 0; rec.expired = 0 }
	:: d_step { forgotten && !reused -> reused = 1 }
	od
}
#endif

/* With LIVE: SQS, and an operator who redrives what may run. In the end faults cease; from then on every intent must end, with its
   message acknowledged, or be in doubt, with its message in quarantine. */
#if LIVE
/* A redrive amid faults would lead to no record that is not met without it. */
#define MAY_REDRIVE (calm && quarantined && (rec.state != in_doubt || PROBES) && !(breaks(SETTLED_NOT_REDRIVEN) && rec.state == released))
#define in_hand(i, m) (d[i].at != idle && d[i].message == m)
#define unknown_to_all(m) (!queued[m] && !in_hand(0, m) && !in_hand(1, m))
proctype SQS() {
	do
	:: d_step { FAULT && queued[0] -> queued[0] = 0; quarantined = 1 } /* received too often */
	:: d_step { FAULT && queued[1] -> queued[1] = 0; quarantined = 1 }
	:: d_step { MAY_REDRIVE && unknown_to_all(0) -> quarantined = 0; queued[0] = 1 }
	:: d_step { MAY_REDRIVE && unknown_to_all(1) -> quarantined = 0; queued[1] = 1 }
	:: d_step { FAULT -> calm = 1 }
	od
}

#define ended (!queued[0] && !queued[1] && (final(rec.state) || rec.state == in_doubt && quarantined && !PROBES))
never {
	do
	:: true
	:: calm && !ended -> break
	od;
accept:
	do
	:: !ended
	od
}
#endif
