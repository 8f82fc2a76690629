package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// sam is how the SAM CLI is called: on this machine's architecture, so that
// nothing is emulated, with the machine reachable from the function's container.
type sam struct {
	root        string
	environment string // file for --env-vars
}

// hasSAM tells whether `sam local invoke` can run: it needs a Docker engine.
func hasSAM(ctx context.Context) bool {
	if _, err := exec.LookPath("sam"); err != nil {
		return false
	}
	return exec.CommandContext(ctx, "docker", "version").Run() == nil
}

// newSAM writes the functions' environment to a file in dir.
func newSAM(root, dir string, functions []template.Function) (sam, error) {
	byName := map[string]map[string]string{}
	for _, f := range functions {
		byName[f.LogicalID] = forContainers(f.Environment)
	}
	text, err := json.MarshalIndent(byName, "", "  ")
	if err != nil {
		return sam{}, fmt.Errorf("write the functions' environment: %w", err)
	}
	s := sam{root: root, environment: filepath.Join(dir, "environment.json")}
	if err := os.WriteFile(s.environment, text, 0o600); err != nil {
		return sam{}, fmt.Errorf("write the functions' environment: %w", err)
	}
	return s, nil
}

// build builds for this machine, where no deployment looks.
func (s sam) build() []string {
	return []string{"make", "build", "ARCHITECTURE=" + architecture()}
}

func (s sam) invoke(f template.Function, event string) []string {
	return []string{"sam", "local", "invoke", f.LogicalID, "--template", filepath.Join(".build", architecture(), "template.yaml"),
		"--event", event, "--env-vars", s.environment, "--add-host", hostInContainers + ":host-gateway"}
}

func architecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return "arm64"
}

// run runs one of the commands at the project's root.
func (s sam) run(ctx context.Context, command []string, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.root, stdout, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return nil
}
