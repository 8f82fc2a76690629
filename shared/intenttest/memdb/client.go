package memdb

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/singleeffect/once/shared/intenttest/calls"
)

// Client is the SDK's own client in front of the database, for code that wants one, and to test what the SDK makes of answers:
// its retries are its own. It costs some thirty times what a call of the database itself does.
func (db *DB) Client(options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String("http://memdb"), // which nobody looks up
		HTTPClient:   &http.Client{Transport: db},
		APIOptions:   []func(*middleware.Stack) error{calls.Record},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "memdb", SecretAccessKey: "memdb"}, nil
		}),
	}, options...)
}
