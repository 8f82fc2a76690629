package template

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// SAM has no loops, so each function's queues, policies, log group and role are written out. Copies are held together by what the first
// function's are; what a FIFO queue has besides is left out, and so is what a function is about: its own variables, its alarms, what its role
// allows in its tables.
func TestStackCopies(t *testing.T) {
	resources := section(t, "Resources")
	of := func(name, kind string) string {
		n := resources[name+kind]
		if n == nil {
			t.Errorf("there is no %s%s", name, kind)
			return ""
		}
		text, err := yaml.Marshal(plain(n, common))
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(name, "F", strings.ToLower(name), "f", "-"+strings.ToLower(name)+".fifo", "-f").Replace(string(text))
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		if name, ok := strings.CutSuffix(name, "Function"); ok {
			names = append(names, name)
		}
	}
	if len(names) < 5 {
		t.Fatalf("got the functions %q, want five", names)
	}
	for _, kind := range []string{"Function", "Queue", "DeadLetterQueue", "QueuePolicy", "DeadLetterQueuePolicy", "LogGroup", "Role"} {
		first := of("Charge", kind)
		for _, name := range names {
			if got := of(name, kind); got != first {
				t.Errorf("%s%s is\n%s\nand ChargeFunction's is\n%s", name, kind, got, first)
			}
		}
	}
}

// own are the keys under which copies differ.
var own = []string{
	"FifoQueue", "DeduplicationScope", "FifoThroughputLimit", // of a FIFO queue
	"Environment", "VersionDescription", "DeploymentPreference", "Enabled", "EffectClass", // of a function
	"Policies", // of a role: the doctor holds them to what the function calls
}

// common tells what copies have in common. A dead-letter queue is named where it is a FIFO queue alone.
func common(key, value *yaml.Node) bool {
	deadFIFO := key.Value == "QueueName" && strings.HasSuffix(value.Value, "-dead.fifo")
	return !slices.Contains(own, key.Value) && !deadFIFO
}

// plain is a copy of a node's entries that are kept, without remarks and layout.
func plain(n *yaml.Node, keep func(key, value *yaml.Node) bool) *yaml.Node {
	clone := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	if n.Kind != yaml.MappingNode {
		for _, child := range n.Content {
			clone.Content = append(clone.Content, plain(child, keep))
		}
		return clone
	}
	for key, value := range entries(n) {
		if keep(key, value) {
			clone.Content = append(clone.Content, plain(key, keep), plain(value, keep))
		}
	}
	return clone
}
