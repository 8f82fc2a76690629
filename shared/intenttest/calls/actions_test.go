package calls

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	ses "github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func TestNeeds(t *testing.T) {
	a, b := aws.String("a"), aws.String("b")
	statement := func(text string) *dynamodb.BatchExecuteStatementInput {
		return &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{{Statement: &text}}}
	}
	for _, tt := range []struct {
		name  string
		input any
		want  []string
	}{
		{"put", &dynamodb.PutItemInput{TableName: a}, []string{"dynamodb:PutItem a"}},
		{"update", &dynamodb.UpdateItemInput{TableName: a}, []string{"dynamodb:UpdateItem a"}},
		{"delete", &dynamodb.DeleteItemInput{TableName: a}, []string{"dynamodb:DeleteItem a"}},
		{"get", &dynamodb.GetItemInput{TableName: a}, []string{"dynamodb:GetItem a"}},
		{"query", &dynamodb.QueryInput{TableName: a}, []string{"dynamodb:Query a"}},
		{"query of an index", &dynamodb.QueryInput{TableName: a, IndexName: b}, []string{"unknown:dynamodb.Query "}},
		{"scan", &dynamodb.ScanInput{TableName: a}, []string{"unknown:dynamodb.Scan "}},
		{"batch get", &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"a": {}, "b": {}}},
			[]string{"dynamodb:BatchGetItem a", "dynamodb:BatchGetItem b"}},
		{"transaction", &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: a}}, {Update: &types.Update{TableName: b}}, {Delete: &types.Delete{TableName: a}},
			{ConditionCheck: &types.ConditionCheck{TableName: b}},
		}}, []string{"dynamodb:PutItem a", "dynamodb:UpdateItem b", "dynamodb:DeleteItem a", "dynamodb:ConditionCheckItem b"}},
		{"insert", statement(`INSERT INTO "a" VALUE {'k': ?}`), []string{"dynamodb:PartiQLInsert a"}},
		{"update statement", statement(`UPDATE "a" SET "x" = ? WHERE "k" = ?`), []string{"dynamodb:PartiQLUpdate a"}},
		{"delete statement", statement("delete from \"a\"\nWHERE k = ?"), []string{"dynamodb:PartiQLDelete a"}},
		{"select statement", statement(`SELECT x, y FROM "a" WHERE k = ?`), []string{"dynamodb:PartiQLSelect a"}},
		{"select of an index", statement(`SELECT * FROM "a"."b" WHERE k = ?`), []string{"unknown:statement of SELECT "}},
		{"another statement", statement(`EXISTS(SELECT * FROM "a" WHERE k = ?)`), []string{"unknown:statement of EXISTS(SELECT "}},
		{"send", &sqs.SendMessageBatchInput{QueueUrl: a}, []string{"sqs:SendMessage a"}},
		{"hide", &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: a}, []string{"sqs:ChangeMessageVisibility a"}},
		{"secret", &secretsmanager.GetSecretValueInput{SecretId: a}, []string{"secretsmanager:GetSecretValue a"}},
		{"e-mail", &sesv2.SendEmailInput{FromEmailAddress: a, Content: &ses.EmailContent{Simple: &ses.Message{}}}, []string{"ses:SendEmail a"}},
		{"raw e-mail", &sesv2.SendEmailInput{FromEmailAddress: a, Content: &ses.EmailContent{Raw: &ses.RawMessage{}}}, []string{"unknown:sesv2.SendEmail "}},
		{"empty e-mail", &sesv2.SendEmailInput{FromEmailAddress: a}, []string{"unknown:sesv2.SendEmail "}},
	} {
		var got []string
		for _, c := range needs(tt.input) {
			got = append(got, c.String())
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
