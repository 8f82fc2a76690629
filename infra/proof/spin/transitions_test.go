package spin

import (
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// The code's table and the model's are the same, so neither can drift alone.
func TestTransitionsOfModelAndCode(t *testing.T) {
	model := Transitions()
	if got, want := len(model), strings.Count(read("transitions.pml"), "ROW("); got != want {
		t.Errorf("%d rows are read, the table has %d", got, want)
	}
	for _, d := range Differences(model, intent.Transitions) {
		t.Error(d)
	}
	if !slices.Equal(model, intent.Transitions) {
		t.Errorf("the rows differ in order or number:\nmodel %v\ncode  %v", model, intent.Transitions)
	}
}

// Whatever changes in one table alone is seen.
func TestTransitionsThatDrift(t *testing.T) {
	const row = "\tROW(park,     released, in_doubt,  shown) \\\n"
	text := read("transitions.pml")
	if strings.Count(text, row) != 1 {
		t.Fatalf("the table has no row %q to change", row)
	}
	for name, changed := range map[string]string{
		"a row is gone":     strings.Replace(text, row, "", 1),
		"a row more":        strings.Replace(text, row, row+"\tROW(park,     refused,  in_doubt,  shown) \\\n", 1),
		"another verb":      strings.Replace(text, row, strings.Replace(row, "park", "release", 1), 1),
		"another source":    strings.Replace(text, row, strings.Replace(row, "released", "completed", 1), 1),
		"another target":    strings.Replace(text, row, strings.Replace(row, "in_doubt", "refused", 1), 1),
		"another guard":     strings.Replace(text, row, strings.Replace(row, "shown", "owner", 1), 1),
		"a row is no row":   strings.Replace(text, row, strings.Replace(row, "ROW", "/* ROW", 1), 1),
		"absent is a state": strings.Replace(text, "absent", "vanished", 1),
	} {
		if len(Differences(transitions(changed), intent.Transitions)) == 0 {
			t.Errorf("%s in the model's table: not seen", name)
		}
	}
	for i := range intent.Transitions {
		if len(Differences(Transitions(), slices.Delete(slices.Clone(intent.Transitions), i, i+1))) != 1 {
			t.Errorf("%v is gone from the code's table: not seen", intent.Transitions[i])
		}
	}
}
