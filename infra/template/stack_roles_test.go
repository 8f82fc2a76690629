package template

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A role is no part of a version, so a function has a variable that nothing reads and that changes with its role: then the change of a
// role publishes a version, and a canary tries it.
func TestStackRolesPublish(t *testing.T) {
	resources, functions := section(t, "Resources"), 0
	for name := range resources {
		name, ok := strings.CutSuffix(name, "Function")
		if !ok {
			continue
		}
		functions++
		role, err := yaml.Marshal(plain(resources[name+"Role"], func(_, _ *yaml.Node) bool { return true }))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%x", sha256.Sum256(role))[:12]
		if got := section(t, "Resources", name+"Function", "Properties", "Environment", "Variables")["ROLE_POLICY"]; got == nil || got.Value != want {
			t.Errorf("%sRole has changed: set ROLE_POLICY of %sFunction to %q, so that a version is published with it", name, name, want)
		}
	}
	if functions < 5 {
		t.Errorf("got %d functions, want five", functions)
	}
}
