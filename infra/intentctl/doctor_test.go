package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// Templates of others, and what is said of them: one of CloudFormation alone, one of SAM with managed policies and other builds, and one of which
// little can be judged.
func TestDoctorGolden(t *testing.T) {
	tests := []struct {
		golden    string
		arguments []string
		want      int
	}{
		{"cloudformation", []string{"--template", "testdata/cloudformation.yaml"}, exitAct},
		{"sam", []string{"--template", "testdata/sam.yaml"}, exitAct},
		{"unknown", []string{"--template", "testdata/unknown.yaml"}, exitAct},
		{"unknown-with-values", []string{"-t", "testdata/unknown.yaml", "--parameter-overrides", "Timeout=5", "--parameter-overrides=QueueArn=arn:a=b,c",
			"--function", "Elsewhere"}, exitAct},
		{"json", []string{"--template", "testdata/sam.yaml", "--output", "json"}, exitAct},
		{"ours", []string{"--template", "../../template.yaml"}, exitOK},
		{"ours-json", []string{"--template", "../../template.yaml", "--output", "json"}, exitOK},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(append([]string{"doctor"}, tt.arguments...), &stdout, &stderr); got != tt.want || stderr.Len() > 0 {
				t.Errorf("ended with %d and %q, want %d", got, stderr.String(), tt.want)
			}
			path := filepath.Join("testdata", tt.golden+".golden")
			if *update {
				if err := os.WriteFile(path, stdout.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if stdout.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", stdout.String(), want)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, arguments, want string
	}{
		{"no verb", "", `expected "doctor"`},
		{"an unknown verb", "operate", "unexpected argument operate"},
		{"an unknown output", "doctor --output yaml", "must be one of"},
		{"no template", "doctor --template testdata/none.yaml", "no such file"},
		{"a template that is none", "doctor --template doctor.go", "doctor.go: read template"},
		{"a parameter without a value", "doctor --template testdata/sam.yaml --parameter-overrides Timeout", "must be Name=Value"},
		{"a parameter that there is not", "doctor --template testdata/sam.yaml --parameter-overrides Timeout=3", "declares none of this name"},
		{"a rule that does not hold", "doctor --template testdata/unknown.yaml --parameter-overrides Timeout=0", "Timeout is not 0, but Timeout is 0"},
		{"a function that there is not", "doctor --template testdata/sam.yaml --function Refunds", `no function "Refunds"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(strings.Fields(tt.arguments), &stdout, &stderr); got != exitError || stdout.Len() > 0 {
				t.Errorf("ended with %d and %q, want %d", got, stdout.String(), exitError)
			}
			if !strings.Contains(stderr.String(), tt.want) {
				t.Errorf("said %q, want %q in it", stderr.String(), tt.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if got := run([]string{"doctor", "--help"}, &stdout, &stderr); got != exitOK || !strings.Contains(stdout.String(), "intentctl doctor --output json") {
		t.Errorf("ended with %d and %q", got, stdout.String())
	}
}
