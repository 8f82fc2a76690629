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
	if len(functions) < 2 {
		t.Errorf("got %d functions, want all of the template's", len(functions))
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

func TestRunErrors(t *testing.T) {
	t.Run("no MaximumConcurrency", func(t *testing.T) {
		s := opened(t, Options{Parameters: small})
		for _, f := range s.Template.Functions {
			f.Events[0].MaximumConcurrency = 0
		}
		if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "MaximumConcurrency") {
			t.Errorf("got error %v, want one with MaximumConcurrency", err)
		}
	})
	t.Run("no package", func(t *testing.T) {
		s := opened(t, Options{Functions: "nowhere", Parameters: small})
		if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("got error %v, want one with the folder", err)
		}
	})
}
