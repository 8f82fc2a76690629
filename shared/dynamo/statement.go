package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

// statement is one write in PartiQL: the same conditional write at the same write
// units, of which one call takes many.
type statement struct {
	text       string
	parameters []types.AttributeValue
}

// insert is the claim as a statement. An INSERT is conditional on
// attribute_not_exists of the key: it fails with DuplicateItem. What it cannot say
// is that a forgotten record is replaced.
func (s *Store) insert(next intent.Record) statement {
	it := encode(next, nil)
	names := slices.Sorted(maps.Keys(it))
	var st statement
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = "'" + name + "': ?"
		st.parameters = append(st.parameters, it[name])
	}
	st.text = `INSERT INTO "` + s.table + `" VALUE {` + strings.Join(fields, ", ") + `}`
	return st
}

// update is a change by the owner as a statement, made of the same expressions as
// the request for one record alone.
func (s *Store) update(next intent.Record, result types.AttributeValue) statement {
	v := values(next, result)
	var st statement
	term := func(t string) string { // `name = :value`
		name, value, _ := strings.Cut(t, " = ")
		st.parameters = append(st.parameters, v[value])
		return quoted(name) + " = ?"
	}
	var b strings.Builder
	b.WriteString(`UPDATE "` + s.table + `"`)
	set, remove, removes := strings.Cut(strings.TrimPrefix(updateFor(next), "SET "), " REMOVE ")
	for assignment := range strings.SplitSeq(set, ", ") {
		b.WriteString(" SET " + term(assignment))
	}
	if removes {
		b.WriteString(" REMOVE " + quoted(remove))
	}
	st.parameters = append(st.parameters, text(next.Intent))
	b.WriteString(" WHERE " + quoted(attrIntent) + " = ?")
	for condition := range strings.SplitSeq(conditionOwnClaim, " AND ") {
		b.WriteString(" AND " + term(condition))
	}
	st.text = b.String()
	return st
}

// quoted is an attribute's name for PartiQL.
func quoted(name string) string {
	if full, ok := names[name]; ok {
		name = full
	}
	return `"` + name + `"`
}

// execute makes one call of the writes and answers each. Writes that failed for
// another reason than what stands are to be asked again alone; so are all, if the
// call as a whole did not come through.
func (s *Store) execute(ctx context.Context, writes []*write) {
	input := &dynamodb.BatchExecuteStatementInput{}
	for _, w := range writes {
		input.Statements = append(input.Statements, types.BatchStatementRequest{
			Statement:                           &w.statement.text,
			Parameters:                          w.statement.parameters,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
	}
	var out *dynamodb.BatchExecuteStatementOutput
	err := persist(ctx, func(ctx context.Context) (err error) {
		out, err = s.client.BatchExecuteStatement(ctx, input)
		return err
	})
	if err != nil || len(out.Responses) != len(writes) {
		for _, w := range writes {
			w.answer <- answer{alone: true}
		}
		return
	}
	missing := map[string]*write{}
	for i, r := range out.Responses {
		switch w := writes[i]; {
		case r.Error == nil:
			w.answer <- answer{}
		case r.Error.Code != types.BatchStatementErrorCodeEnumDuplicateItem && r.Error.Code != types.BatchStatementErrorCodeEnumConditionalCheckFailed:
			w.answer <- answer{alone: true}
		case len(r.Error.Item) > 0:
			w.answer <- answer{item: r.Error.Item}
		default:
			missing[w.next.Intent] = w
		}
	}
	// Only they wait for this: who has won starts at once.
	found, err := s.getAll(ctx, slices.Collect(maps.Keys(missing)))
	for key, w := range missing {
		switch it, ok := found[key]; {
		case err != nil:
			w.answer <- answer{alone: true}
		case ok:
			w.answer <- answer{item: it}
		default:
			w.answer <- answer{item: item{}} // gone again
		}
	}
}

// errUnprocessed is an answer that left some keys for later.
var errUnprocessed = errors.New("keys left unprocessed")

// getAll reads items consistently, by their keys. What DynamoDB leaves unprocessed
// it was too busy for, so it is asked for again like a throttled call.
func (s *Store) getAll(ctx context.Context, keys []string) (map[string]item, error) {
	found := map[string]item{}
	if len(keys) == 0 {
		return found, nil
	}
	var left []item
	for _, key := range keys {
		left = append(left, item{attrIntent: text(key)})
	}
	err := persist(ctx, func(ctx context.Context) error {
		out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			s.table: {Keys: left, ConsistentRead: aws.Bool(true)},
		}})
		if err != nil {
			return err
		}
		for _, it := range out.Responses[s.table] {
			d := decoder{it: it}
			found[d.text(attrIntent)] = it
		}
		if left = out.UnprocessedKeys[s.table].Keys; len(left) > 0 {
			return errUnprocessed
		}
		return nil
	})
	return found, err
}
