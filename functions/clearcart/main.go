// Command clearcart is the Lambda function that empties a cart after its checkout.
package main

import (
	"context"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	table := v.Required("CARTS_TABLE")
	f, err := environment.NewFunction("clearcart", v)
	if err != nil {
		return nil, err
	}
	return f.Batch(&intent.Natural[checkout]{Effect: cartsTable{client: f.Client, name: table}.clear})
}
