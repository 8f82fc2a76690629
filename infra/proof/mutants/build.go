package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
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
func overlay(dir, root string, all []mutant) (list string, err error) {
	byFile := map[string]map[int]mutant{}
	for i, m := range all {
		if byFile[m.file] == nil {
			byFile[m.file] = map[int]mutant{}
		}
		byFile[m.file][i+1] = m
	}
	for file := range adaptations {
		if byFile[file] == nil {
			byFile[file] = nil
		}
	}
	replace := map[string]string{}
	stand := func(file, source string) error {
		in := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		replace[filepath.Join(root, filepath.FromSlash(file))] = in
		return os.WriteFile(in, []byte(source), 0o600)
	}
	for file, numbered := range byFile {
		source, err := read(root, file)
		if err != nil {
			return "", err
		}
		fixed, err := everywhere(file, source)
		if err != nil {
			return "", err
		}
		woven, err := weave(file, source, fixed, numbered)
		if err != nil {
			return "", err
		}
		if err := stand(file, woven); err != nil {
			return "", err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, source, parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		if err := stand(path.Dir(file)+"/mutant_number.go", number(f.Name.Name)); err != nil {
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

func read(root, file string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	return string(b), err
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
