package dynamo

import (
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// Every condition and every update that is ever sent. Each line says what
// breaks without it.
const (
	// Without attribute_not_exists two deliveries both win. Without expires_at an
	// expired intent is never claimable until TTL happens to delete it, which
	// DynamoDB does within days, not seconds. Without v, or without the states, a
	// record of another release is taken for none: nobody here knows what its
	// expires_at means.
	conditionAbsent = "attribute_not_exists(intent) OR (expires_at < :now AND v = :v AND (#state = :completed OR #state = :refused))"

	// Without the owner a worker that wakes up late releases or renews its
	// successor's claim. Without the state its late copy lands on a record that
	// has ended or was settled meanwhile.
	conditionOwnClaim = "#owner = :owner AND #state = :claimed"

	// Without the lease a renewal's late copy moves it back.
	conditionRenewal = conditionOwnClaim + " AND lease_until < :lease_until"

	// Who ran the effect may also say so when another parked the claim meanwhile.
	// Without the states a completion lands on a record that was settled as not
	// having happened; without the owner, after a false no, on a claim of another
	// payload.
	conditionOwnClaimOrDoubt = "#owner = :owner AND (#state = :claimed OR #state = :in_doubt)"

	// Without the state the owner's completion, landing between look and write, is
	// overwritten; without the owner a successor's claim is; without the lease a
	// renewal is.
	conditionShown = "#state = :shown_state AND #owner = :shown_owner AND lease_until = :shown_lease"

	// For a claim, a takeover and a renewal. Without claimed_at the provider's
	// window would count from the wrong claim; a Put in its place would lose
	// whatever a later format adds.
	setClaimed = "SET #state = :state, #owner = :owner, attempt = :attempt, lease_until = :lease_until, " +
		"claimed_at = :claimed_at, fingerprint = :fingerprint, message_id = :message_id"

	// Without it operators look at what somebody is seeing to.
	removeOpen = ", #open, open_since"

	// Without the removal a Keyed attempt would be taken for a Blind one before it, and go
	// in doubt for no reason.
	updateClaimed = setClaimed + " REMOVE #reason, blind" + removeOpen

	// Without blind an operation that becomes Keyed would run an attempt again that no
	// provider knows by a key.
	updateClaimedBlind = setClaimed + ", blind = :blind REMOVE #reason" + removeOpen

	// Without expires_at the record never expires.
	updateFinal = "SET #state = :state, #result = :result, completed_at = :completed_at, expires_at = :expires_at REMOVE #reason" + removeOpen

	// A release keeps its owner and a settlement brings a new one: without that a
	// late park, by who was shown the record as it was released before the doubt,
	// undoes the verdict; and against the owner's late completion there is only
	// the state.
	updateReleased = "SET #state = :state, #owner = :owner, #reason = :reason"

	// Without the removal an intent known not to have happened stays bound to its
	// payload and to the provider's window.
	updateReleasedForgotten = updateReleased + " REMOVE claimed_at"

	// Without it no operator finds the record: the index has what has these two alone.
	setOpen = "#open = :open, open_since = :open_since"

	// Without the reason an operator has nothing to go by.
	updateParked = "SET #state = :state, #reason = :reason, " + setOpen

	// For a claim whose message was given up.
	updateOpened = "SET " + setOpen
)

// names are the attribute names that DynamoDB reserves.
var names = map[string]string{"#state": "state", "#owner": "owner", "#result": "result", "#reason": "reason", "#open": "open"}

// updateFor is the update that leads to next's state.
func updateFor(next intent.Record) string {
	switch next.State {
	case intent.StateClaimed:
		switch {
		case !next.OpenSince.IsZero():
			return updateOpened
		case next.Blind:
			return updateClaimedBlind
		}
		return updateClaimed
	case intent.StateReleased:
		if next.ClaimedAt.IsZero() {
			return updateReleasedForgotten
		}
		return updateReleased
	case intent.StateInDoubt:
		return updateParked
	}
	return updateFinal
}

// conditionFor is the owner's condition for next's state.
func conditionFor(next intent.Record) string {
	switch {
	case next.State.Final():
		return conditionOwnClaimOrDoubt
	case next.State == intent.StateClaimed:
		return conditionRenewal
	}
	return conditionOwnClaim
}

// absentValues are the values of conditionAbsent for a claim made then.
func absentValues(now time.Time) item {
	return item{
		":now":       number(now.Unix()),
		":v":         number(intent.Version),
		":completed": text(string(intent.StateCompleted)),
		":refused":   text(string(intent.StateRefused)),
	}
}

// bind picks the names and values that the expressions mention: DynamoDB
// refuses a request that defines one it does not use.
func bind(values map[string]types.AttributeValue, expressions ...string) (map[string]string, map[string]types.AttributeValue) {
	usedNames, usedValues := map[string]string{}, map[string]types.AttributeValue{}
	for _, e := range expressions {
		for _, word := range strings.FieldsFunc(e, func(c rune) bool { return strings.ContainsRune(" ,()", c) }) {
			if name, ok := names[word]; ok {
				usedNames[word] = name
			}
			if value, ok := values[word]; ok {
				usedValues[word] = value
			}
		}
	}
	return usedNames, usedValues
}
