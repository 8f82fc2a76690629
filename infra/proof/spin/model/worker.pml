/* A worker, which runs one delivery after the other: Deliver of shared/intent, from one call that leaves the process to the next. */

#define me d[_pid - 1]
#define own write[_pid - 1]

/* On the worker's own clocks: the monotonic one, and the wall clock, which may be ahead by a tick. */
#define lease_runs(x) (x.lease > SHIFT)
#define lapsed(lease_, ahead_) (lease_ + SKEW_MARGIN <= SHIFT + ahead_)
#define settled(lease_, ahead_) (lease_ + SKEW_MARGIN + SETTLING_TIME <= SHIFT + ahead_)
#define past_window(state_, window_, ahead_) \
	(KEYED && window_ > 0 && ahead_ + LEASE + SKEW_MARGIN >= window_ && WINDOW_BINDS(state_))

/* The claim to make next, after a record with this window. */
inline draft(verb_, window_, ahead_) {
	own.verb = verb_;
	own.to = claimed;
	draw(own);
	own.lease = LEASE + SHIFT;
	own.ahead = ahead_;
	own.fresh = (window_ == 0);
	if
	:: window_ == 0 || verb_ == takeover && breaks(TAKEOVER_PUTS) -> own.window = 1 + (KEYED -> WINDOW - WINDOW_MARGIN + ahead_ : 0)
	:: else -> own.window = window_
	fi;
	me.at = calling
}

/* The message is delivered again, at the earliest a tick from now. */
inline list() { hidden_message = calm; me.at = idle }

/* The message has its answer, and is gone. */
inline acknowledge() { queued[me.message] = 0; me.at = idle }
#define ANSWER(state_) assert(rec.state == state_ && rec.payload == own.payload); acknowledge()

/* In doubt: quarantined, or with a probe left to ask deferred. */
inline doubt() {
	if
	:: LIVE && !PROBES && breaks(DOUBT_ACKNOWLEDGED) -> acknowledge()
	:: LIVE && !PROBES && !breaks(DOUBT_ACKNOWLEDGED) -> quarantined = 1; me.at = reporting
	:: else -> list()
	fi
}

inline end_by(verb_, state_) { own.verb = verb_; own.to = state_; me.copied = 0; me.at = ending }

/* What stands after a write of acquire, or where an old message finds it. */
inline look() {
	found = own.payload;
	clear(own);
	own.payload = found;
	if
	:: CONFLICT(own.payload) -> list()
	:: !CONFLICT(own.payload) && final(rec.state) && !breaks(DONE_IS_LISTED) -> ANSWER(rec.state)
	:: !CONFLICT(own.payload) && final(rec.state) && breaks(DONE_IS_LISTED) -> list()
	:: else -> own.shown_state = rec.state; own.shown_owner = rec.owner; own.shown_lease = rec.lease; me.at = judging
	fi
}
inline heard() {
	if
	:: own.to == claimed && OWN_WIN(own) ->
		own.verb = 0; own.to = 0; own.window = (RENEWS -> own.window : 0); own.ahead = 0; own.shown_state = absent; own.shown_owner = 0; own.shown_lease = 0;
		if
		:: LEASE_FROM_REPLY -> own.lease = LEASE + SHIFT
		:: else
		fi;
		me.at = running
	:: else -> look()
	fi
}

/* The record that was shown decides, in the order of the design: by one reading of the clock whether it has lapsed, by another what
   the lease of the next claim is. */
inline judge(ahead_, ahead2_) {
	if
	:: own.shown_state == absent && me.old && !breaks(OLD_MESSAGE_CLAIMS) -> list()
	:: own.shown_state == in_doubt && PROBES && settled(own.shown_lease, ahead_) -> me.at = probing
	:: own.shown_state == in_doubt && PROBES && !settled(own.shown_lease, ahead_) -> list()
	:: own.shown_state == in_doubt && !PROBES -> doubt()
	:: own.shown_state == claimed && (!lapsed(own.shown_lease, ahead_) || breaks(LAPSED_NOT_TAKEN_OVER)) -> list()
	:: own.shown_state == released && breaks(RELEASED_NOT_TAKEN_OVER) -> list()
	:: else ->
		if
		:: own.shown_state == claimed && LAPSED_IS_DOUBT || past_window(own.shown_state, rec.window, ahead2_) ->
			own.verb = park; own.to = in_doubt; me.at = calling
		:: else ->
			draft((own.shown_state == absent -> claim : takeover), rec.window, ahead2_)
		fi
	fi;
	if
	:: !RENEWS -> own.shown_lease = 0
	:: else
	fi
}

