// A version that lists every message: what it calls is not there in this Region.
package main

import (
	"errors"

	"github.com/singleeffect/once/infra/local/e2e/broken"
	"github.com/singleeffect/once/shared/dynamo"
)

func main() {
	broken.Start(func(broken.Adjustment) (dynamo.Writes, error) { return dynamo.Writes{}, errors.New("no such host") })
}
