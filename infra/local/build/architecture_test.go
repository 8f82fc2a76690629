package build

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// SAM passes make no template parameter, so what it was asked for is read off its command line and its file.
func TestArchitecture(t *testing.T) {
	const (
		arm64  = "GOARCH=arm64"
		x86    = "GOARCH=amd64"
		first  = "[default.deploy.parameters]\nparameter_overrides = \"Architecture=\\\"x86_64\\\" BatchSize=\\\"5\\\"\"\n"
		second = "[x.deploy.parameters]\nparameter_overrides = [\"Architecture=arm64\", \"BatchSize=5\"]\n"
	)
	tests := []struct {
		name        string
		environment []string
		sam         []string // its arguments; without it, make is called by no sam
		samconfig   string
		want        string
	}{
		{"nothing said", nil, []string{"build"}, "", arm64},
		{"no sam", nil, nil, "", arm64},
		{"a parameter", nil, []string{"build", "--parameter-overrides", "Architecture=x86_64"}, "", x86},
		{"among others", nil, []string{"build", "--parameter-overrides", "MyArchitecture=arm64", "Architecture=x86_64", "BatchSize=5"}, "", x86},
		{"among others in one word", nil, []string{"build", "--parameter-overrides", `BatchSize=5 Architecture="x86_64"`}, "", x86},
		{"in one word with its option", nil, []string{"build", "--parameter-overrides=Architecture=x86_64"}, "", x86},
		{"in the older form", nil, []string{"build", "--parameter-overrides",
			"ParameterKey=BatchSize,ParameterValue=5 ParameterKey=Architecture,ParameterValue=x86_64"}, "", x86},
		{"another parameter", nil, []string{"build", "--parameter-overrides", "MyArchitecture=x86_64"}, "", arm64},
		{"samconfig.toml", nil, []string{"build"}, first, x86},
		{"samconfig.toml with a list", nil, []string{"build"}, strings.Replace(second, "arm64", "x86_64", 1), x86},
		{"samconfig.toml without sam", nil, nil, first, x86},
		{"samconfig.toml, commented out", nil, []string{"build"}, "# " + strings.ReplaceAll(first, "\n", "\n# "), arm64},
		{"samconfig.toml with two", nil, []string{"build"}, first + second, `ARCHITECTURE is "arm64 x86_64"`},
		{"the command line before samconfig.toml", nil, []string{"build", "--parameter-overrides", "Architecture=arm64"}, first, arm64},
		{"the environment before all", []string{"ARCHITECTURE=arm64"}, []string{"build", "--parameter-overrides", "Architecture=x86_64"},
			first, arm64},
		{"an unknown one", []string{"ARCHITECTURE=riscv64"}, nil, "", `ARCHITECTURE is "riscv64": it must be arm64 or x86_64`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"Makefile", "infra/architecture.sh"} {
				content, err := os.ReadFile(filepath.Join(root, name))
				if err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, name), string(content))
			}
			if tt.samconfig != "" {
				write(t, filepath.Join(dir, "samconfig.toml"), tt.samconfig)
			}
			recipe := []string{"make", "-n", "build-ChargeFunction", "ARTIFACTS_DIR=artifacts"}
			if tt.sam != nil {
				sam := filepath.Join(t.TempDir(), "sam")
				write(t, sam, "#!/bin/sh\n"+strings.Join(recipe, " ")+"\nexit $?\n")
				recipe = append([]string{"sh", sam}, tt.sam...)
			}
			output, err := run(dir, environment(tt.environment...), recipe[0], recipe[1:]...)
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