/* What stands after the write that was to end the claim. */
inline told() {
	if
	:: breaks(ANSWER_FROM_MEMORY) && final(own.to) -> ANSWER(own.to)
	:: !(breaks(ANSWER_FROM_MEMORY) && final(own.to)) && final(rec.state) && !CONFLICT(own.payload) -> ANSWER(rec.state)
	:: !(breaks(ANSWER_FROM_MEMORY) && final(own.to)) && rec.state == in_doubt -> doubt()
	:: else -> list()
	fi
}

/* Nobody knows whether the effect happened. */
inline unknown() {
	if
	:: KEYED && !breaks(UNKNOWN_RELEASED) -> list()
	:: breaks(UNKNOWN_RELEASED) || breaks(BLIND_UNKNOWN_RELEASED) -> end_by(release, released)
	:: else -> end_by(park, in_doubt)
	fi
}

/* A copy of the write that is being made stays on its way. */
inline leave_copy() { find_room(); copy(write[k_], own); me.copied = 1 }

/* The request of a worker that is gone, or waits no more, goes on. Two under one key are one to a provider that dedups all;
   elsewhere there are never two, unless an operator's "no" was false: that is checked. */
inline abandon() {
	if
	:: me.request > 0 ->
		k_ = ORPHAN;
		do
		:: k_ < REQUESTS - 1 && d[k_].request > 0 -> k_++
		:: else -> break
		od;
		assert(d[k_].request == 0 || KEYED && !FINISHED_ONLY && orphan_payload == own.payload || MUTANT);
		d[k_].request = (me.request > d[k_].request -> me.request : d[k_].request);
		d[k_].executing = d[k_].executing || me.executing;
		orphan_payload = own.payload;
		me.request = 0;
		me.executing = 0
	:: else
	fi;
	me.answer = nothing
}

/* What a worker needs no more at the point where it is. */
inline forget() {
	if
	:: me.at == idle || me.at == reporting -> abandon(); clear(own); me.copied = 0; me.old = 0;
		if
		:: me.at == idle -> me.message = 0
		:: else
		fi
	:: me.at == ending ->
		abandon();
		own.lease = 0; own.ahead = 0; own.window = 0; own.shown_state = absent; own.shown_owner = 0; own.shown_lease = 0
	:: me.at == asking && !RENEWS -> own.lease = 0; own.window = 0
	:: me.at == judging || me.at == running -> me.copied = 0
	:: else
	fi
}

#define STARTS (me.at == idle && (!LIVE || (queued[0] || queued[1]) && (!calm || !hidden_message)))
#if LATE == 0
#define room false
#elif LATE == 1
#define room (write[FIRST_COPY].verb == 0)
#else
#define room (write[FIRST_COPY].verb == 0 || write[FIRST_COPY + 1].verb == 0)
#endif
#define CALLS ((me.at == calling || me.at == ending) && FAULT)
#define RENEWING (RENEWS && (me.at == running || me.at == asking) && lease_runs(own) && own.owner != 0)
#define renewal(ahead_) own.verb = renew; own.to = claimed; own.lease = LEASE + SHIFT; own.ahead = ahead_
#define no_renewal own.verb = 0; own.to = 0; own.ahead = 0

/* Two readings of a wall clock. */
bit ahead;
bit ahead2;
inline read_clock(x) {
	if
	:: x = 0
	:: x = 1
	fi
}

