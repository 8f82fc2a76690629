package explore

import (
	"strings"
	"testing"
)

// A batch really shares its calls: the explored histories would say nothing of groups
// otherwise.
func TestGroupedSharesItsCalls(t *testing.T) {
	told, v := history(t, Grouped, 1, &path{}, nil)
	if v != nil {
		t.Fatal(v)
	}
	if story := strings.Join(told, "\n"); strings.Count(story, "BatchExecuteStatement: ") != 2 || strings.Contains(story, "PutItem") {
		t.Errorf("got\n%s\nwant one call for the claims and one for the completions", story)
	}
}
