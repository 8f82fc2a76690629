package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/template"
)

const root = "../.."

// text is template.yaml.
func text(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func parse(yaml string, parameters map[string]string) (template.Template, error) {
	return template.Parse(strings.NewReader(yaml), template.Options{
		Parameters: parameters, StackName: "once", Region: "eu-central-1", AccountID: "123456789012",
		Resolve: func(r template.Reference) (string, error) {
			if r.Attribute == "" && r.Type == "AWS::SQS::Queue" {
				return "https://sqs.example/" + r.LogicalID, nil
			}
			return r.LogicalID + r.Attribute, nil
		},
	})
}

// stack is a template with what the code of its functions reads.
func stack(t *testing.T, yaml string, parameters map[string]string) Stack {
	t.Helper()
	parsed, err := parse(yaml, parameters)
	if err != nil {
		t.Fatal(err)
	}
	reads, err := Reads(root)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := Calls(root)
	if err != nil {
		t.Fatal(err)
	}
	return Stack{Template: parsed, Reads: reads, Calls: calls}
}
