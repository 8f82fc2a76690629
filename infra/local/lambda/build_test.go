package lambda

import (
	"debug/buildinfo"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The binary says how it was built; the Makefile says how it builds.
func TestBuildFlagsAreTheMakefiles(t *testing.T) {
	recipe, err := exec.Command("make", "-C", "../../..", "-n", "build-ChargeFunction", "ARTIFACTS_DIR=/nowhere", "ARCHITECTURE=arm64").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-buildvcs=false", "-trimpath", "-tags lambda.norpc", "-ldflags '-s -w -buildid='", "CGO_ENABLED=0"} {
		if !strings.Contains(string(recipe), flag) {
			t.Errorf("the Makefile builds without %s:\n%s", flag, recipe)
		}
	}
	info, err := buildinfo.ReadFile(binaries.probe)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, setting := range info.Settings {
		switch setting.Key {
		case "-trimpath", "-tags", "CGO_ENABLED":
			got = append(got, setting.Key+"="+setting.Value)
		case "vcs.revision":
			t.Error("the binary holds a revision")
		}
	}
	slices.Sort(got)
	if want := []string{"-tags=lambda.norpc", "-trimpath=true", "CGO_ENABLED=0"}; !slices.Equal(got, want) {
		t.Errorf("built with %v, want %v", got, want)
	}
	// -trimpath hides -ldflags: the missing symbols show them.
	if out, err := exec.Command("go", "tool", "nm", binaries.probe).CombinedOutput(); err == nil && !strings.Contains(string(out), "no symbols") {
		t.Error("the binary is not stripped")
	}
}

func TestBuildError(t *testing.T) {
	_, err := Build(t.Context(), "testdata", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "build testdata") || !strings.Contains(err.Error(), "no Go files") {
		t.Errorf("Build error = %v, want the package and the reason", err)
	}
}
