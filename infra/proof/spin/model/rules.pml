/* The rules that carry the protocol, and the mutants of this model: each breaks one of them. A mutant has a line here, a name and
   what it does; the runner passes -DMUTANT=<name> and expects an error. C37 and the like are the numbers of public cases. */

/* The conditions of writes. */
#define COMPLETION_IN_ANY_STATE    1 /* complete and refuse name the owner, not the state */
#define REFUSAL_WITHOUT_OWNER      2 /* refuse names the state, not the owner */
#define RELEASE_IN_ANY_STATE       3 /* release names the owner, not that the record is claimed */
#define RELEASE_WITHOUT_OWNER      4 /* C34: release names the state, not the owner */
#define PARK_IN_ANY_STATE          5 /* C38: park names the owner, not that the record is claimed */
#define PARK_WITHOUT_OWNER         6 /* park names the state, not the owner */
#define RENEWAL_IN_ANY_STATE       7 /* renew names the owner, not that the record is claimed */
#define RENEWAL_OF_ANY_LEASE       8 /* renew does not name that its lease is later: a late copy moves it back */
#define TAKEOVER_WITHOUT_STATE     9 /* C37: takeover names the owner that was shown, not the state */
#define TAKEOVER_WITHOUT_OWNER    10 /* takeover names the state that was shown, not the owner */
#define PARK_WITHOUT_SHOWN_STATE  11 /* another's park names the owner that was shown, not the state */
#define PARK_WITHOUT_SHOWN_OWNER  12 /* another's park names the state that was shown, not the owner */
#define SETTLE_WITHOUT_STATE      13 /* a verdict names the owner that was shown, not that it is in doubt */
#define SETTLE_WITHOUT_OWNER      14 /* a verdict names the doubt, not whose it is */
#define SHOWN_WITHOUT_LEASE       15 /* no write names the lease that was shown: a renewal is overwritten */
#define CLAIM_UNCONDITIONAL       16 /* C01: the claim's put has no condition */

/* What the record that stands says. */
#define OWN_WIN_IN_ANY_STATE      17 /* C39: our owner in the record is enough, the lease counts from the reply */
#define OWN_WIN_AFTER_LEASE       18 /* C39: our owner in a claimed record is enough, the lease counts from the reply */
#define ANSWER_FROM_MEMORY        19 /* the worker answers what it meant to write */
#define NO_CONFLICT               20 /* C33: another payload under the key is not told from the first */
#define LAPSED_BLIND_TAKEN_OVER   21 /* C10: what may have happened is run again */
#define TAKEOVER_PUTS             22 /* C41: a takeover puts the record anew, claimed_at with it */
#define EXPIRY_KEPT               23 /* C45: a claim over an expired record keeps its expires_at */
#define OLD_MESSAGE_CLAIMS        24 /* a message older than the retention is run when no record stands */

/* Time. */
#define NO_SKEW_MARGIN            25 /* for others a lease is over when it is over */
#define NO_LAST_LOOK              26 /* an effect may start after its lease */
#define NO_TIME_TO_SETTLE         27 /* a probe's "no" counts while a request may be on its way */
#define NO_WINDOW                 28 /* a lapsed claim and a released record are taken over past the provider's window */
#define WINDOW_OF_LAPSED_ALONE    29 /* a released record is taken over past the provider's window */
#define NO_WINDOW_MARGIN          30 /* the provider's window is used to its end */
#define RENEWAL_PAST_WINDOW       31 /* a Keyed lease is renewed past the provider's window */

/* What the effect said. */
#define UNKNOWN_RELEASED          32 /* C40: a Keyed attempt that ended unknown is released at once */
#define BLIND_UNKNOWN_RELEASED    33 /* C40: a Blind one is */
#define WINDOW_CLEARED_BY_ALL     34 /* C41: NotApplied clears claimed_at whoever set it */
#define OWN_CHECK_TRUSTED         35 /* C43: an effect's own check counts in every attempt */
#define REFUSAL_SAID_AT_ONCE      36 /* C42: a Ledger says refused before its own put has won */

/* Messages. */
#define LAPSED_NOT_TAKEN_OVER     37 /* C11: a lapsed claim stays claimed */
#define RELEASED_NOT_TAKEN_OVER   38 /* C35: a released record is not run again */
#define DONE_IS_LISTED            39 /* C09: a duplicate of what is done is not acknowledged */
#define DOUBT_ACKNOWLEDGED        40 /* C46: a message in doubt is acknowledged, and nobody runs it once it is settled */
#define SETTLED_NOT_REDRIVEN      41 /* C46: an operator settles a doubt to released and leaves its message in quarantine */

/* After a "no". As long as it is true and nobody parked the record twice, other rules cover these. */
#define COMPLETION_WITHOUT_OWNER  42 /* complete names the state, not the owner: after a false "no" it lands on the claim for another payload */
#define SETTLE_KEEPS_OWNER        43 /* a verdict "did not happen" draws no new owner: a park of the released record before it undoes it */

#ifndef MUTANT
#define MUTANT 0
#endif
#define breaks(rule) (MUTANT == rule)

