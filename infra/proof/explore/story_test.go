package explore

import (
	"strings"
	"testing"
)

// A batch really shares its calls: the explored histories would say nothing of groups
// otherwise.
func TestGroupedSharesItsCalls(t *testing.T) {
	w := setting{class: Grouped, side: 1}.history(t, &path{})
	if w.fault != "" {
		t.Fatal(w.violation())
	}
	if story := w.told(); strings.Count(story, "BatchExecuteStatement: ") != 2 || strings.Contains(story, "PutItem") {
		t.Errorf("got\n%s\nwant one call for the claims and one for the completions", story)
	}
}
