package template

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var (
	substitution = regexp.MustCompile(`\$\{([A-Za-z0-9]+)`)
	// elsewhere are the properties that are no part of a version.
	elsewhere = []string{"Events", "DeploymentPreference", "ReservedConcurrentExecutions", "Tags", "VersionDescription", "Role", "LoggingConfig"}
)

// references are the names that a node refers to, conditions among them, which are followed.
func references(n *yaml.Node, conditions map[string]*yaml.Node, found map[string]bool) {
	switch name, argument := intrinsic(n); name {
	case "Ref":
		found[argument.Value] = true
	case "Fn::Sub":
		for _, match := range substitution.FindAllStringSubmatch(argument.Value, -1) {
			found[match[1]] = true
		}
	case "Fn::If":
		references(conditions[argument.Content[0].Value], conditions, found)
	}
	for _, child := range n.Content {
		references(child, conditions, found)
	}
}

// Every parameter that a property of a version refers to is in the version's description, since SAM compares what refers to a parameter
// by its name (AWS SAM, issue 3820). Left out are addresses, which would not fit, and the architecture, with which the code changes.
func TestStackParametersPublish(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	document, err := read(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	part := func(n *yaml.Node, path ...string) map[string]*yaml.Node {
		for _, name := range path {
			nodes, err := split(name, n)
			if err != nil || nodes[name] == nil {
				t.Fatalf("%s is not there: %v", name, err)
			}
			n = nodes[name]
		}
		nodes, err := split("", n)
		if err != nil {
			t.Fatal(err)
		}
		return nodes
	}
	parameters, conditions := part(document, "Parameters"), part(document, "Conditions")
	for name := range part(document, "Resources") {
		if !strings.HasSuffix(name, "Function") {
			continue
		}
		properties := mergeProperties(part(document, "Globals", "Function"), part(document, "Resources", name, "Properties"))
		uses, described := map[string]bool{}, map[string]bool{}
		for property, n := range properties {
			if !slices.Contains(elsewhere, property) {
				references(n, conditions, uses)
			}
		}
		references(properties["VersionDescription"], conditions, described)
		var missing []string
		for _, p := range slices.Sorted(maps.Keys(uses)) {
			address := strings.HasSuffix(p, "Url") || p == "StripeApiBase"
			if parameters[p] != nil && !described[p] && !address && p != "Architecture" {
				missing = append(missing, p)
			}
		}
		if len(missing) > 0 || len(uses) < 10 {
			t.Errorf("%s refers to %d names, and the description of its versions not to %q", name, len(uses), missing)
		}
	}
}

func TestPace(t *testing.T) {
	tests := []struct {
		kind   string
		want   Pace
		known  bool
		length time.Duration
		weight map[time.Duration]float64
	}{
		{"AllAtOnce", Pace{Percent: 100}, true, 0, map[time.Duration]float64{0: 1}},
		{"Canary10Percent5Minutes", Pace{10, 5 * time.Minute, false}, true, 5 * time.Minute,
			map[time.Duration]float64{0: 0.1, 299 * time.Second: 0.1, 5 * time.Minute: 1}},
		{"Linear10PercentEvery1Minute", Pace{10, time.Minute, true}, true, 9 * time.Minute,
			map[time.Duration]float64{0: 0.1, 90 * time.Second: 0.2, 8 * time.Minute: 0.9, 9 * time.Minute: 1}},
		{"Linear30PercentEvery10Minutes", Pace{30, 10 * time.Minute, true}, true, 30 * time.Minute, map[time.Duration]float64{25 * time.Minute: 0.9}},
		{"Canary0Percent5Minutes", Pace{}, false, 0, nil},
		{"MyOwnConfiguration", Pace{}, false, 0, nil},
	}
	for _, tt := range tests {
		got, known := Deployment{Type: tt.kind}.Pace()
		if got != tt.want || known != tt.known {
			t.Errorf("%s: got %+v and %t, want %+v and %t", tt.kind, got, known, tt.want, tt.known)
		}
		if !known {
			continue
		}
		if length := got.Length(); length != tt.length {
			t.Errorf("%s lasts %v, want %v", tt.kind, length, tt.length)
		}
		for after, want := range tt.weight {
			if got := got.Weight(after); got < want-1e-9 || got > want+1e-9 {
				t.Errorf("%s after %v: got %v, want %v", tt.kind, after, got, want)
			}
		}
	}
}
