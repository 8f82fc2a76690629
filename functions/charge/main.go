// Command charge is the Lambda function that charges a user's card through Stripe.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/secret"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(ctx context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	users := v.Required("USERS_TABLE")
	base := v.Optional("STRIPE_API_BASE")
	window := v.Whole("PROVIDER_WINDOW_HOURS", time.Hour)
	claim := v.Optional("CLAIM")
	local := v.Optional("STRIPE_API_KEY") // wins over the secret
	var arn string
	if local == "" {
		arn = v.Required("STRIPE_SECRET_ARN")
	}
	f, err := environment.NewFunction(operation, v)
	if err != nil {
		return nil, err
	}
	if window > stripeWindow {
		return nil, &intent.ConfigError{Field: "PROVIDER_WINDOW_HOURS", Reason: fmt.Sprintf("is %v, and Stripe may forget a key after %v", window, stripeWindow)}
	}
	switch claim {
	case "", "batch": // the claims of a batch in one call, and their ends in one
	case "put":
		f.Intent.Store = f.Store.Alone()
	default:
		return nil, &intent.ConfigError{Field: "CLAIM", Reason: fmt.Sprintf("is %q, want batch or put", claim)}
	}
	var key *secret.Secret
	if local != "" {
		key, err = secret.Fixed(local, apiKeyConfig("STRIPE_API_KEY"))
	} else {
		client := secretsmanager.NewFromConfig(f.AWS, func(o *secretsmanager.Options) { o.HTTPClient = dynamo.AttemptClient() })
		key, err = secret.Read(ctx, client, arn, apiKeyConfig("STRIPE_SECRET_ARN"))
	}
	if err != nil {
		return nil, err
	}
	c := charger{
		user: usersTable{client: f.Client, name: users}.user,
		pay:  newStripe(key, base, newTransport()).pay,
	}
	return f.Batch(&intent.Keyed[order]{Config: f.Intent, Window: window, Effect: c.charge})
}
