// Command ship is the Lambda function that marks an order as shipped.
package main

import (
	"context"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	table := v.Required("ORDERS_TABLE")
	f, err := environment.NewFunction("ship", v)
	if err != nil {
		return nil, err
	}
	return f.Batch(&intent.Natural[shipment]{Effect: ordersTable{client: f.Client, name: table}.ship})
}
