package explore

import (
	"context"
	"flag"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
)

var mutants = flag.Bool("mutants", false, "look for a history that kills each mutant of the expressions: minutes")

// mutant is a table whose writers say less than they should, or other things.
type mutant struct {
	dynamo.API
	from, to string
}

func (m mutant) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, f ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	c := *in
	condition := strings.Replace(*c.ConditionExpression, m.from, m.to, 1)
	update := strings.Replace(*c.UpdateExpression, m.from, m.to, 1)
	c.ConditionExpression, c.UpdateExpression = &condition, &update
	c.ExpressionAttributeNames, c.ExpressionAttributeValues = used(c.ExpressionAttributeNames, c.ExpressionAttributeValues, condition, update)
	return m.API.UpdateItem(ctx, &c, f...)
}

func (m mutant) PutItem(ctx context.Context, in *dynamodb.PutItemInput, f ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c := *in
	if c.ConditionExpression != nil {
		condition := strings.Replace(*c.ConditionExpression, m.from, m.to, 1)
		c.ConditionExpression = &condition
		c.ExpressionAttributeNames, c.ExpressionAttributeValues = used(c.ExpressionAttributeNames, c.ExpressionAttributeValues, condition)
	}
	return m.API.PutItem(ctx, &c, f...)
}

func (m mutant) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, f ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c := *in
	c.TransactItems = append([]types.TransactWriteItem(nil), in.TransactItems...)
	if p := c.TransactItems[0].Put; p != nil {
		own := *p
		condition := strings.Replace(*own.ConditionExpression, m.from, m.to, 1)
		own.ConditionExpression = &condition
		own.ExpressionAttributeNames, own.ExpressionAttributeValues = used(own.ExpressionAttributeNames, own.ExpressionAttributeValues, condition)
		c.TransactItems[0].Put = &own
	}
	return m.API.TransactWriteItems(ctx, &c, f...)
}

// used drops the names and values that no expression mentions any more: DynamoDB
// refuses those.
func used(names map[string]string, values map[string]types.AttributeValue, expressions ...string) (map[string]string, map[string]types.AttributeValue) {
	words := map[string]bool{}
	for _, e := range expressions {
		for _, word := range strings.FieldsFunc(e, func(c rune) bool { return strings.ContainsRune(" ,()", c) }) {
			words[word] = true
		}
	}
	names, values = maps.Clone(names), maps.Clone(values)
	maps.DeleteFunc(names, func(name string, _ string) bool { return !words[name] })
	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool { return !words[name] })
	if len(names) == 0 {
		names = nil
	}
	if len(values) == 0 {
		values = nil
	}
	return names, values
}

// Each clause of each condition is needed: without it some history of few deviations
// goes wrong.
func TestMutants(t *testing.T) {
	if !*mutants {
		t.Skip("not asked for: -args -mutants")
	}
	for _, tt := range []struct {
		name, from, to string
		classes        []Class
	}{
		{"claim without absence", "attribute_not_exists(intent) OR expires_at < :now", "attribute_exists(intent) OR attribute_not_exists(intent)", []Class{Keyed, Ledger}},
		{"release and park without the owner", "#owner = :owner AND #state = :claimed", "#state = :claimed", []Class{Keyed, Blind, Probed}},
		{"release and park without the state", "#owner = :owner AND #state = :claimed", "#owner = :owner", []Class{Keyed, Blind, Probed}},
		{"completion without the owner", "#owner = :owner AND (#state = :claimed OR #state = :in_doubt)", "(#state = :claimed OR #state = :in_doubt)", []Class{Keyed, Blind, Probed}},
		{"completion without the states", "#owner = :owner AND (#state = :claimed OR #state = :in_doubt)", "#owner = :owner", []Class{Keyed, Blind, Probed}},
		{"takeover without the state", "#state = :shown_state AND ", "", []Class{Keyed, Blind, Probed}},
		{"takeover without the lease", " AND lease_until = :shown_lease", "", []Class{Renewed, RenewedProbed}},
		{"renewal without the lease", " AND lease_until < :lease_until", "", []Class{Renewed, RenewedProbed}},
		{"takeover without the owner", " AND #owner = :shown_owner", "", []Class{Keyed, Blind, Probed}},
		{"settlement that keeps the owner", "#owner = :owner, #reason = :reason", "#reason = :reason", []Class{Probed}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			total := 0
			for _, class := range tt.classes {
				mutate := func(a dynamo.API) dynamo.API { return mutant{a, tt.from, tt.to} }
				histories, found := setting{class: class, mutate: mutate}.find(t, 2, 20000, wrong)
				if total += histories; found == nil { // it takes three deliveries and as many deviations
					histories, found = setting{class: class, side: 3, mutate: mutate}.exhaust(t, 3, wrong)
					total += histories
				}
				if found != nil {
					t.Logf("killed by history %d: %s", total, found.fault)
					return
				}
			}
			t.Errorf("survives %d histories", total)
		})
	}
}
