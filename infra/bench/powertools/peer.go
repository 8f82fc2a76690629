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

// Peer is the function on this machine.
type Peer struct {
	Command []string
	Bundle  string // the file that would be deployed
}

// Install installs and bundles it where that is not done yet.
func Install(ctx context.Context) (Peer, error) {
	source, err := fs.Sub(function, "function")
	if err != nil {
		return Peer{}, err
	}
	command, err := powertools.Install(ctx, source)
	if err != nil {
		return Peer{}, err
	}
	return Peer{command, filepath.Join(filepath.Dir(command[1]), "dist", "index.mjs")}, nil
}
