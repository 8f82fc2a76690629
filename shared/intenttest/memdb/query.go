package memdb

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Query is a *dynamodb.Client's, on a table: there are no indexes.
func (db *DB) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return serve(ctx, db, "Query", in, query)
}

func query(r *request, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	err := unsupported(feature{"IndexName", in.IndexName != nil}, feature{"KeyConditions", in.KeyConditions != nil},
		feature{"QueryFilter", in.QueryFilter != nil}, feature{"AttributesToGet", in.AttributesToGet != nil},
		feature{"ConditionalOperator", in.ConditionalOperator != ""})
	if err != nil {
		return nil, err
	}
	if err := checkReports(in.ReturnConsumedCapacity, ""); err != nil {
		return nil, err
	}
	if in.KeyConditionExpression == nil {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	s, err := newScope(in.ExpressionAttributeNames, in.ExpressionAttributeValues, expression{"KeyConditionExpression", in.KeyConditionExpression})
	if err != nil {
		return nil, err
	}
	c, err := parseCondition("KeyConditionExpression", in.KeyConditionExpression, s)
	if err != nil {
		return nil, err
	}
	p, err := r.newPage(in.TableName, in.FilterExpression, in.ProjectionExpression, s, in.Select, in.Limit)
	if err != nil {
		return nil, err
	}
	p.consistent = aws.ToBool(in.ConsistentRead)
	if err := p.table.unfiltered(p.filter); err != nil {
		return nil, err
	}
	partition, sort, err := p.table.keyCondition(c)
	if err != nil {
		return nil, err
	}
	after, start, err := p.table.startingKey(in.ExclusiveStartKey)
	if err != nil {
		return nil, err
	}
	switch {
	case after == nil:
	case sort != nil && !sort.holds(start):
		return nil, invalid("The provided starting key does not match the range key predicate")
	case after.partition != partition && sort != nil:
		return nil, invalid("The query can return at most one row and cannot be restarted")
	case after.partition != partition:
		return nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := p.table.behind(p.table.partitions[partition], after, in.ScanIndexForward != nil && !*in.ScanIndexForward)
	if sort != nil {
		rows = slices.DeleteFunc(rows, func(r *row) bool { return !sort.holds(r.item) })
	}
	read := r.page(p, rows)
	return &dynamodb.QueryOutput{
		Items: read.items, Count: read.count, ScannedCount: read.scanned, LastEvaluatedKey: read.last,
		ConsumedCapacity: r.meter.one(in.ReturnConsumedCapacity),
	}, nil
}

// keyCondition takes a key condition apart: the partition's value, and what is left for the sort key.
func (t *table) keyCondition(c condition) (partition string, sort condition, err error) {
	conditions := conjuncts(c)
	on := make(map[string]keyUse, len(conditions))
	for _, c := range conditions {
		use, name, err := useOfKey(c)
		if err != nil {
			return "", nil, err
		}
		if _, twice := on[name]; twice {
			return "", nil, invalid("KeyConditionExpressions must only contain one condition per key")
		}
		on[name] = use
	}
	if len(conditions) > 2 {
		return "", nil, invalid("Conditions can be of length 1 or 2 only")
	}
	for i, attribute := range t.keys[:min(len(t.keys), len(conditions))] {
		use, ok := on[attribute.name]
		if !ok {
			return "", nil, invalid("Query condition missed key schema element")
		}
		for _, v := range use.values {
			if kindOf(v) != string(attribute.kind) {
				return "", nil, invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
			}
			if _, err := keyValue(attribute.name, i, v); err != nil {
				return "", nil, err
			}
		}
		switch {
		case i == 1:
			sort = use.condition
		case use.operator != "=":
			return "", nil, invalid("Query key condition not supported")
		default:
			partition, _ = keyValue(attribute.name, 0, use.values[0])
		}
	}
	if len(conditions) > len(t.keys) {
		return "", nil, invalid("Query condition missed key schema element")
	}
	return partition, sort, nil
}

// conjuncts are the conditions that all have to hold.
func conjuncts(c condition) []condition {
	if b, ok := c.(both); ok {
		return append(conjuncts(b.one), conjuncts(b.two)...)
	}
	return []condition{c}
}

// keyUse is one condition on one key attribute.
type keyUse struct {
	condition
	operator string
	values   []types.AttributeValue
}

func useOfKey(c condition) (use keyUse, name string, err error) {
	var operator string
	var values []types.AttributeValue
	var operands []operand
	switch c := c.(type) {
	case comparison:
		operator, operands = c.operator, []operand{c.one, c.two}
	case between:
		operator, operands = "BETWEEN", []operand{c.of, c.low, c.high}
	case prefix:
		operator, operands = "begins_with", []operand{c.of, c.start}
	}
	if operands == nil || operator == "<>" {
		return keyUse{}, "", invalid("Invalid operator used in KeyConditionExpression: %s", operatorOf(c))
	}
	for _, o := range operands {
		switch o := o.(type) {
		case path:
			if len(o) > 1 {
				return keyUse{}, "", invalid("Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes")
			}
			name = o[0].name
		case constant:
			values = append(values, o.AttributeValue)
		default:
			return keyUse{}, "", invalid("KeyConditionExpressions cannot contain nested operations")
		}
	}
	if len(values) != len(operands)-1 {
		return keyUse{}, "", invalid("Invalid condition in KeyConditionExpression: %s operator must have exactly one key attribute", operator)
	}
	return keyUse{c, operator, values}, name, nil
}

// operatorOf names what no key condition may hold.
func operatorOf(c condition) string {
	switch c := c.(type) {
	case either:
		return "OR"
	case negation:
		return "NOT"
	case among:
		return "IN"
	case kinship:
		return "attribute_type"
	case contains:
		return "contains"
	case existence:
		if c.want {
			return "attribute_exists"
		}
		return "attribute_not_exists"
	}
	return "<>"
}
