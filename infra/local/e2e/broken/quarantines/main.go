// A version that quarantines every message: it looks for a field that was renamed.
package main

import (
	"github.com/singleeffect/once/infra/local/e2e/broken"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

func main() {
	broken.Start(func(broken.Adjustment) (dynamo.Writes, error) {
		return dynamo.Writes{}, intent.Quarantine(&intent.PayloadError{Field: "account", Reason: "is missing or empty"})
	})
}
