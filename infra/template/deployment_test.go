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
	case "Fn::GetAtt":
		target, _, _ := strings.Cut(argument.Value, ".")
		found[target] = true
	case "Fn::If":
		references(conditions[argument.Content[0].Value], conditions, found)
	}
	for _, child := range n.Content {
		references(child, conditions, found)
	}
}

// section returns what stands at a path of template.yaml, by key.
func section(t *testing.T, path ...string) map[string]*yaml.Node {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
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

// Every parameter that a property of a version refers to is in the version's description, since SAM compares what refers to a parameter
// by its name (AWS SAM, issue 3820). Left out are addresses, and the tables that are there when a stack is made, which would not fit.
func TestStackParametersPublish(t *testing.T) {
	parameters, conditions := section(t, "Parameters"), section(t, "Conditions")
	for name := range section(t, "Resources") {
		if !strings.HasSuffix(name, "Function") {
			continue
		}
		properties := mergeProperties(section(t, "Globals", "Function"), section(t, "Resources", name, "Properties"))
		uses, described := map[string]bool{}, map[string]bool{}
		for property, n := range properties {
			if !slices.Contains(elsewhere, property) {
				references(n, conditions, uses)
			}
		}
		references(properties["VersionDescription"], conditions, described)
		var missing []string
		for _, p := range slices.Sorted(maps.Keys(uses)) {
			left := strings.HasSuffix(p, "Url") || p == "StripeApiBase" || strings.HasPrefix(p, "Existing")
			if parameters[p] != nil && !described[p] && !left {
				missing = append(missing, p)
			}
		}
		if len(missing) > 0 || len(uses) < 10 {
			t.Errorf("%s refers to %d names, and the description of its versions not to %q", name, len(uses), missing)
		}
	}
}

// What SAM makes of a function depends on each other: the version on the function, the alarms on the version, the deployment group on the
// alarms, the alias on both, and the mapping on the alias. CloudFormation refuses a circle, so nothing that the function needs may refer to
// what needs the function.
func TestStackHasNoCircle(t *testing.T) {
	conditions := section(t, "Conditions")
	needs := map[string]map[string]bool{}
	add := func(name string, nodes ...*yaml.Node) {
		if needs[name] == nil {
			needs[name] = map[string]bool{}
		}
		for _, n := range nodes {
			if n != nil {
				references(n, conditions, needs[name])
			}
		}
	}
	for name, n := range section(t, "Resources") {
		if !strings.HasSuffix(name, "Function") {
			add(name, n)
			continue
		}
		for property, n := range mergeProperties(section(t, "Globals", "Function"), section(t, "Resources", name, "Properties")) {
			switch property {
			case "DeploymentPreference":
				add(name+" alias", n)
			case "Events":
				add(name+" mapping", n)
			default:
				add(name, n)
			}
		}
		needs[name+" version"] = map[string]bool{name: true}
		needs[name+" alias"][name+" version"] = true
		needs[name+" mapping"][name+" alias"] = true
	}
	alarms := 0
	for name := range needs {
		if f, found := strings.CutSuffix(name, "ErrorsAlarm"); found { // the references are to the version
			needs[name][f+"Function version"] = true
			alarms++
		}
	}
	if alarms != 5 {
		t.Errorf("%d alarms on errors, want one for each function", alarms)
	}
	done := map[string]bool{}
	var visit func(path []string)
	visit = func(path []string) {
		last := path[len(path)-1]
		if slices.Contains(path[:len(path)-1], last) {
			t.Fatalf("a circle: %q", path)
		}
		for _, need := range slices.Sorted(maps.Keys(needs[last])) {
			if !done[need] {
				visit(append(slices.Clone(path), need))
			}
		}
		done[last] = true
	}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		visit([]string{name})
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
