package build

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// C69: a binary is of the architecture that the template says with which it is deployed. SAM passes make no parameter and hands on its
// own environment, so neither may say another; make's own command line may, into a folder that no deployment looks into.
func TestArchitecture(t *testing.T) {
	const (
		arm64  = "GOARCH=arm64"
		x86    = "GOARCH=amd64"
		stated = "    Architectures: [arm64]"
	)
	tests := []struct {
		name        string
		template    string // in place of what is stated
		samconfig   string
		environment []string
		arguments   []string // of make
		want        string
	}{
		{"as it is", stated, "", nil, nil, arm64},
		{"another in the template", "    Architectures: [x86_64]", "", nil, nil, x86},
		{"another in the template, with a remark", "    Architectures: [ x86_64 ] # for now", "", nil, nil, x86},
		{"a parameter in samconfig.toml", stated, "[prod.deploy.parameters]\nparameter_overrides = \"Architecture=x86_64\"\n", nil, nil, arm64},
		{"the environment", stated, "", []string{"ARCHITECTURE=x86_64"}, nil, "ARCHITECTURE is in the environment"},
		{"the environment, and the same", stated, "", []string{"ARCHITECTURE=arm64"}, nil, "ARCHITECTURE is in the environment"},
		{"make's command line", stated, "", nil, []string{"ARCHITECTURE=x86_64"}, x86},
		{"make's command line before the environment", stated, "", []string{"ARCHITECTURE=mips"}, []string{"ARCHITECTURE=x86_64"}, x86},
		{"an unknown one", "    Architectures: [riscv64]", "", nil, nil, `the architecture is "riscv64": it must be arm64 or x86_64`},
		{"two", "    Architectures: [arm64, x86_64]", "", nil, nil, `the architecture is ""`},
		{"a parameter", "    Architectures: [!Ref Architecture]", "", nil, nil, `the architecture is ""`},
		{"one function of its own", stated + "\n      Architectures: [x86_64]", "", nil, nil, `the architecture is "arm64 x86_64"`},
		{"none", "", "", nil, nil, `the architecture is ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"Makefile", "template.yaml"} {
				content, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					t.Fatal(err)
				}
				if name == "template.yaml" && strings.Count(string(content), stated+"\n") != 1 {
					t.Fatalf("template.yaml does not say once %q", stated)
				}
				write(t, filepath.Join(dir, name), strings.Replace(string(content), stated+"\n", tt.template+"\n", 1))
			}
			write(t, filepath.Join(dir, "samconfig.toml"), tt.samconfig)
			output, err := run(dir, environment(tt.environment...), "make", append([]string{"-n", "build-ChargeFunction", "ARTIFACTS_DIR=artifacts"}, tt.arguments...)...)
			if failed := err != nil; failed == strings.HasPrefix(tt.want, "GOARCH=") {
				t.Errorf("make: %v", err)
			}
			if !strings.Contains(output, tt.want) {
				t.Errorf("got %q, want %q in it", output, tt.want)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o777); err != nil {
		t.Fatal(err)
	}
}

// A target that is missing or does nothing must not look built: .PHONY on a pattern rule would do just that.
func TestTargets(t *testing.T) {
	for target, want := range map[string]string{
		"build-ChargeFunction":   "ARTIFACTS_DIR is not set",
		"build-NothingFunction":  "No rule to make target",
		"build-ChargeFunction/x": "No rule to make target",
	} {
		output, err := run(root, environment(), "make", target)
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("make %s: got error %v and %q, want %q", target, err, output, want)
		}
	}
}

// Every function of template.yaml has its target and its folder, and no other function has one.
func TestFunctions(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^FUNCTIONS := (.*)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list of FUNCTIONS")
	}
	var want, folders []string
	for _, f := range functions(t) {
		want = append(want, strings.TrimSuffix(f.LogicalID, "Function"))
		folders = append(folders, f.Folder)
	}
	if got := string(list[1]); got != strings.Join(want, " ") {
		t.Errorf("FUNCTIONS is %s, want %s, as template.yaml has them", got, strings.Join(want, " "))
	}
	entries, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, entry := range entries {
		there = append(there, entry.Name())
	}
	if slices.Sort(folders); !slices.Equal(folders, there) {
		t.Errorf("functions/ has %q, and template.yaml declares %q", there, folders)
	}
}
