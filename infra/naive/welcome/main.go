// Command welcome is the naive twin of functions/welcome.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	sestypes "github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"github.com/singleeffect/once/infra/naive"
)

func main() { naive.Start(welcome) }

// welcome leaves the SDK as it comes: what ends in a 5xx or without an answer is
// sent again.
func welcome(db *dynamodb.Client) naive.Effect {
	client := sesv2.New(sesv2.Options{Region: db.Options().Region, Credentials: db.Options().Credentials}, func(o *sesv2.Options) {
		if url := os.Getenv("AWS_ENDPOINT_URL_SESV2"); url != "" {
			o.BaseEndpoint = &url
		}
	})
	return func(ctx context.Context, body []byte) error {
		var w struct {
			UserID string `json:"user_id"`
		}
		if err := json.Unmarshal(body, &w); err != nil {
			return err
		}
		user, err := db.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(os.Getenv("USERS_TABLE")),
			Key:       map[string]types.AttributeValue{"user_id": &types.AttributeValueMemberS{Value: w.UserID}},
		})
		if err != nil {
			return fmt.Errorf("read user: %w", err)
		}
		address, _ := user.Item["email"].(*types.AttributeValueMemberS)
		if address == nil {
			return fmt.Errorf("unknown user")
		}
		_, err = client.SendEmail(ctx, &sesv2.SendEmailInput{
			FromEmailAddress: aws.String(os.Getenv("EMAIL_FROM")),
			Destination:      &sestypes.Destination{ToAddresses: []string{address.Value}},
			Content: &sestypes.EmailContent{Simple: &sestypes.Message{
				Subject: &sestypes.Content{Data: aws.String("Welcome")},
				Body:    &sestypes.Body{Text: &sestypes.Content{Data: aws.String("Hello,\n\nyour account is open.\n")}},
			}},
		})
		return err
	}
}
