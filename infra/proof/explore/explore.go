package explore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// violation is a history in which something went wrong.
type violation struct {
	fault, how string
	story      []string
}

func (v *violation) Error() string {
	return fmt.Sprintf("%s\n%s\n%s", v.fault, v.how, strings.Join(v.story, "\n"))
}

// history runs one in a bubble, on whose clock it takes hours, and gives its story.
func history(t *testing.T, class Class, sideBySide int, c chooser, mutate func(dynamo.API) dynamo.API) (story []string, v *violation) {
	synctest.Test(t, func(t *testing.T) {
		db := memdb.New(memdb.Config{Tables: []memdb.Table{
			{Name: records, Keys: []string{"intent"}, TTL: "expires_at"}, {Name: accounts, Keys: []string{"account"}},
		}})
		w := &world{class: class, chooser: c, db: db, api: db, store: dynamo.New(db, records)}
		if mutate != nil {
			w.api = mutate(db)
		}
		w.far = farSide{keys: class == Keyed || class == Grouped, effects: map[string]int{}, answers: map[string]error{}}
		if _, err := db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(accounts), Item: map[string]types.AttributeValue{
			"account": &types.AttributeValueMemberS{Value: "a"}, "balance": &types.AttributeValueMemberN{Value: fmt.Sprint(opening)},
		}}); err != nil {
			t.Fatal(err)
		}
		w.run(sideBySide)
		if story = w.story; w.fault != "" {
			v = &violation{w.fault, fmt.Sprintf("%s, %d side by side, %s", class, sideBySide, c), story}
		}
	})
	return story, v
}

// exhaust runs every history of up to that many deviations, until one goes wrong.
func exhaust(t *testing.T, class Class, sideBySide, deviations int, mutate func(dynamo.API) dynamo.API) (histories int, v *violation) {
	p := &path{budget: deviations}
	for {
		histories++
		if _, v := history(t, class, sideBySide, p, mutate); v != nil {
			return histories, v
		}
		if !p.next() {
			return histories, nil
		}
	}
}
