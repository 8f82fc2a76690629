// Package build tests the Makefile: what SAM, `make build` and their users rely on.
package build

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/template"
)

const root = "../../.."

// tree is a copy of the project, less its hidden folders: SAM builds in one, and a test may edit it.
func tree(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && relative != "." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, relative), 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), content, 0o666)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// environment is the test's own, without what the make above this test, or its user, says about builds.
func environment(more ...string) []string {
	kept := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"ARCHITECTURE", "ARTIFACTS_DIR", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"}, name)
	})
	return append(kept, more...)
}

// run runs a command in a folder, and returns what it printed.
func run(dir string, environment []string, name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	command.Dir = dir
	command.Env = environment
	output, err := command.CombinedOutput()
	return string(output), err
}

func functions(t *testing.T) []template.Function {
	t.Helper()
	f, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := template.Parse(f, template.Options{StackName: "once", Region: "here", AccountID: "0",
		Resolve: func(r template.Reference) (string, error) { return fmt.Sprint(r.LogicalID, r.Attribute), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Functions
}
