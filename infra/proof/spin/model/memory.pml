/* What keeps the states finite and few: owners are named anew after every step, and what can never land is forgotten. Hidden
   variables are no part of a state; they are used within a step. */

hidden byte i_;
hidden byte k_;
hidden byte found;
hidden byte named;
hidden byte names[16];

inline clear(x) {
	x.verb = 0; x.to = 0; x.owner = 0; x.lease = 0; x.ahead = 0; x.window = 0; x.fresh = 0;
	x.payload = 0; x.shown_state = absent; x.shown_owner = 0; x.shown_lease = 0; x.doomed = 0
}

inline copy(x, y) {
	x.verb = y.verb; x.to = y.to; x.owner = y.owner; x.lease = y.lease; x.ahead = y.ahead; x.window = y.window; x.fresh = y.fresh;
	x.payload = y.payload; x.shown_state = y.shown_state; x.shown_owner = y.shown_owner; x.shown_lease = y.shown_lease;
	x.doomed = y.doomed
}

/* The first copy that is not taken, or WRITES. */
inline find_room() {
	k_ = FIRST_COPY;
	do
	:: k_ < WRITES && write[k_].verb != 0 -> k_++
	:: else -> break
	od
}

/* Whether any write is still to land. */
inline find_write() {
	found = false;
	k_ = 0;
	do
	:: k_ < WRITES -> found = (found || write[k_].verb != 0); k_++
	:: else -> break
	od
}

/* An owner is a token that nothing else bears: the least that is free. A real one is random; this one may have been borne by a claim
   of which no trace is left, which nobody can tell. */
inline draw(x) {
	i_ = 0;
	found = true;
	do
	:: found ->
		i_++;
		found = (rec.owner == i_);
		k_ = 0;
		do
		:: k_ < WRITES -> found = (found || write[k_].owner == i_ || write[k_].shown_owner == i_); k_++
		:: else -> break
		od
	:: else -> break
	od;
	x.owner = i_
}

/* Whether a late copy of a claim would bring this owner into the record. */
inline find_claim(owner_) {
	found = false;
	i_ = FIRST_COPY;
	do
	:: i_ < WRITES ->
		found = (found || (write[i_].verb == claim || write[i_].verb == takeover) && write[i_].owner == owner_ && !write[i_].doomed);
		i_++
	:: else -> break
	od
}

/* A write is doomed when its condition is refused now and no late copy of the claim that would make it hold is on its way. Owners
   never come back, the states of one owner only move forward, and no record goes back to absent: it is refused for good. With KEEP
   nothing doomed is forgotten, and that it never lands is checked instead. Mutants take that argument away: what names no owner may
   land on a later one's claim, and where a verdict keeps the owner that owner's states move back. */
#define by_owner(x) (x.verb != claim && x.verb != commit && x.shown_state == absent)
#define may_land_later(x) (!final(rec.state) && by_owner(x) && !(OWNER_NAMED(x.verb)) || breaks(SETTLE_KEEPS_OWNER) && ( \
	rec.state == in_doubt && x.shown_state == released && x.shown_owner == rec.owner || \
	rec.state == released && x.shown_state == in_doubt && x.shown_owner == rec.owner || \
	rec.state == released && by_owner(x) && x.owner == rec.owner && (x.verb == complete || x.verb == refuse)))
#define doomed_now(x) (x.verb != 0 && !(TRANSITIONS(CAN) MORE_TRANSITIONS(CAN) false) && !may_land_later(x))
inline weigh(x) {
	if
	:: !doomed_now(x) -> found = true
	:: else ->
		found = false;
		if
		:: by_owner(x) -> find_claim(x.owner)
		:: else
		fi
	fi;
	found = !found
}

/* Of a worker's own write also the answer counts: whether the owner that stands is ours, and what we meant to say. */
inline doom() {
	if
	:: k_ < WORKERS && d[k_].at == calling && write[k_].to == claimed && write[k_].owner == rec.owner
	:: k_ < WORKERS && (d[k_].at == running || d[k_].at == asking) && write[k_].owner != rec.owner ->
		find_claim(write[k_].owner);
		if
		:: !found && !KEEP -> write[k_].owner = 0
		:: else
		fi
	:: else ->
		weigh(write[k_]);
		if
		:: found && KEEP -> write[k_].doomed = 1
		:: found && !KEEP && k_ < WORKERS && d[k_].at == ending -> write[k_].owner = 0; write[k_].fresh = 0
		:: found && !KEEP && k_ < WORKERS && d[k_].at != ending -> found = write[k_].payload; clear(write[k_]); write[k_].payload = found
		:: found && !KEEP && k_ >= WORKERS -> clear(write[k_])
		:: else
		fi
	fi
}

#define RENAME(o) \
	if \
	:: o != 0 && names[o] == 0 -> named++; names[o] = named; o = named \
	:: o != 0 && names[o] != 0 -> o = names[o] \
	:: else \
	fi

/* Ends every step that may have changed the record or a write. */
inline tidy() {
	k_ = 0;
	do
	:: k_ < WRITES -> doom(); k_++
	:: else -> break
	od;
	RENAME(rec.owner);
	k_ = 0;
	do
	:: k_ < WRITES -> RENAME(write[k_].owner); RENAME(write[k_].shown_owner); k_++
	:: else -> break
	od;
	named = 0;
	k_ = 0;
	do
	:: k_ < 16 -> names[k_] = 0; k_++
	:: else -> break
	od;
	k_ = 0
}
