// Command once is the Lambda function whose cost is measured: wired as those of the stack are, with an effect that takes as long as
// EFFECT says ("40ms-60ms"), and no time if it is empty.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/singleeffect/once/infra/bench/charge"
	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	claim, effect := v.Optional("CLAIM"), v.Optional("EFFECT")
	f, err := environment.NewFunction("charge", v)
	if err != nil {
		return nil, err
	}
	if claim == "put" {
		f.Intent.Store = f.Store.Alone()
	}
	from, to, err := bounds(effect)
	if err != nil {
		return nil, fmt.Errorf("EFFECT: %w", err)
	}
	return f.Batch(&intent.Keyed[charge.Order]{
		Config: f.Intent,
		Window: 24 * time.Hour,
		Effect: func(ctx context.Context, o charge.Order, _ intent.Attempt) (any, error) {
			if to > 0 {
				select {
				case <-time.After(from + rand.N(to-from)):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return o.Receipt(), nil
		},
	})
}

func bounds(text string) (from, to time.Duration, err error) {
	if text == "" {
		return 0, 0, nil
	}
	low, high, _ := strings.Cut(text, "-")
	if from, err = time.ParseDuration(low); err != nil {
		return 0, 0, err
	}
	if to, err = time.ParseDuration(high); err == nil && to <= from {
		err = fmt.Errorf("%v is not more than %v", to, from)
	}
	return from, to, err
}
