package demo

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// operation is one of the functions as the demo knows it, from outside: what is
// sent to it, and where its effects are.
type operation struct {
	name string // the function's folder

	// key names an intent. Nil for a natural one, which has no key.
	key func(a action) string

	// group is the message group, where order counts. Nil elsewhere.
	group func(a action) string

	// body is a message's, but for the key.
	body func(a action) map[string]any

	// rows are what an intent needs to find.
	rows func(a action) []row

	// effect tells the request by which the function takes effect, or its naive
	// twin.
	effect func(r *http.Request, naive bool) bool

	// count counts the effects of an intent where they happen; of a natural one
	// the end state, which is there (1) or not (0).
	count func(ctx context.Context, s *side, a action) (int, error)

	// later makes a change that comes after the intent and that no late redelivery
	// may undo, and stands tells whether the change is there. Nil but for a natural
	// one.
	later  func(ctx context.Context, s *side, a action) error
	stands func(ctx context.Context, s *side, a action) (bool, error)

	// blind: a crash may leave an intent in doubt.
	blind bool

	lesson lesson
}

// operations are the functions that take part, in the order of the lesson.
var operations = []*operation{&ship, &clearcart, &adjust, &welcome, &charge}

// natural: the end state is right however often and however late a message comes.
func (o *operation) natural() bool { return o.later != nil }

// row is an item of a table.
type row struct {
	table string // its logical id
	key   string // names the item in the table
	item  item
}

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// toDynamoDB tells a request to DynamoDB for one of the actions, or for any if
// none is named.
func toDynamoDB(r *http.Request, actions ...string) bool {
	action, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	return ok && (len(actions) == 0 || slices.Contains(actions, action))
}

// posts tells a request that posts to the path of an HTTP API.
func posts(r *http.Request, path string) bool {
	return r.Method == http.MethodPost && r.URL.Path == path
}