/* What a condition names. */
#define broken_for(rule, verb1, verb2) (breaks(rule) && verb1 == verb2)
#define OWNER_NAMED(verb_) (!(broken_for(COMPLETION_WITHOUT_OWNER, verb_, complete) || broken_for(REFUSAL_WITHOUT_OWNER, verb_, refuse) || \
	broken_for(RELEASE_WITHOUT_OWNER, verb_, release) || broken_for(PARK_WITHOUT_OWNER, verb_, park)))
#define LATER_LEASE_NAMED (!breaks(RENEWAL_OF_ANY_LEASE))
#define STATE_SHOWN(verb_) (!(broken_for(TAKEOVER_WITHOUT_STATE, verb_, takeover) || \
	broken_for(PARK_WITHOUT_SHOWN_STATE, verb_, park) || broken_for(SETTLE_WITHOUT_STATE, verb_, settle)))
#define OWNER_SHOWN(verb_) (!(broken_for(TAKEOVER_WITHOUT_OWNER, verb_, takeover) || \
	broken_for(PARK_WITHOUT_SHOWN_OWNER, verb_, park) || broken_for(SETTLE_WITHOUT_OWNER, verb_, settle)))
#define LEASE_SHOWN(verb_) (RENEWS && !breaks(SHOWN_WITHOUT_LEASE)) /* without renewals owner and state determine it */

#if MUTANT == COMPLETION_IN_ANY_STATE
#define MORE_TRANSITIONS(ROW) ROW(complete, released, completed, owner) ROW(complete, refused, completed, owner) \
	ROW(complete, completed, completed, owner) ROW(refuse, completed, refused, owner)
#elif MUTANT == RELEASE_IN_ANY_STATE
#define MORE_TRANSITIONS(ROW) ROW(release, in_doubt, released, owner) ROW(release, completed, released, owner) \
	ROW(release, refused, released, owner)
#elif MUTANT == PARK_IN_ANY_STATE
#define MORE_TRANSITIONS(ROW) ROW(park, released, in_doubt, owner) ROW(park, completed, in_doubt, owner) ROW(park, refused, in_doubt, owner)
#elif MUTANT == RENEWAL_IN_ANY_STATE
#define MORE_TRANSITIONS(ROW) ROW(renew, released, claimed, owner) ROW(renew, in_doubt, claimed, owner) \
	ROW(renew, completed, claimed, owner) ROW(renew, refused, claimed, owner)
#elif MUTANT == TAKEOVER_WITHOUT_STATE
#define MORE_TRANSITIONS(ROW) ROW(takeover, in_doubt, claimed, shown) ROW(takeover, completed, claimed, shown) \
	ROW(takeover, refused, claimed, shown)
#elif MUTANT == PARK_WITHOUT_SHOWN_STATE
#define MORE_TRANSITIONS(ROW) ROW(park, completed, in_doubt, shown) ROW(park, refused, in_doubt, shown)
#elif MUTANT == SETTLE_WITHOUT_STATE
#define MORE_TRANSITIONS(ROW) ROW(settle, released, completed, shown) ROW(settle, completed, released, shown) \
	ROW(settle, completed, refused, shown) ROW(settle, refused, released, shown)
#elif MUTANT == CLAIM_UNCONDITIONAL
#define MORE_TRANSITIONS(ROW) ROW(claim, claimed, claimed, absence) ROW(claim, released, claimed, absence) \
	ROW(claim, in_doubt, claimed, absence) ROW(claim, completed, claimed, absence) ROW(claim, refused, claimed, absence)
#else
#define MORE_TRANSITIONS(ROW)
#endif

/* Others wait past a lease for as long as clocks may differ; a probe's "no" waits for requests, too. */
#define SKEW_MARGIN   (breaks(NO_SKEW_MARGIN) -> 0 : MARGIN)
#define SETTLING_TIME (breaks(NO_TIME_TO_SETTLE) -> 0 : FLIGHT)

/* A record that carries our owner is our claim only while it is claimed and the lease still runs, counted from before the claim
   was sent. */
#define OWN_WIN(x) (rec.owner == x.owner && (rec.state == claimed || breaks(OWN_WIN_IN_ANY_STATE)) && (lease_runs(x) || LEASE_FROM_REPLY))
#define LEASE_FROM_REPLY (breaks(OWN_WIN_IN_ANY_STATE) || breaks(OWN_WIN_AFTER_LEASE))

/* The last look before the effect. */
#define MAY_START(x) (lease_runs(x) || breaks(NO_LAST_LOOK))

/* Another payload under the key, while claimed_at stands. */
#define CONFLICT(payload_) (rec.state != absent && rec.payload != payload_ && (final(rec.state) || rec.window > 0) && !breaks(NO_CONFLICT))

/* What may have happened is asked for, not run again, unless a provider dedups it. */
#define LAPSED_IS_DOUBT (!KEYED && !breaks(LAPSED_BLIND_TAKEN_OVER))

/* An effect's own check speaks of the intent only while no earlier attempt can have happened. */
#define OWN_CHECK(x) (x.fresh || breaks(OWN_CHECK_TRUSTED))

/* The provider's window, from claimed_at. */
#define WINDOW_BINDS(state_) (!(breaks(NO_WINDOW) || breaks(WINDOW_OF_LAPSED_ALONE) && state_ == released))
#define WINDOW_MARGIN (breaks(NO_WINDOW_MARGIN) -> 0 : FLIGHT)
