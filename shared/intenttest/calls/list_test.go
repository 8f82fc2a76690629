package calls

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder is a function's, with these files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestEnd(t *testing.T) {
	called := &recorder{names: map[string][]string{}, sites: map[Call]string{
		{"dynamodb:PutItem", "A_TABLE"}: "main.go:1", {"sqs:SendMessage", "QUEUE_URL"}: "main.go:2",
	}}
	const both = "dynamodb:PutItem A_TABLE\nsqs:SendMessage QUEUE_URL\n"
	for _, tt := range []struct {
		name, list string
		whole      bool
		want       []string // in the error; none where there is no error
	}{
		{"as listed", both, true, nil},
		{"one more", "dynamodb:PutItem A_TABLE\n", false, []string{"sqs:SendMessage QUEUE_URL is called in main.go:2, and testdata/calls.txt does not list it"}},
		{"on another resource", strings.Replace(both, "QUEUE", "OTHER", 1), true, []string{
			"sqs:SendMessage QUEUE_URL is called", "sqs:SendMessage OTHER_URL is listed in testdata/calls.txt, and no test calls it", "-write-calls"}},
		{"one less", both + "ses:SendEmail EMAIL_FROM\n", true, []string{"ses:SendEmail EMAIL_FROM is listed in testdata/calls.txt, and no test calls it"}},
		{"one less, of a part of the suite", both + "ses:SendEmail EMAIL_FROM\n", false, nil},
		{"no list", "PutItem\n", true, []string{`"PutItem" is no action and resource`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := called.end(folder(t, map[string]string{list: tt.list}), tt.whole, false)
			if (err != nil) != (tt.want != nil) {
				t.Fatalf("got error %v, want %q in it", err, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want %q in it", err, want)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		if err := called.end(t.TempDir(), true, false); !os.IsNotExist(err) {
			t.Errorf("got %v, want that there is no list", err)
		}
	})
	t.Run("write", func(t *testing.T) {
		dir := t.TempDir()
		if err := called.end(dir, false, true); err == nil || !strings.Contains(err.Error(), "not all tests ran") {
			t.Errorf("of a part of the suite: got error %v", err)
		}
		if err := called.end(dir, true, true); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, list)); err != nil || string(got) != both {
			t.Errorf("got %q and error %v, want %q", got, err, both)
		}
	})
}

func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		flags string
		want  bool
	}{
		{"", true}, {"-test.v -test.count=3 -test.bench=.", true}, {"-test.run=X", false}, {"-test.skip=X", false}, {"-test.short", false}, {"-test.count=0", false},
		{"-test.list=.", false}, {"-test.fuzz=X", false}, {"-test.fuzzworker", false},
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flag.VisitAll(func(f *flag.Flag) { // the testing package's own, at their defaults
			if !strings.HasPrefix(f.Name, "test.") {
				return
			}
			if _, ok := f.Value.(interface{ IsBoolFlag() bool }); ok {
				flags.Bool(f.Name, f.DefValue == "true", "")
			} else {
				flags.String(f.Name, f.DefValue, "")
			}
		})
		if err := flags.Parse(strings.Fields(tt.flags)); err != nil {
			t.Fatal(err)
		}
		if got := whole(flags); got != tt.want {
			t.Errorf("%q: got %t, want %t", tt.flags, got, tt.want)
		}
	}
}

func TestRead(t *testing.T) {
	got, err := read(strings.NewReader("sqs:SendMessage QUEUE_URL\nses:SendEmail EMAIL_FROM"))
	if want := []Call{{"sqs:SendMessage", "QUEUE_URL"}, {"ses:SendEmail", "EMAIL_FROM"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v and error %v, want %v", got, err, want)
	}
	for _, text := range []string{"sqs:SendMessage", "sqs:SendMessage A B", "SendMessage A", "\n"} {
		if _, err := read(strings.NewReader(text)); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

// A client that nobody records is found where it is made.
func TestRecorded(t *testing.T) {
	const head = `package main
import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	env "github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intenttest/calls"
)
`
	for code, want := range map[string]string{
		`var a = sqs.NewFromConfig(calls.Config(aws.Config{Region: "x"}))`:       "",
		`var a = env.NewVariables(calls.Lookup(nil), calls.Record)`:              "",
		`var a, b = sqs.New(other.Options(), func(o *sqs.Options) {}), Config{}`: "",
		`func main() { environment.Start(wire) }`:                                "",
		`var a = sqs.NewFromConfig(aws.Config{Region: "x"})`:                     "x_test.go:8:27: an aws.Config that is not made by calls.Config",
		`var a = aws.Config{}`:                                                      "x_test.go:8:9: an aws.Config",
		`var a = calls.Config(aws.Config{X: aws.Config{}})`:                         "x_test.go:8:36: an aws.Config",
		`var a = sqs.New(sqs.Options{})`:                                            "x_test.go:8:17: a client of its own Options",
		`var a = env.NewVariables(calls.Lookup(nil))`:                               "x_test.go:8:9: environment.NewVariables without calls.Record",
		`var a = env.NewVariables(nil, other.Record)`:                               "x_test.go:8:9: environment.NewVariables without calls.Record",
		`var a = env.NewVariables(func(string) (string, bool) { return "", true })`: "x_test.go:8:9: environment.NewVariables without calls.Record",
	} {
		err := recorded(folder(t, map[string]string{"x_test.go": head + code}))
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", code, err, want)
		}
	}
	if err := recorded(folder(t, map[string]string{"x.go": "package"})); err == nil {
		t.Error("a file that is none: got no error")
	}
}
