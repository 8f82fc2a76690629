package dynamo

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// plain is a statement with its parameters in their places.
func plain(t *testing.T, st statement) string {
	t.Helper()
	if marks := strings.Count(st.text, "?"); marks != len(st.parameters) {
		t.Errorf("%s has %d places for %d parameters", st.text, marks, len(st.parameters))
		return st.text
	}
	text := st.text
	for _, p := range st.parameters {
		text = strings.Replace(text, "?", bare(p), 1)
	}
	return text
}

func bare(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	}
	return fmt.Sprintf("%T", v) // a parameter that is missing, among others
}

// An UPDATE says what the request for one record alone says: each assignment and
// each removal of its update, and the owner's condition.
func TestUpdateFollowsTheExpressions(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	term := regexp.MustCompile(`#?(\w+) = (:\w+)`)
	for _, tr := range intent.Transitions {
		if tr.Guard != intent.ByOwner || tr.To == intent.StateClaimed { // a renewal goes alone
			continue
		}
		for _, claimedAt := range []time.Time{now, {}} {
			next := intent.Record{
				Intent: "key", State: tr.To, Owner: "owner-token", Attempt: 1, LeaseUntil: now, ClaimedAt: claimedAt,
				CompletedAt: now, Reason: "because", OpenSince: now, ExpiresAt: now,
			}
			result := text("result-json")
			v := values(next, result)
			quote := func(expression, before string) (clauses []string) {
				for _, m := range term.FindAllStringSubmatch(expression, -1) {
					clauses = append(clauses, fmt.Sprintf(`%s"%s" = %s`, before, m[1], bare(v[m[2]])))
				}
				return clauses
			}
			set, remove, _ := strings.Cut(updateFor(next), " REMOVE ")
			want := `UPDATE "records"` + strings.Join(quote(set, " SET "), "")
			if remove != "" {
				for name := range strings.SplitSeq(remove, ", ") {
					want += ` REMOVE "` + strings.TrimPrefix(name, "#") + `"`
				}
			}
			want += ` WHERE "intent" = key AND ` + strings.Join(quote(conditionOwnClaim, ""), " AND ")
			if got := plain(t, New(nil, "records").update(next, result)); got != want {
				t.Errorf("%s from %s:\ngot  %s\nwant %s", tr.Verb, tr.From, got, want)
			}
			// It may ask for more than the request alone, never for less: what it is
			// refused for is looked at again.
			allowed := states(conditionFor(next))
			for _, state := range states(conditionOwnClaim) {
				if !slices.Contains(allowed, state) {
					t.Errorf("%s: the statement allows %s, the request alone %v", tr.Verb, state, allowed)
				}
			}
		}
	}
}

// An INSERT holds the whole record as a put does, and no other condition: it is
// attribute_not_exists by its nature.
func TestInsertIsTheWholeRecord(t *testing.T) {
	next := intent.Record{
		Intent: "key", State: intent.StateClaimed, Owner: "owner-token", Attempt: 1,
		LeaseUntil: time.UnixMilli(2_000), ClaimedAt: time.UnixMilli(1_000), MessageID: "message-1",
	}
	it := encode(next, nil)
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(it)) {
		fields = append(fields, fmt.Sprintf("'%s': %s", name, bare(it[name])))
	}
	want := `INSERT INTO "records" VALUE {` + strings.Join(fields, ", ") + `}`
	st, ok := New(nil, "records").insert(next)
	if got := plain(t, st); got != want || !ok {
		t.Errorf("got  %s, %t\nwant %s", got, ok, want)
	}
	// What has another attribute, or one for another, is put alone.
	more, other := next, next
	more.Reason = "because"
	other.Reason, other.LeaseUntil = "because", time.Time{}
	for _, next := range []intent.Record{more, other} {
		if st, ok := New(nil, "records").insert(next); ok {
			t.Errorf("%+v as %s", next, st.text)
		}
	}
}
