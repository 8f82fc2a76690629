// Command adjust is the Lambda function that changes an account's balance.
package main

import (
	"context"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	accounts := v.Required("ACCOUNTS_TABLE")
	f, err := environment.NewFunction("adjust", v)
	if err != nil {
		return nil, err
	}
	return f.Batch(&dynamo.Ledger[adjustment]{Config: f.Intent, Effect: ledger(accounts).adjust})
}
