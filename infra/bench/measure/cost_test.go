package measure

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// dollars are what a million write request units cost, by COST.md.
const dollars = 0.625

// COST.md says what the code does.
func TestCost(t *testing.T) {
	content, err := os.ReadFile("../COST.md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := classes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no classes")
	}
	for _, c := range all {
		row := fmt.Sprintf("| %s | %g | %.3f | %g | %.3f |\n", c.Name, c.New.Write, dollars*c.New.Write, c.Duplicate.Write, dollars*c.Duplicate.Write)
		if !strings.Contains(string(content), row) {
			t.Errorf("COST.md has no row %s", row)
		}
	}
}
