package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

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

// form is a statement but for its values, and the names of those that its places
// take. They are made once: the texts of a batch are all the same.
type form struct {
	text  string
	takes []string
}

// with is the statement with its values.
func (f form) with(values item) statement {
	st := statement{text: f.text, parameters: make([]types.AttributeValue, len(f.takes))}
	for i, name := range f.takes {
		st.parameters[i] = values[name]
	}
	return st
}

// forms are those of one table.
type forms struct {
	insert  form
	updates map[string]form // by the update's expression
}

func formsOn(table string) forms {
	f := forms{insert: insertInto(table), updates: map[string]form{}}
	for _, update := range []string{updateFinal, updateReleased, updateReleasedForgotten, updateParked} {
		f.updates[update] = updateOf(table, update)
	}
	return f
}

// insertInto is a claim. An INSERT is conditional on attribute_not_exists of the key:
// it fails with DuplicateItem. What it cannot say is that an expired record is
// replaced.
func insertInto(table string) form {
	once := time.UnixMilli(1)
	f := form{takes: slices.Sorted(maps.Keys(encode(intent.Record{LeaseUntil: once, ClaimedAt: once}, nil)))}
	fields := make([]string, len(f.takes))
	for i, name := range f.takes {
		fields[i] = "'" + name + "': ?"
	}
	f.text = `INSERT INTO "` + table + `" VALUE {` + strings.Join(fields, ", ") + `}`
	return f
}

// updateOf is a change by the owner, made of the same expressions as the request for
// one record alone.
func updateOf(table, update string) form {
	var f form
	term := func(t string) string { // `name = :value`
		name, value, _ := strings.Cut(t, " = ")
		f.takes = append(f.takes, value)
		return quoted(name) + " = ?"
	}
	var b strings.Builder
	b.WriteString(`UPDATE "` + table + `"`)
	set, remove, removes := strings.Cut(strings.TrimPrefix(update, "SET "), " REMOVE ")
	for assignment := range strings.SplitSeq(set, ", ") {
		b.WriteString(" SET " + term(assignment))
	}
	if removes {
		for name := range strings.SplitSeq(remove, ", ") {
			b.WriteString(" REMOVE " + quoted(name))
		}
	}
	f.takes = append(f.takes, attrIntent)
	b.WriteString(" WHERE " + quoted(attrIntent) + " = ?")
	for condition := range strings.SplitSeq(conditionOwnClaim, " AND ") {
		b.WriteString(" AND " + term(condition))
	}
	f.text = b.String()
	return f
}

// insert is the claim as a statement. False: it has other attributes than a claim.
func (s *Store) insert(next intent.Record) (statement, bool) {
	it := encode(next, nil)
	st := s.forms().insert.with(it)
	return st, len(it) == len(st.parameters) && !slices.Contains(st.parameters, nil)
}

// update is a change by the owner as a statement.
func (s *Store) update(next intent.Record, result types.AttributeValue) statement {
	v := values(next, result)
	v[attrIntent] = text(next.Intent)
	return s.forms().updates[updateFor(next)].with(v)
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
