package dynamo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// maxInline is the largest result, in bytes of JSON, that the record itself
	// carries: a failed conditional put is billed on the size of the item that is
	// already there.
	maxInline = 512

	// maxSibling is the largest result that a sibling item carries: DynamoDB's
	// item limit is 400 KB with names and keys (Amazon DynamoDB quotas, "Item size").
	maxSibling = 390 << 10

	// storeResultFor bounds the tries to store a sibling, so that a completion
	// keeps its time.
	storeResultFor = 500 * time.Millisecond
)

// siblingField names the sibling inside a result attribute of type M. A result
// of type S stands inline, NULL was omitted.
const siblingField = "sibling"

// siblingKey is a key that no intent can have: intents hold two bare separators.
// It also names the content, so that two verdicts on one claim never share it.
func siblingKey(r intent.Record) string {
	sum := sha256.Sum256(r.Result.JSON)
	return r.Intent + "##" + r.Owner + "#" + hex.EncodeToString(sum[:8])
}

// place decides where the record's result goes: the attribute for the record,
// and the sibling item to be put before it or with it, if any.
func place(r *intent.Record) (attribute types.AttributeValue, sibling item) {
	switch size := len(r.Result.JSON); {
	case !r.State.Final():
		return nil, nil
	case size > maxSibling || r.Result.Omitted:
		r.Result = intent.Result{Omitted: true}
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case size > maxInline:
		key := siblingKey(*r)
		return &types.AttributeValueMemberM{Value: item{siblingField: text(key)}}, item{
			attrIntent:    text(key),
			attrResult:    text(string(r.Result.JSON)),
			attrExpiresAt: number(r.ExpiresAt.Unix()),
		}
	}
	return text(string(r.Result.JSON)), nil
}

// keep places the result and stores the sibling, if there is to be one. What
// cannot be stored is omitted: the completion never depends on it.
func (s *Store) keep(ctx context.Context, r *intent.Record) types.AttributeValue {
	attribute, sibling := place(r)
	if sibling == nil {
		return attribute
	}
	ctx, cancel := context.WithTimeout(ctx, s.storeResultFor)
	defer cancel()
	err := persist(ctx, func(ctx context.Context) error {
		// Unconditional, and safe: the key names its content, so whoever writes it
		// writes the same.
		_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: sibling})
		return err
	})
	if err != nil {
		r.Result = intent.Result{Omitted: true}
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return attribute
}

// result reads the result attribute; a result kept in a sibling leaves its key.
func (d *decoder) result(to *intent.Result) (sibling string) {
	switch v := d.it[attrResult].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		to.JSON = json.RawMessage(v.Value)
	case *types.AttributeValueMemberNULL:
		to.Omitted = true
	case *types.AttributeValueMemberM:
		inner := decoder{it: v.Value}
		sibling = inner.text(siblingField)
		if sibling == "" {
			d.fail(attrResult, "names no sibling")
		}
	default:
		d.fail(attrResult, "is neither a string, a map nor null")
	}
	return sibling
}

// record decodes an item and fetches a result kept in a sibling. One whose
// sibling is gone reads as omitted.
func (s *Store) record(ctx context.Context, it item) (intent.Record, error) {
	r, sibling, err := decode(it)
	if err != nil || sibling == "" {
		return r, err
	}
	found, err := s.get(ctx, sibling)
	if err != nil {
		return intent.Record{}, err
	}
	d := decoder{it: found}
	if d.result(&r.Result); r.Result.JSON == nil {
		r.Result.Omitted = true
	}
	return r, d.err
}

// get reads an item consistently; nil if there is none.
func (s *Store) get(ctx context.Context, key string) (item, error) {
	var found item
	err := persist(ctx, func(ctx context.Context) error {
		out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName:      &s.table,
			Key:            item{attrIntent: text(key)},
			ConsistentRead: aws.Bool(true),
		})
		if err == nil {
			found = out.Item
		}
		return err
	})
	return found, err
}
