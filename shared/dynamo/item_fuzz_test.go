package dynamo

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// attributes are what a record is made of; a later release may know more.
var attributes = []string{
	attrIntent, attrVersion, attrState, attrOwner, attrAttempt, attrLeaseUntil, attrClaimedAt, attrFingerprint,
	attrResult, attrCompletedAt, attrMessageID, attrReason, attrExpiresAt, "unknown",
}

// kinds are the forms that an attribute can have.
var kinds = []func(s string, n int64) types.AttributeValue{
	func(string, int64) types.AttributeValue { return nil }, // absent
	func(s string, _ int64) types.AttributeValue { return text(s) },
	func(_ string, n int64) types.AttributeValue { return number(n) },
	func(s string, _ int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} },
	func(string, int64) types.AttributeValue { return &types.AttributeValueMemberNULL{Value: true} },
	func(_ string, n int64) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: n > 0} },
	func(s string, _ int64) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(s)} },
	func(s string, _ int64) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: item{siblingField: text(s)}}
	},
	func(string, int64) types.AttributeValue { return &types.AttributeValueMemberM{} },
	func(_ string, n int64) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: item{siblingField: number(n)}}
	},
	func(s string, _ int64) types.AttributeValue {
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{text(s)}}
	},
	func(s string, _ int64) types.AttributeValue { return &types.AttributeValueMemberSS{Value: []string{s}} },
}

// FuzzRecord reads items that are a record with some attributes spoilt: three bytes of
// damage each. What is taken says what the item says, and comes back the same when it
// is written again; what is of another release is said to be, and nothing that is
// there reads as absent.
func FuzzRecord(f *testing.F) {
	states := []string{"claimed", "released", "completed", "refused", "in_doubt", "archived", ""}
	for _, state := range states {
		f.Add(state, "o", `{"a":1}`, int64(1_795_953_600_000), []byte{})
	}
	for a := range attributes {
		for k := range kinds {
			for _, i := range []int{(a + k) % 6, (a + k + 3) % 6} {
				s := []string{"1", "", "soon", "00", "9223372036854775808", "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff"}[i]
				f.Add(states[(a+k)%5], s, s, []int64{1, 0, -1, 2, 1 << 62, -62135596800}[i], []byte{byte(a), byte(k), 0})
			}
		}
	}
	f.Fuzz(func(t *testing.T, state, s, result string, n int64, damage []byte) {
		it := encode(intent.Record{
			Intent: "s#o#k", State: intent.State(state), Owner: "o", Attempt: 1, LeaseUntil: time.UnixMilli(n), ClaimedAt: time.UnixMilli(n), MessageID: "m",
		}, text(result))
		whole := maps.Clone(it)
		for ; len(damage) > 2; damage = damage[3:] {
			name := attributes[int(damage[0])%len(attributes)]
			it[name] = kinds[int(damage[1])%len(kinds)](s, n+int64(int8(damage[2])))
			if it[name] == nil {
				delete(it, name)
			}
		}
		r, sibling, err := decode(it)
		said := &saying{it: it}
		want := said.record()
		var format *intent.FormatError
		if foreign := said.number(attrVersion) != 1 || !want.State.Known(); foreign != errors.As(err, &format) {
			t.Fatalf("got error %v, want a FormatError: %t", err, foreign)
		}
		if err == nil {
			if said.odd || !alike(r, want) || sibling != said.sibling {
				t.Errorf("read as %+v and sibling %q, want %+v and %q, or an error: %t", r, sibling, want, said.sibling, said.odd)
			}
			again, _, err := decode(encode(r, it[attrResult]))
			if err != nil || !alike(again, r) {
				t.Errorf("written and read again as %+v, error %v, want %+v", again, err, r)
			}
			if n > 0 && maps.EqualFunc(it, whole, same) && !maps.EqualFunc(encode(r, it[attrResult]), it, same) {
				t.Errorf("written as %v, was %v", encode(r, it[attrResult]), it)
			}
		} else if format == nil && !said.odd {
			t.Errorf("got error %v, want %+v", err, want)
		}
		store := New(shelf{items: map[string]item{"s#o#k": it, s: {attrResult: kinds[len(result)%len(kinds)](result, n)}}}, "records")
		switch r, err := store.Load(context.Background(), "s#o#k"); {
		case err != nil:
		case r.State == intent.StateAbsent && len(it) > 0:
			t.Errorf("%v reads as absent", it)
		case said.sibling != "" && r.Result.Omitted == (r.Result.JSON != nil):
			t.Errorf("a result that is kept beside the record reads as %+v", r.Result)
		}
	})
}

// alike compares records, whose times may be of several locations.
func alike(a, b intent.Record) bool {
	for _, r := range []*intent.Record{&a, &b} {
		for _, at := range []*time.Time{&r.LeaseUntil, &r.ClaimedAt, &r.CompletedAt, &r.ExpiresAt} {
			*at = at.UTC()
		}
	}
	return reflect.DeepEqual(a, b)
}

func same(a, b types.AttributeValue) bool { return reflect.DeepEqual(a, b) }

// saying reads an item as its words say, and whether one of them is none.
type saying struct {
	it      item
	odd     bool
	sibling string
}

func (s *saying) text(name string) string {
	v, _ := s.it[name].(*types.AttributeValueMemberS)
	if v == nil {
		s.odd = s.odd || s.it[name] != nil
		return ""
	}
	return v.Value
}

func (s *saying) number(name string) int64 {
	v, _ := s.it[name].(*types.AttributeValueMemberN)
	if v == nil {
		s.odd = s.odd || s.it[name] != nil
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	s.odd = s.odd || err != nil
	if err != nil {
		return 0
	}
	return n
}

func (s *saying) time(name string, of func(int64) time.Time) time.Time {
	if n := s.number(name); n != 0 {
		return of(n)
	}
	return time.Time{}
}

func (s *saying) record() (r intent.Record) {
	seconds := func(n int64) time.Time { return time.Unix(n, 0) }
	r = intent.Record{
		Intent: s.text(attrIntent), State: intent.State(s.text(attrState)), Owner: s.text(attrOwner), Attempt: int(s.number(attrAttempt)),
		LeaseUntil: s.time(attrLeaseUntil, time.UnixMilli), ClaimedAt: s.time(attrClaimedAt, time.UnixMilli), CompletedAt: s.time(attrCompletedAt, time.UnixMilli),
		MessageID: s.text(attrMessageID), Reason: s.text(attrReason), ExpiresAt: s.time(attrExpiresAt, seconds),
	}
	digits := s.text(attrFingerprint)
	for i := range r.Fingerprint {
		if len(digits) != 64 {
			s.odd = true
			break
		}
		b, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		s.odd = s.odd || err != nil
		r.Fingerprint[i] = byte(b)
	}
	switch r.State {
	case intent.StateClaimed, intent.StateReleased, intent.StateInDoubt:
		s.odd = s.odd || r.Owner == "" || r.LeaseUntil.IsZero()
	}
	switch v := s.it[attrResult].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		r.Result.JSON = []byte(v.Value)
	case *types.AttributeValueMemberNULL:
		r.Result.Omitted = true
	case *types.AttributeValueMemberM:
		named, _ := v.Value[siblingField].(*types.AttributeValueMemberS)
		if named == nil || named.Value == "" {
			s.odd = true
			break
		}
		s.sibling = named.Value
	default:
		s.odd = true
	}
	return r
}

// shelf holds items to be read.
type shelf struct {
	API
	items map[string]item
}

func (s shelf) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: s.items[in.Key[attrIntent].(*types.AttributeValueMemberS).Value]}, nil
}
