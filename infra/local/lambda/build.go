package lambda

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

const emulatorPackage = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie"

// Build builds the function whose package main is in packageDir into the file
// bootstrap in dir, and gives the file's absolute path. The flags are the
// Makefile's; the system and the architecture are this machine's.
func Build(ctx context.Context, packageDir, dir string) (bootstrap string, err error) {
	return build(ctx, packageDir, ".", filepath.Join(dir, "bootstrap"), "-tags", "lambda.norpc")
}

// BuildEmulator builds the runtime interface emulator into dir and gives the
// file's absolute path. Go's build cache makes every time but the first cheap.
func BuildEmulator(ctx context.Context, dir string) (emulator string, err error) {
	return build(ctx, "", emulatorPackage, filepath.Join(dir, "aws-lambda-rie"))
}

func build(ctx context.Context, in, target, out string, flags ...string) (string, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", filepath.Join(in, target), err)
	}
	args := append([]string{"build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", out}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, target)...)
	cmd.Dir = in
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", filepath.Join(in, target), err, text)
	}
	return out, nil
}
