package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// tests are a package's, compiled with all mutants in it.
type tests struct {
	module  string // "library" or "proof"
	pkg     string
	program string // where it is compiled to
}

// directory is where they run.
func (t tests) directory(roots map[string]string) string {
	return filepath.Join(roots[t.module], filepath.FromSlash(t.pkg))
}

// modules are the directories of the library's module and of this one.
func modules(ctx context.Context) (map[string]string, error) {
	roots := map[string]string{}
	for name, module := range map[string]string{"library": "github.com/singleeffect/once", "proof": "github.com/singleeffect/once/infra/proof"} {
		out, err := run(ctx, "", "go", "list", "-m", "-f", "{{.Dir}}", module)
		if err != nil {
			return nil, err
		}
		roots[name] = strings.TrimSpace(string(out))
	}
	return roots, nil
}

// overlay writes the sources with the mutants in them, and the list of what stands for
// what, to a directory.
func overlay(dir, root string, all []*source, mutants []mutant) (list string, err error) {
	byFile := map[string]map[int]mutant{}
	for i, m := range mutants {
		if byFile[m.file] == nil {
			byFile[m.file] = map[int]mutant{}
		}
		byFile[m.file][i+1] = m
	}
	replace := map[string]string{}
	stand := func(file, text string) error {
		in := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		replace[filepath.Join(root, filepath.FromSlash(file))] = in
		return os.WriteFile(in, []byte(text), 0o600)
	}
	for _, s := range all {
		woven, err := s.weave(byFile[s.file])
		if err != nil {
			return "", err
		}
		if err := stand(s.file, woven); err != nil {
			return "", err
		}
		if err := stand(path.Dir(s.file)+"/mutant_helpers.go", helpers(s.pkg.Name())); err != nil {
			return "", err
		}
	}
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, content, 0o600)
}

// compile builds the tests of a package with the mutants in what they test. What does
// not compile is an error of this tool, and no mutant is killed by it.
func (t tests) compile(ctx context.Context, roots map[string]string, list string) error {
	_, err := run(ctx, roots[t.module], "go", "test", "-c", "-overlay", list, "-o", t.program, "./"+t.pkg)
	return err
}

func run(ctx context.Context, dir, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", program, args[0], err, bytes.TrimSpace(complaints.Bytes()))
	}
	return out, err
}
