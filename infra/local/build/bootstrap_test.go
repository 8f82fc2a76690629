package build

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// C21: SAM and its like have deployed a binary that was stale, missing, of another architecture, or another function's.
func TestBootstraps(t *testing.T) {
	dir := tree(t)
	first := makeBuild(t, dir, elf.EM_AARCH64)
	if len(first) == 0 {
		t.Fatal("template.yaml declares no function")
	}
	again := makeBuild(t, dir, elf.EM_AARCH64)
	for id, sum := range first {
		if again[id] != sum {
			t.Errorf("%s: two builds of one tree differ, so a difference would prove nothing", id)
		}
	}

	// An edit that no binary of this package can do without.
	shared := filepath.Join(dir, "shared", "intent", "key.go")
	f, err := os.OpenFile(shared, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("\nfunc init() { println(\"edited\") }\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	edited := makeBuild(t, dir, elf.EM_AARCH64)
	for id, sum := range first {
		if edited[id] == sum {
			t.Errorf("%s is stale: code that it shares was edited", id)
		}
	}
	makeBuild(t, dir, elf.EM_X86_64, "ARCHITECTURE=x86_64")
	if _, err := os.Stat(filepath.Join(dir, ".aws-sam")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want nothing where sam deploy looks", err)
	}
}

// makeBuild builds every function, checks each binary and returns their checksums by logical id.
func makeBuild(t *testing.T, dir string, machine elf.Machine, variables ...string) map[string][sha256.Size]byte {
	t.Helper()
	if output, err := run(dir, environment(), "make", append(variables, "build")...); err != nil {
		t.Fatalf("make build: %v\n%s", err, output)
	}
	sums := map[string][sha256.Size]byte{}
	to := filepath.Join(dir, ".build", map[elf.Machine]string{elf.EM_AARCH64: "arm64", elf.EM_X86_64: "x86_64"}[machine])
	text, err := os.ReadFile(filepath.Join(to, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var local struct {
		Globals struct {
			Function struct {
				CodeUri       string   `yaml:"CodeUri"`
				Architectures []string `yaml:"Architectures"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
		Resources map[string]struct {
			Properties struct {
				CodeUri string `yaml:"CodeUri"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &local); err != nil {
		t.Fatal(err)
	}
	if got := local.Globals.Function; got.CodeUri != "" || !slices.Equal(got.Architectures, []string{filepath.Base(to)}) {
		t.Errorf("the template beside the binaries has %+v, want no CodeUri and %s", got, filepath.Base(to))
	}
	for _, f := range functions(t) {
		if got := local.Resources[f.LogicalID].Properties.CodeUri; got != f.LogicalID {
			t.Errorf("the template beside the binaries has the code of %s in %q", f.LogicalID, got)
		}
		path := filepath.Join(to, f.LogicalID, "bootstrap")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sums[f.LogicalID] = sha256.Sum256(content)
		checkELF(t, path, machine)
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Path, "github.com/singleeffect/once/functions/"+f.Folder; got != want {
			t.Errorf("%s is built from %s, want %s", f.LogicalID, got, want)
		}
	}
	return sums
}

// checkELF checks that Lambda can run a file: its architecture, and nothing to be found at load time.
func checkELF(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Machine != machine || file.Type != elf.ET_EXEC {
		t.Errorf("%s is %s and %s, want %s and %s", path, file.Machine, file.Type, machine, elf.ET_EXEC)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP || segment.Type == elf.PT_DYNAMIC {
			t.Errorf("%s is not static: it has a segment %s", path, segment.Type)
		}
	}
	if file.Section(".symtab") != nil || file.Section(".debug_info") != nil || file.Section(".zdebug_info") != nil {
		t.Errorf("%s is not stripped", path)
	}
}
