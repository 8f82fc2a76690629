package sim

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intenttest/memdb"
)

type item = map[string]types.AttributeValue

// Table is DynamoDB as one process reaches it, by the methods of the SDK's client.
type Table struct{ process *Process }

func (t *Table) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return through(ctx, t.process, write, "PutItem", in, t.db().PutItem, in.Item)
}

func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return through(ctx, t.process, write, "UpdateItem", in, t.db().UpdateItem, in.Key)
}

func (t *Table) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return through(ctx, t.process, write, "DeleteItem", in, t.db().DeleteItem, in.Key)
}

func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return through(ctx, t.process, read, "GetItem", in, t.db().GetItem, in.Key)
}

func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return through(ctx, t.process, read, "Query", in, t.db().Query)
}

func (t *Table) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return through(ctx, t.process, read, "BatchGetItem", in, t.db().BatchGetItem, in.RequestItems[Records].Keys...)
}

func (t *Table) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	var items []item
	for _, s := range in.Statements {
		items = append(items, named(s))
	}
	return through(ctx, t.process, write, "BatchExecuteStatement", in, t.db().BatchExecuteStatement, items...)
}

func (t *Table) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	var items []item
	for _, a := range in.TransactItems {
		items = append(items, acted(a))
	}
	return through(ctx, t.process, write, "TransactWriteItems", in, t.db().TransactWriteItems, items...)
}

func (t *Table) db() *memdb.DB { return t.process.world.DB }

// through is one call about those items.
func through[In, Out any](ctx context.Context, p *Process, k kind, operation string, in *In,
	run func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error), about ...item) (out *Out, err error) {
	p.saw(in)
	var names []string
	for _, it := range about {
		names = append(names, nameOf(it))
	}
	slices.Sort(names) // a group's are in no order
	// The last arrival of a call is what is answered. What arrives when nobody waits any more is not read here.
	c := &call{kind: k, name: operation + " " + strings.Join(names, ", "), input: in, records: names}
	var answer struct {
		out *Out
		err error
	}
	c.apply = func() { answer.out, answer.err = run(context.WithoutCancel(ctx), in) }
	broken, ended := p.enter(ctx, c)
	switch {
	case ended != nil:
		return nil, ended
	case broken != nil:
		return nil, broken
	}
	return answer.out, answer.err
}

// nameOf is an item's key, of whichever table. A record's is its intent.
func nameOf(it item) string {
	var parts []string
	for _, attribute := range []string{"intent", "user_id", "account_id", "order_id", "email_id", "item_id"} {
		if v, ok := it[attribute].(*types.AttributeValueMemberS); ok {
			parts = append(parts, v.Value)
		}
	}
	return strings.Join(parts, "/")
}

// named is the key of a statement's record: the only text of its parameters that begins with a scope.
func named(s types.BatchStatementRequest) item {
	for _, v := range s.Parameters {
		if text, ok := v.(*types.AttributeValueMemberS); ok && strings.HasPrefix(text.Value, Scope+"#") {
			return item{"intent": text}
		}
	}
	return nil
}

// Scope is the one of every intent here.
const Scope = "sim"

func acted(a types.TransactWriteItem) item {
	switch {
	case a.Put != nil:
		return a.Put.Item
	case a.Update != nil:
		return a.Update.Key
	case a.Delete != nil:
		return a.Delete.Key
	case a.ConditionCheck != nil:
		return a.ConditionCheck.Key
	}
	return nil
}

// spoil draws which parts of a call fail, and how.
func (w *World) spoil(c *call) {
	spoilt := map[string]error{}
	for _, name := range c.records {
		switch w.Rand.IntN(4) {
		case 0:
			spoilt[name] = &types.TransactionConflictException{}
		case 1:
			spoilt[name] = &types.ProvisionedThroughputExceededException{}
		}
	}
	w.parts[c.input] = spoilt
}

// partly is the plan of the database: calls as a whole pass here, and have had their fate at the gate.
func (w *World) partly(c memdb.Call) memdb.Fault {
	spoilt := w.parts[c.Input]
	if c.Index < 0 || spoilt == nil {
		return memdb.Fault{}
	}
	var it item
	switch in := c.Input.(type) {
	case *dynamodb.BatchExecuteStatementInput:
		it = named(in.Statements[c.Index])
	case *dynamodb.TransactWriteItemsInput:
		it = acted(in.TransactItems[c.Index])
	}
	return memdb.Fault{Err: spoilt[nameOf(it)]}
}
