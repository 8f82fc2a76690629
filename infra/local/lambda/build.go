package lambda

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Build builds the function whose package main is in packageDir into the file
// bootstrap in dir, and gives the file's absolute path. The flags are the
// Makefile's; the system and the architecture are this machine's.
func Build(ctx context.Context, packageDir, dir string) (bootstrap string, err error) {
	if bootstrap, err = filepath.Abs(filepath.Join(dir, "bootstrap")); err != nil {
		return "", fmt.Errorf("build %s: %w", packageDir, err)
	}
	cmd := goCommand(ctx, "build", "-buildvcs=false", "-trimpath", "-tags", "lambda.norpc",
		"-ldflags", "-s -w -buildid=", "-o", bootstrap, ".")
	cmd.Dir = packageDir
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", packageDir, err, text)
	}
	return bootstrap, nil
}

// Emulator gives the path of the runtime interface emulator, which Go builds on
// the first use and keeps in its cache.
func Emulator(ctx context.Context) (string, error) {
	cmd := goCommand(ctx, "tool", "-n", "aws-lambda-rie")
	var said bytes.Buffer
	cmd.Stderr = &said
	path, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build the runtime emulator: %w\n%s", err, said.Bytes())
	}
	return strings.TrimSpace(string(path)), nil
}

func goCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	return cmd
}
