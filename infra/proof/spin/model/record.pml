/* The record, the writes that ask to change it, and what is checked whenever one lands. */

#define absent    0
#define claimed   1
#define released  2
#define completed 3
#define refused   4
#define in_doubt  5
#define final(state) (state == completed || state == refused)

#define claim    1
#define commit   2
#define renew    3
#define complete 4
#define refuse   5
#define release  6
#define park     7
#define takeover 8
#define settle   9
#define open     10 /* lists the claim for operators: no rule reads that, so no worker here sends it */

/* Times are countdowns in ticks: what is left of them. `lease` is what is left until everybody agrees that a probe's "no" would
   count: the lease, the skew margin and the settling time. `window` is one more than what is left of the provider's window, and 0
   where claimed_at is not set. */
typedef Record {
	unsigned state : 3;
	unsigned owner : 4;
	unsigned lease : 3;
	unsigned window : 4;
	bit payload;
	bit expired /* expires_at is over */
}

/* A write is ByShown if it has a shown_state, else ByOwner or ByAbsence. */
typedef Write {
	unsigned verb : 4;
	unsigned to : 3;
	unsigned owner : 4;
	unsigned lease : 3; /* on the writer's monotonic clock */
	bit ahead; /* of which its wall clock was a tick ahead */
	unsigned window : 4;
	bit fresh; /* no earlier attempt can have happened */
	bit payload;
	unsigned shown_state : 3;
	unsigned shown_owner : 4;
	unsigned shown_lease : 3;
	bit doomed /* with KEEP: has been refused for good, see doom */
}

/* What a worker is at, beside its write. */
#define idle      0
#define calling   1 /* a write of acquire is on its way */
#define judging   2 /* was shown a record */
#define running   3 /* owns the intent, its effect has sent nothing yet */
#define asking    4 /* has sent the effect's request */
#define probing   5
#define ending    6 /* the write that ends the claim is on its way */
#define reporting 7 /* the message's copy is in the dead-letter queue, the message itself not yet gone */

typedef Delivery {
	unsigned at : 3;
	bit copied; /* a copy of the present write was left behind */
	bit old; /* the message is older than the retention */
	bit message; /* which of two, with LIVE */
	unsigned request : 3; /* for how long it may still be on its way; 0: there is none */
	bit executing; /* the provider has begun, see FINISHED_ONLY */
	unsigned answer : 2
}

Record rec;

/* A write each of the workers and of an operator, and late copies: what the SDK sent and gave up, and what may still land. */
#define DESK WORKERS
#define FIRST_COPY (WORKERS + 1)
#define WRITES (WORKERS + 1 + LATE)
Write write[WRITES];

/* Beyond the workers': the request whose worker is gone. */
#define ORPHAN WORKERS
#define REQUESTS (WORKERS + 1 + FALSE_NO)
Delivery d[REQUESTS];
bit orphan_payload;

/* The far side of it all: how often the effect happened, and of which payloads. */
unsigned effects : 3;
bit happened[2];

/* What the far side answers. */
#define nothing  0
#define yes      1
#define declined 2 /* the business says no; a provider remembers that under the key */
#define rejected 3 /* turned away before anybody looked at the key: 429 */

/* An operator said "did not happen" of something that did or still could. */
bit false_no;

/* With FORGET: the retention is over, and the producer uses the key again. */
bit forgotten;
bit reused;
#define allowed (1 + false_no * (1 + PAYLOADS) - (forgotten && !reused))

/* Of a Ledger: its own conditions hold. */
bit funds;

/* With LIVE: the message, and the one that it is after a redrive. */
bit queued[2];
bit hidden_message; /* until the next tick */
bit quarantined; /* a copy of it is in the dead-letter queue */
bit calm; /* from now on no fault, and calls take no time worth a tick */
#define FAULT (!calm)

#define SHIFT (MARGIN + FLIGHT)

#define happens(p) \
	effects++; \
	happened[p] = 1; \
	assert(effects <= allowed); \
	assert(rec.state != refused || false_no)

#define FROM_absent    (rec.state == absent || rec.expired)
#define FROM_claimed   (rec.state == claimed)
#define FROM_released  (rec.state == released)
#define FROM_completed (rec.state == completed)
#define FROM_refused   (rec.state == refused)
#define FROM_in_doubt  (rec.state == in_doubt)

#define GUARD_absence(verb_) (x.shown_state == absent)
#define GUARD_owner(verb_) (x.shown_state == absent && (rec.owner == x.owner || !(OWNER_NAMED(verb_))))
#define GUARD_shown(verb_) (x.shown_state != absent && \
	(rec.state == x.shown_state || !(STATE_SHOWN(verb_))) && \
	(rec.owner == x.shown_owner || !(OWNER_SHOWN(verb_))) && \
	(rec.lease == x.shown_lease || !(LEASE_SHOWN(verb_))))

/* What a write's condition names beside state and guard. */
#define ALSO_claim    true
#define ALSO_commit   (x.to == refused || funds)
#define ALSO_renew    (rec.lease < x.lease + x.ahead || !(LATER_LEASE_NAMED))
#define ALSO_complete true
#define ALSO_refuse   true
#define ALSO_release  true
#define ALSO_park     true
#define ALSO_takeover true
#define ALSO_settle   true
#define ALSO_open     true

#define OWN(x) rec.owner = x.owner; rec.lease = x.lease + x.ahead; rec.payload = x.payload

#define SET_claim    OWN(x); rec.window = x.window; rec.expired = (rec.expired && breaks(EXPIRY_KEPT))
#define SET_commit   OWN(x); rec.expired = 0; if :: x.to == completed -> happens(x.payload) :: else fi
#define SET_renew    rec.lease = x.lease + x.ahead
#define SET_complete skip
#define SET_refuse   skip
#define SET_release  if :: x.fresh || breaks(WINDOW_CLEARED_BY_ALL) -> rec.window = 0 :: else fi
#define SET_open     skip
#define SET_park     assert(rec.window > 0) /* else the effect is known not to have happened */
#define SET_takeover OWN(x); rec.window = x.window
#define SET_settle   if :: x.to == released -> rec.window = 0; if :: breaks(SETTLE_KEEPS_OWNER) :: else -> rec.owner = x.owner fi :: else fi

/* No final record ever changes, but for one past its retention; and a final record says what happened. Where the rest of a record
   decides nothing any more it is forgotten, which keeps states few. */
#define becomes(state_) \
	rec.state = state_; \
	if \
	:: state_ == completed -> assert(happened[rec.payload]); rec.lease = 0; rec.window = 0 \
	:: state_ == refused -> assert(effects == 0 || false_no); rec.lease = 0; rec.window = 0 \
	:: state_ == released || state_ == in_doubt && !PROBES -> rec.lease = 0 \
	:: else \
	fi

#define CAN(verb_, from_, to_, guard_) (x.verb == verb_ && x.to == to_ && FROM_##from_ && GUARD_##guard_(verb_)) ||
#define LAND(verb_, from_, to_, guard_) \
	:: (x.verb == verb_ && x.to == to_ && FROM_##from_ && GUARD_##guard_(verb_) && ALSO_##verb_) -> \
		assert(!x.doomed && (!final(rec.state) || rec.expired)); SET_##verb_; becomes(to_)

/* One conditional write reaches the table. */
inline land(x) {
	if
	TRANSITIONS(LAND)
	MORE_TRANSITIONS(LAND)
	:: else
	fi
}