proctype Worker() {
	do
	:: atomic {
		if
		/* A delivery begins; one of an old message by a look at the record. */
		:: STARTS && (!forgotten || reused) ->
			if
			:: own.payload = 0
			:: PAYLOADS -> own.payload = 1
			fi;
			if
			:: !LIVE
			:: queued[0]
			:: queued[1] -> me.message = 1
			fi;
			read_clock(ahead);
			d_step { hidden_message = calm; draft(claim, 0, ahead) }
		:: d_step { STARTS && forgotten -> me.old = 1; look() }

		/* The call is answered; or a copy of it stays on its way, whatever becomes of the rest; or nothing is heard of it, and a claim
		   is given back. */
		:: d_step { me.at == calling || me.at == ending ->
			land(own);
			if
			:: me.at == calling -> heard()
			:: else -> told()
			fi }
		:: d_step { CALLS && own.verb != 0 && !me.copied && room -> leave_copy() }
#if LATE == 0
		:: d_step { CALLS && me.at == calling && own.to == claimed -> land(own); end_by(release, released) }
		:: d_step { CALLS && !(me.at == calling && own.to == claimed) -> land(own); list() }
#endif
		:: d_step { CALLS ->
			if
			:: me.at == calling && own.to == claimed -> end_by(release, released)
			:: else -> list()
			fi }

		:: me.at == judging -> read_clock(ahead); read_clock(ahead2); d_step { judge(ahead, ahead2) }

		/* The effect sends its request; or is not begun, or comes too late, or finds that it cannot ask now, and the claim is given back;
		   or its own check says no. */
		:: d_step { me.at == running && MAY_START(own) ->
			me.request = FLIGHT + (own.lease > SHIFT -> own.lease - SHIFT : 1 - FLIGHT);
			me.at = asking }
		:: d_step { me.at == running && (FAULT || !MAY_START(own)) -> end_by(release, released) }
		:: d_step { me.at == running && OWN_CHECK(own) -> end_by(refuse, refused) }

		/* The answer is read, where a no of somebody who did not look at the key is the effect's own check; or it is lost, or never
		   comes, or the effect is cut off before it asks. */
		:: d_step { me.at == asking && me.answer == yes -> end_by(complete, completed) }
		:: d_step { me.at == asking && (me.answer == declined || me.answer == rejected && OWN_CHECK(own)) -> end_by(refuse, refused) }
		:: d_step { me.at == asking && me.answer == rejected -> end_by(release, released) }
		:: d_step { me.at == running && FAULT || me.at == asking && (FAULT || me.request == 0 && me.answer == nothing) -> unknown() }

		/* The heartbeat renews the lease in time, and its request may take longer; or a copy of the renewal stays on its way. It cancels
		   the effect when the lease is lost, and at the end of the provider's window. */
		:: RENEWING -> read_clock(ahead);
			d_step {
				if
				:: past_window(claimed, own.window, ahead) && !breaks(RENEWAL_PAST_WINDOW) -> unknown()
				:: else ->
					renewal(ahead);
					land(own);
					no_renewal;
					if
					:: rec.owner != own.owner || rec.state != claimed -> unknown()
					:: else -> me.request = (me.request > 0 -> FLIGHT + LEASE : 0)
					fi
				fi }
		:: RENEWING && room -> read_clock(ahead);
			d_step {
				if
				:: past_window(claimed, own.window, ahead) && !breaks(RENEWAL_PAST_WINDOW)
				:: else -> i_ = own.lease; renewal(ahead); leave_copy(); me.copied = 0; no_renewal; own.lease = i_
				fi }

		:: d_step { me.at == probing && happened[own.payload] -> own.verb = settle; own.to = completed; me.at = calling }
		:: d_step { me.at == probing && !happened[own.payload] -> own.verb = settle; own.to = released; draw(own); me.at = calling }
		:: d_step { me.at == probing && FAULT -> list() }

		:: d_step { me.at == reporting -> acknowledge() }

		/* A crash. */
		:: d_step { me.at != idle && FAULT -> me.at = idle }
		fi;
		d_step { ahead = 0; ahead2 = 0; forget(); tidy() } }
	od
}
