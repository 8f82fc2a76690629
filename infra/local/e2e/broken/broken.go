// Package broken is what the broken versions of adjust are made of: the function's wiring, with another effect.
package broken

import (
	"context"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// Adjustment is the body of a message.
type Adjustment struct {
	AccountID string `json:"account_id"`
}

// Start runs the effect in the place of adjust's.
func Start(effect func(Adjustment) (dynamo.Writes, error)) {
	environment.Start(func(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
		f, err := environment.NewFunction("adjust", v)
		if err != nil {
			return nil, err
		}
		return f.Batch(&dynamo.Ledger[Adjustment]{Config: f.Intent, Effect: func(_ context.Context, a Adjustment, _ intent.Attempt) (dynamo.Writes, error) {
			return effect(a)
		}})
	})
}
