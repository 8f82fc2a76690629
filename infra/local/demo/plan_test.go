package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/local/stack"
)

func plan(t *testing.T, n int) []action {
	t.Helper()
	all, err := actions(operations, n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Effects are counted by user and by account, so no two intents may share one.
func TestActionsShareNothing(t *testing.T) {
	const n = 12
	keys, subjects, byOperation := map[string]bool{}, map[string]bool{}, map[string]int{}
	for _, a := range plan(t, n) {
		keys[a.key], subjects[a.subject] = true, true
		byOperation[a.operation]++
	}
	if want := n * len(operations); len(keys) != want || len(subjects) != want {
		t.Errorf("got %d keys and %d subjects, want %d of each", len(keys), len(subjects), want)
	}
	if want := map[string]int{"charge": n, "adjust": n}; !maps.Equal(byOperation, want) {
		t.Errorf("got %v intents, want %v", byOperation, want)
	}
}

func TestActionsUnknownOperation(t *testing.T) {
	if _, err := actions([]string{"charge", "ship"}, 1); err == nil || !strings.Contains(err.Error(), `"ship"`) {
		t.Errorf("got error %v, want one that names the operation", err)
	}
}

// shape is a JSON object's fields with the Go types that they decode to.
func shape(t *testing.T, body string) []string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	var all []string
	for name, value := range fields {
		all = append(all, fmt.Sprintf("%s %T", name, value))
	}
	slices.Sort(all)
	return all
}

// The functions' own tests hold the sample events to be acceptable.
func TestActionsAreLikeTheSampleEvents(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range plan(t, 1) {
		content, err := os.ReadFile(filepath.Join(root, "events", a.operation+"-first-delivery.json"))
		if err != nil {
			t.Fatal(err)
		}
		var sample events.SQSEvent
		if err := json.Unmarshal(content, &sample); err != nil {
			t.Fatal(err)
		}
		if got, want := shape(t, a.body), shape(t, sample.Records[0].Body); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", a.operation, got, want)
		}
		if !strings.Contains(a.body, `"`+a.key+`"`) || !strings.Contains(a.body, `"`+a.subject+`"`) {
			t.Errorf("%s: body %s lacks its key %s or its subject %s", a.operation, a.body, a.key, a.subject)
		}
	}
}

func TestSends(t *testing.T) {
	all := plan(t, 50)
	sent := sends(all, rand.New(rand.NewPCG(1, 1)))
	times := map[string]int{}
	for _, a := range sent {
		times[a.key]++
	}
	seen := map[int]int{}
	for _, a := range all {
		seen[times[a.key]]++
	}
	if len(times) != len(all) || seen[1] == 0 || seen[2] == 0 || seen[3] == 0 || seen[1]+seen[2]+seen[3] != len(all) {
		t.Errorf("intents by times sent: got %v, want all %d at 1, 2 and 3", seen, len(all))
	}
	if again := sends(all, rand.New(rand.NewPCG(1, 1))); !slices.Equal(again, sent) {
		t.Error("one seed makes two orders")
	}
	if other := sends(all, rand.New(rand.NewPCG(2, 1))); slices.Equal(other, sent) {
		t.Error("two seeds make one order")
	}
	sorted := slices.IsSortedFunc(sent, func(a, b action) int { return strings.Compare(a.key, b.key) })
	if sorted {
		t.Error("the messages are not mixed")
	}
}
