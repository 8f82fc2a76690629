package stack

import (
	"net"
	"strings"
	"testing"
)

func TestUnreachable(t *testing.T) {
	t.Setenv("PATH", "") // nothing can be started
	functions, err := Unreachable(Options{Root: projectRoot(t), Name: "once-test"})
	if err != nil {
		t.Fatal(err)
	}
	if len(functions) != 5 {
		t.Errorf("got %d functions, want all five of the template's", len(functions))
	}
	for _, f := range functions {
		for _, name := range []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"} {
			address, found := strings.CutPrefix(f.Environment[name], "http://")
			if !found {
				t.Errorf("%s of %s is %q, want an address", name, f.LogicalID, f.Environment[name])
			}
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Close()
				t.Errorf("%s of %s: somebody listens at %s", name, f.LogicalID, address)
			}
		}
	}
	if _, err := Unreachable(Options{Root: t.TempDir(), Name: "once-test"}); err == nil || !strings.Contains(err.Error(), "template.yaml") {
		t.Errorf("without a template: got error %v, want one with template.yaml", err)
	}
}

func TestRoot(t *testing.T) {
	t.Chdir(t.TempDir())
	if dir, err := Root(); err == nil {
		t.Errorf("found a project at %s", dir)
	}
}

// Both end before anything but a build was begun.
func TestRunErrors(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Stack)
		want   string
	}{
		{"no MaximumConcurrency", func(s *Stack) { s.Template.Functions[1].Events[0].MaximumConcurrency = 0 }, "MaximumConcurrency"},
		{"no package", func(s *Stack) { s.options.Functions = "nowhere" }, "nowhere"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &Stack{options: Options{Root: projectRoot(t)}, account: account{queues: "http://127.0.0.1:1"}}
			var err error
			if s.Template, err = s.account.parse(s.options.Root, "once-test", small); err != nil {
				t.Fatal(err)
			}
			tt.change(s)
			defer s.Close()
			if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
}
