package dynamo

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// states are those that a condition's text allows: the values that it compares
// the state with.
func states(condition string) (allowed []intent.State) {
	bound := values(intent.Record{}, nil)
	for _, m := range regexp.MustCompile(`#state = (:\w+)`).FindAllStringSubmatch(condition, -1) {
		allowed = append(allowed, intent.State(bound[m[1]].(*types.AttributeValueMemberS).Value))
	}
	return allowed
}

// The owner's conditions allow the states that the table of transitions lists,
// no more and no fewer.
func TestConditionsFollowTheTable(t *testing.T) {
	for _, tr := range intent.Transitions {
		if tr.Guard != intent.ByOwner {
			continue
		}
		condition := conditionFor(intent.Record{State: tr.To})
		if got, want := states(condition), intent.Sources(tr.To, intent.ByOwner); !slices.Equal(got, want) {
			t.Errorf("%s: condition %q allows %v, the table %v", tr.Verb, condition, got, want)
		}
		if !strings.Contains(condition, "#owner = :owner") {
			t.Errorf("%s: condition %q does not name the owner", tr.Verb, condition)
		}
	}
	for _, part := range []string{"#state = :shown_state", "#owner = :shown_owner", "lease_until = :shown_lease"} {
		if !strings.Contains(conditionShown, part) {
			t.Errorf("condition %q does not say %q", conditionShown, part)
		}
	}
}

// Only a put creates: the other conditions hold for no absent item.
func TestConditionsThatNeedARecord(t *testing.T) {
	for _, condition := range []string{conditionOwnClaim, conditionOwnClaimOrDoubt, conditionShown} {
		if strings.Contains(condition, "attribute_not_exists") || strings.Contains(condition, "<>") {
			t.Errorf("condition %q may hold for an absent item", condition)
		}
	}
}

// Every name and value that is bound is used, and every one that is used is
// bound: DynamoDB refuses a request otherwise.
func TestEveryBoundNameAndValueIsUsed(t *testing.T) {
	word := regexp.MustCompile(`[#:]\w+`)
	now := time.Now()
	full := intent.Record{LeaseUntil: now, ClaimedAt: now, CompletedAt: now, ExpiresAt: now}
	for _, tr := range intent.Transitions {
		for _, claimedAt := range []time.Time{now, {}} {
			next := full
			next.State, next.ClaimedAt = tr.To, claimedAt
			bound := values(next, text("result"))
			condition := conditionFor(next)
			if tr.Guard == intent.ByShown {
				condition = conditionShown
				bound[":shown_state"], bound[":shown_owner"], bound[":shown_lease"] = text(""), text(""), number(0)
			}
			update := updateFor(next)
			var got, want []string
			boundNames, boundValues := bind(bound, update, condition)
			for name := range boundNames {
				got = append(got, name)
			}
			for value := range boundValues {
				got = append(got, value)
			}
			want = word.FindAllString(update+" "+condition, -1)
			slices.Sort(got)
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(got, want) {
				t.Errorf("%s to %s: bound %v, used %v", tr.Verb, tr.To, got, want)
			}
		}
	}
	want := word.FindAllString(conditionAbsent, -1)
	boundNames, boundValues := bind(absentValues(now), conditionAbsent)
	got := slices.AppendSeq(slices.Collect(maps.Keys(boundNames)), maps.Keys(boundValues))
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("a claim: bound %v, used %v", got, want)
	}
}

// A name that DynamoDB reserves and that is not written as #name fails every
// request, so each attribute stands either in names or in no list of theirs.
func TestReservedNames(t *testing.T) {
	for name, attribute := range names {
		if name != "#"+attribute {
			t.Errorf("name %s stands for %s", name, attribute)
		}
	}
	for _, expression := range []string{conditionAbsent, conditionOwnClaim, conditionOwnClaimOrDoubt, conditionShown,
		updateClaimed, updateFinal, updateReleased, updateReleasedForgotten, updateParked} {
		for name, attribute := range names {
			if regexp.MustCompile(`(^|[ ,(])` + attribute + `\b`).MatchString(expression) {
				t.Errorf("expression %q names %s and not %s", expression, attribute, name)
			}
		}
	}
}
