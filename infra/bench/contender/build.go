package contender

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/bench/powertools"
)

const module = "github.com/singleeffect/once"

// Names of the contenders.
const (
	Once       = "once"
	Single     = "once_single" // ours, a call for each record
	Naive      = "naive_go"
	Batched    = "batched_go" // as naive, in calls for a batch: how cheap those can be
	Powertools = "powertools_ts"
)

// All are the contenders, ours first.
type All []Contender

// Of is the contender of that name.
func (a All) Of(name string) Contender {
	return a[slices.IndexFunc(a, func(c Contender) bool { return c.Name == name })]
}

// Build builds those in Go into a folder, and installs the peer where it is not yet.
func Build(ctx context.Context, into string) (All, error) {
	all, err := BuildGo(ctx, into)
	if err != nil {
		return nil, err
	}
	command, err := powertools.Install(ctx)
	if err != nil {
		return nil, err
	}
	return append(all, Contender{
		Name: Powertools, Title: "Powertools for TypeScript", Key: "id", command: command, deployed: powertools.Bundle(command),
	}), nil
}

// runtime is what template.yaml sets for every function of the stack. The plain Go handlers have it, too: it is no merit of a library's.
var runtime = []string{"GOGC=200", "GOMAXPROCS=1"}

// Runtimes says on what they run: it is a part of what is measured.
func Runtimes(ctx context.Context) (string, error) {
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask for Node's version: %w", err)
	}
	return fmt.Sprintf("Go runs with %s, Node %s as it comes", strings.Join(runtime, " "), bytes.TrimSpace(node)), nil
}

// BuildGo builds those in Go alone.
func BuildGo(ctx context.Context, into string) (All, error) {
	built := map[string]string{}
	for _, function := range []string{"once", "naive", "batched"} {
		path, err := build(ctx, into, function)
		if err != nil {
			return nil, err
		}
		built[function] = path
	}
	contender := func(name, title, key, function string, environment ...string) Contender {
		path := built[function]
		return Contender{Name: name, Title: title, Key: key, command: []string{path}, environment: append(environment, runtime...), deployed: path}
	}
	return All{
		contender(Once, "Once", "intent", "once"),
		contender(Single, "Once, `Claim=put`", "intent", "once", "CLAIM=put"),
		contender(Naive, "plain Go, put and update", "id", "naive"),
		contender(Batched, "plain Go, put and update in batches", "id", "batched"),
	}, nil
}

// build makes a function as the Makefile makes those of the stack, but for this machine.
func build(ctx context.Context, into, name string) (path string, err error) {
	path = filepath.Join(into, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=",
		"-o", path, module+"/infra/bench/functions/"+name)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s (the working directory must be in infra/bench): %w\n%s", name, err, out)
	}
	return path, nil
}

// Root is the folder of the stack's own module.
func Root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("find %s (the working directory must be in infra/bench): %w", module, err)
	}
	return string(bytes.TrimSpace(out)), nil
}

// Deploy builds a function of the stack as SAM has it built, for Lambda's arm64, and gives the file.
func Deploy(ctx context.Context, root, into, name string) (path string, err error) {
	folder := filepath.Join(into, "deploy-"+name)
	target := "build-" + strings.ToUpper(name[:1]) + name[1:] + "Function"
	out, err := exec.CommandContext(ctx, "make", "-C", root, target, "ARTIFACTS_DIR="+folder, "ARCHITECTURE=arm64").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("make %s: %w\n%s", target, err, out)
	}
	return filepath.Join(folder, "bootstrap"), nil
}
