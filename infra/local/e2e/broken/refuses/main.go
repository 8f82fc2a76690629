// A version that refuses every message: it takes an account that it cannot find for one that has no money.
package main

import (
	"github.com/singleeffect/once/infra/local/e2e/broken"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

func main() {
	broken.Start(func(broken.Adjustment) (dynamo.Writes, error) {
		return dynamo.Writes{}, intent.Refuse("insufficient funds")
	})
}
