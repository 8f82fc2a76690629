package measure

import (
	"context"
	"os"
	"path/filepath"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/report"
)

// zips builds every function of the stack and tells how large its archive is.
func zips(ctx context.Context, into string) ([]report.Zip, error) {
	root, err := contender.Root(ctx)
	if err != nil {
		return nil, err
	}
	functions, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, err
	}
	var all []report.Zip
	for _, f := range functions {
		path, err := contender.Deploy(ctx, root, into, f.Name())
		if err != nil {
			return nil, err
		}
		size, err := contender.Zipped(path)
		if err != nil {
			return nil, err
		}
		all = append(all, report.Zip{Name: f.Name(), MB: float64(size) / 1e6})
	}
	return all, nil
}
