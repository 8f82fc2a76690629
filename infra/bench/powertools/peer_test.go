package powertools

import (
	"encoding/json"
	"io/fs"
	"testing"

	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
)

// What is measured here is what the scoreboard is of, and comes from the registry that npm is set up with.
func TestVersion(t *testing.T) {
	content, err := fs.ReadFile(function, "function/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"batch", "idempotency"} {
		if got := lock.Packages["node_modules/@aws-lambda-powertools/"+name].Version; got != powertools.Version {
			t.Errorf("%s: the lock file has version %s, want %s", name, got, powertools.Version)
		}
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Integrity == "" || p.Resolved != "") {
			t.Errorf("%s: checksum %q, fetched from %q", name, p.Integrity, p.Resolved)
		}
	}
}
