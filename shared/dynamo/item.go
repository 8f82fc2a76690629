package dynamo

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

type item = map[string]types.AttributeValue

// The record's attributes, as the table, the template and the operator's tools
// know them.
const (
	attrIntent      = "intent"
	attrVersion     = "v"
	attrState       = "state"
	attrOwner       = "owner"
	attrAttempt     = "attempt"
	attrLeaseUntil  = "lease_until"
	attrClaimedAt   = "claimed_at"
	attrBlind       = "blind" // BOOL, true or absent
	attrFingerprint = "fingerprint"
	attrResult      = "result"
	attrCompletedAt = "completed_at"
	attrMessageID   = "message_id"
	attrReason      = "reason"
	attrOpen        = "open"       // the key of the index of what operators look at; see intent.Record.Open
	attrOpenSince   = "open_since" // its range
	attrExpiresAt   = "expires_at" // the TTL attribute: epoch seconds, type N
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// values are what the expressions may mention of a record. Those that lead to a final
// state mention the result, and only such a record has one.
func values(r intent.Record, result types.AttributeValue) item {
	return item{
		":state":        text(string(r.State)),
		":owner":        text(r.Owner),
		":attempt":      number(int64(r.Attempt)),
		":lease_until":  number(r.LeaseUntil.UnixMilli()),
		":claimed_at":   number(r.ClaimedAt.UnixMilli()),
		":fingerprint":  text(r.Fingerprint.String()),
		":blind":        &types.AttributeValueMemberBOOL{Value: true},
		":message_id":   text(r.MessageID),
		":reason":       text(r.Reason),
		":result":       result,
		":completed_at": number(r.CompletedAt.UnixMilli()),
		":open":         text(r.Open()),
		":open_since":   number(r.OpenSince.UnixMilli()),
		":expires_at":   number(r.ExpiresAt.Unix()),
		":claimed":      text(string(intent.StateClaimed)),
		":in_doubt":     text(string(intent.StateInDoubt)),
	}
}

// encode is the record as a whole item, for a put.
func encode(r intent.Record, result types.AttributeValue) item {
	it := item{
		attrIntent:      text(r.Intent),
		attrVersion:     number(intent.Version),
		attrState:       text(string(r.State)),
		attrOwner:       text(r.Owner),
		attrAttempt:     number(int64(r.Attempt)),
		attrFingerprint: text(r.Fingerprint.String()),
		attrMessageID:   text(r.MessageID),
	}
	stamp := func(name string, t time.Time) {
		if !t.IsZero() {
			it[name] = number(t.UnixMilli())
		}
	}
	stamp(attrLeaseUntil, r.LeaseUntil)
	stamp(attrClaimedAt, r.ClaimedAt)
	stamp(attrCompletedAt, r.CompletedAt)
	if !r.OpenSince.IsZero() {
		it[attrOpen], it[attrOpenSince] = text(r.Open()), number(r.OpenSince.UnixMilli())
	}
	if !r.ExpiresAt.IsZero() {
		it[attrExpiresAt] = number(r.ExpiresAt.Unix())
	}
	if result != nil {
		it[attrResult] = result
	}
	if r.Blind {
		it[attrBlind] = &types.AttributeValueMemberBOOL{Value: true}
	}
	if r.Reason != "" {
		it[attrReason] = text(r.Reason)
	}
	return it
}

// decode reads a record, all but a result that is kept in a sibling, whose key
// it returns. A format or state of another release is a *intent.FormatError.
func decode(it item) (r intent.Record, sibling string, err error) {
	d := decoder{it: it}
	r.Intent = d.text(attrIntent)
	r.State = intent.State(d.text(attrState))
	if version := d.number(attrVersion); version != intent.Version || !r.State.Known() {
		return intent.Record{}, "", &intent.FormatError{Intent: r.Intent, Version: int(version), State: r.State}
	}
	r.Owner = d.text(attrOwner)
	r.Attempt = int(d.number(attrAttempt))
	r.LeaseUntil = d.millis(attrLeaseUntil)
	r.ClaimedAt = d.millis(attrClaimedAt)
	r.Blind = d.truth(attrBlind)
	r.CompletedAt = d.millis(attrCompletedAt)
	r.MessageID = d.text(attrMessageID)
	r.Reason = d.text(attrReason)
	r.OpenSince = d.millis(attrOpenSince)
	if seconds := d.number(attrExpiresAt); seconds != 0 {
		r.ExpiresAt = time.Unix(seconds, 0)
	}
	if digest, err := hex.DecodeString(d.text(attrFingerprint)); err != nil || len(digest) != len(r.Fingerprint) {
		d.fail(attrFingerprint, "is no SHA-256 in hexadecimal")
	} else {
		copy(r.Fingerprint[:], digest)
	}
	if !r.State.Final() && (r.Owner == "" || r.LeaseUntil.IsZero()) {
		d.fail(attrLeaseUntil, "or owner is missing, which no takeover could name")
	}
	sibling = d.result(&r.Result)
	return r, sibling, d.err
}

// decoder reads attributes and keeps the first error. An attribute that is not
// there reads as zero.
type decoder struct {
	it  item
	err error
}

func (d *decoder) fail(name, reason string) {
	if d.err == nil {
		d.err = fmt.Errorf("record attribute %q %s", name, reason)
	}
}

func (d *decoder) text(name string) string {
	switch v := d.it[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	default:
		d.fail(name, "is not a string")
	}
	return ""
}

func (d *decoder) number(name string) int64 {
	switch v := d.it[name].(type) {
	case nil:
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(v.Value, 10, 64)
		if err != nil {
			d.fail(name, "is not a whole number")
		}
		return n
	default:
		d.fail(name, "is not a number")
	}
	return 0
}

func (d *decoder) truth(name string) bool {
	switch v := d.it[name].(type) {
	case nil:
	case *types.AttributeValueMemberBOOL:
		return v.Value
	default:
		d.fail(name, "is neither true nor false")
	}
	return false
}

func (d *decoder) millis(name string) time.Time {
	if ms := d.number(name); ms != 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}
