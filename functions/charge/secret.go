package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// secretGetter is the one call that reading the API key takes. IAM: secretsmanager:GetSecretValue on
// the secret.
type secretGetter interface {
	GetSecretValue(context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options)) (*secretsmanager.GetSecretValueOutput, error)
}

// readSecret returns the API key that a string secret holds. White space around it, which editors and
// shells add, is not part of it.
func readSecret(ctx context.Context, client secretGetter, arn string) (string, error) {
	out, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		return "", fmt.Errorf("read the secret STRIPE_SECRET_ARN names: %w", err)
	}
	key := strings.TrimSpace(aws.ToString(out.SecretString))
	if key == "" {
		return "", errors.New("read the secret STRIPE_SECRET_ARN names: it holds no string")
	}
	return key, nil
}
