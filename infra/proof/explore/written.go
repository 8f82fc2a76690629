package explore

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// completion is a result, in some worlds with a write that commits with it. The write
// has no condition, so that a second one shows.
func (w *world) completion(s *subject, result any) any {
	if !w.written {
		return result
	}
	return dynamo.WithWrites(result, w.write(s))
}

func (w *world) write(s *subject) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(accounts), Key: named(written + s.key.String()),
		UpdateExpression: aws.String("ADD taken :one"), ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1)},
	}}
}

// rejectedCompletion is one of which the write fails by a condition of its own.
func (w *world) rejectedCompletion(s *subject, result any) any {
	write := w.write(s)
	write.Update.ConditionExpression = aws.String("attribute_exists(account) AND attribute_not_exists(account)")
	return dynamo.WithWrites(result, write)
}

// written begins the names of the rows that completions write.
const written = "written by "

// unwritten says how the write of a completion and its record differ: both are there,
// or neither.
func (w *world) unwritten(s *subject, now intent.Record) bool {
	n := numberIn(w.account(written+s.key.String()), "taken")
	return w.written && n != 0 != (now.State == intent.StateCompleted) || n > 1
}
