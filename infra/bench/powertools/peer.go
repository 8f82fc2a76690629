// Package powertools is the peer: Powertools for AWS Lambda (TypeScript), bundled and minified as its own example stack does it
// (examples/app/cdk/example-stack.ts of aws-powertools/powertools-lambda-typescript: ESM, everything in the bundle, the AWS SDK too).
package powertools

import (
	"context"
	"embed"
	"io/fs"
	"path/filepath"

	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
)

//go:embed function
var function embed.FS

// Install installs and bundles it where that is not done yet, and gives the command that runs it.
func Install(ctx context.Context) (command []string, err error) {
	source, err := fs.Sub(function, "function")
	if err != nil {
		return nil, err
	}
	return powertools.Install(ctx, source)
}

// Bundle is the file that would be deployed, of what the command runs.
func Bundle(command []string) string {
	return filepath.Join(filepath.Dir(command[1]), "dist", "index.mjs")
}
