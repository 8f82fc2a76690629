package contender

import (
	"os"
	"strings"
	"testing"
)

// Ours is measured as it is deployed.
func TestRuntime(t *testing.T) {
	template, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range runtime {
		name, value, _ := strings.Cut(setting, "=")
		if want := name + `: "` + value + `"`; !strings.Contains(string(template), want) {
			t.Errorf("template.yaml does not set %s", want)
		}
	}
}
