package calls

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// needs are the permissions of one request. Most operations are the action of their name (Service Authorization Reference, "Actions,
// resources, and condition keys for Amazon DynamoDB", "… Amazon SQS", "… AWS Secrets Manager" and "… Amazon Simple Email Service v2").
// A request that is not known here is an action of no service, which no list has.
func needs(input any) []Call {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		return on("dynamodb:PutItem", in.TableName)
	case *dynamodb.UpdateItemInput:
		return on("dynamodb:UpdateItem", in.TableName)
	case *dynamodb.DeleteItemInput:
		return on("dynamodb:DeleteItem", in.TableName)
	case *dynamodb.GetItemInput:
		return on("dynamodb:GetItem", in.TableName)
	case *dynamodb.QueryInput:
		if in.IndexName == nil { // an index is a resource of its own
			return on("dynamodb:Query", in.TableName)
		}
	case *dynamodb.BatchGetItemInput:
		var calls []Call
		for table := range in.RequestItems {
			calls = append(calls, on("dynamodb:BatchGetItem", &table)...)
		}
		return calls
	case *dynamodb.BatchExecuteStatementInput:
		var calls []Call
		for _, s := range in.Statements {
			calls = append(calls, statement(aws.ToString(s.Statement)))
		}
		return calls
	case *dynamodb.TransactWriteItemsInput:
		var calls []Call
		for _, item := range in.TransactItems {
			calls = append(calls, transacted(item)...)
		}
		return calls
	// SQS has no actions of its own for batches (Amazon SQS developer guide, "Amazon SQS API permissions: Actions and resource reference").
	case *sqs.SendMessageBatchInput:
		return on("sqs:SendMessage", in.QueueUrl)
	case *sqs.ChangeMessageVisibilityBatchInput:
		return on("sqs:ChangeMessageVisibility", in.QueueUrl)
	}
	// These by their names: what imports this package for the sake of DynamoDB need not have the clients of other services.
	switch name := strings.TrimPrefix(fmt.Sprintf("%T", input), "*"); {
	case name == "secretsmanager.GetSecretValueInput":
		return on("secretsmanager:GetSecretValue", field[*string](input, "SecretId"))
	case name == "sesv2.SendEmailInput" && simple(input): // a raw e-mail and a template want more
		return on("ses:SendEmail", field[*string](input, "FromEmailAddress"))
	default:
		return []Call{{Action: "unknown:" + strings.TrimSuffix(name, "Input")}}
	}
}

// field is one of the input that a pointer leads to.
func field[T any](input any, name string) T {
	return reflect.ValueOf(input).Elem().FieldByName(name).Interface().(T)
}

func simple(input any) bool {
	content := reflect.ValueOf(input).Elem().FieldByName("Content")
	return !content.IsNil() && !content.Elem().FieldByName("Simple").IsNil()
}

func on(action string, resource *string) []Call { return []Call{{action, aws.ToString(resource)}} }

// transacted is what one item of a transaction needs: the action of the same write alone, and for a condition one of its own (Amazon
// DynamoDB developer guide, "Using IAM with DynamoDB transactions").
func transacted(item types.TransactWriteItem) []Call {
	var calls []Call
	if item.Put != nil {
		calls = append(calls, on("dynamodb:PutItem", item.Put.TableName)...)
	}
	if item.Update != nil {
		calls = append(calls, on("dynamodb:UpdateItem", item.Update.TableName)...)
	}
	if item.Delete != nil {
		calls = append(calls, on("dynamodb:DeleteItem", item.Delete.TableName)...)
	}
	if item.ConditionCheck != nil {
		calls = append(calls, on("dynamodb:ConditionCheckItem", item.ConditionCheck.TableName)...)
	}
	return calls
}

// table is the head of a statement, up to its table. An index after it is not known here.
var table = regexp.MustCompile(`^\s*(?i:(INSERT)\s+INTO|(UPDATE)|(DELETE)\s+FROM|(SELECT)\s.*?\sFROM)\s+"([^"]+)"(?:\s|$)`)

var statements = []string{"dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete", "dynamodb:PartiQLSelect"}

// statement is what a PartiQL statement needs (Amazon DynamoDB developer guide, "IAM security policies with PartiQL for DynamoDB").
func statement(text string) Call {
	parts := table.FindStringSubmatch(text)
	for i, action := range statements {
		if parts != nil && parts[i+1] != "" {
			return Call{action, parts[len(parts)-1]}
		}
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return Call{Action: "unknown:statement of " + verb}
}
