package doctor

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// sound checks that nothing is found in template.yaml as it is, with the given parameters.
func sound(t *testing.T, parameters map[string]string) {
	t.Helper()
	for _, f := range Check(stack(t, text(t), parameters)) {
		t.Errorf("%v: %v", parameters, f)
	}
}

func TestTemplate(t *testing.T) {
	sound(t, nil)
	const secret = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf"
	sound(t, map[string]string{"StripeSecretArn": secret, "EmailFrom": "shop@example.com", "NotificationEmail": "ops@example.com"})
	sound(t, map[string]string{"Scope": "123456789012/us-east-1/once"})
	sound(t, map[string]string{"ExistingIntentTable": "once-IntentTable-1ABCDEF", "Tracing": "Active", "IntentTableWarmWrites": "40000",
		"SenderArns": "arn:aws:iam::123456789012:role/shop,arn:aws:sns:eu-central-1:123456789012:orders"})
	// As the demo has them.
	sound(t, map[string]string{
		"FunctionTimeoutSeconds": "2", "VisibilityTimeoutSeconds": "12", "LeaseMarginSeconds": "1", "MaximumConcurrency": "2",
	})
}

// allowed are the values of each parameter that the rules here are about, as the template has them: all of a list, and both ends of a range.
func allowed(t *testing.T) map[string][]string {
	t.Helper()
	var declared struct {
		Parameters map[string]struct {
			AllowedValues []string `yaml:"AllowedValues"`
			MinValue      *int     `yaml:"MinValue"`
			MaxValue      *int     `yaml:"MaxValue"`
		} `yaml:"Parameters"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(text(t)))
	if err := decoder.Decode(&declared); err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	values["RetentionDays"], values["LeaseMarginSeconds"] = []string{"40", "3650"}, []string{"1", "60"} // by a pattern
	for name, p := range declared.Parameters {
		if p.AllowedValues == nil && p.MinValue == nil {
			continue
		}
		values[name] = p.AllowedValues
		if p.MinValue != nil && p.MaxValue != nil {
			values[name] = []string{strconv.Itoa(*p.MinValue), strconv.Itoa(*p.MaxValue)}
		}
	}
	return values
}

// Whatever the template's own lists and rules let stand, stands before the rules here; what only they refuse is refused.
func TestEveryParameter(t *testing.T) {
	values := allowed(t)
	all := func(names ...string) {
		t.Run(strings.Join(names, " and "), func(t *testing.T) {
			stood := 0
			var with func(given map[string]string, left []string)
			with = func(given map[string]string, left []string) {
				if len(left) > 0 {
					if len(values[left[0]]) < 2 {
						t.Fatalf("parameter %s has no two values", left[0])
					}
					for _, value := range values[left[0]] {
						more := maps.Clone(given)
						more[left[0]] = value
						with(more, left[1:])
					}
					return
				}
				parsed, err := parse(text(t), given)
				if err != nil {
					if !strings.HasPrefix(err.Error(), "Rules.") {
						t.Errorf("%v: %v", given, err)
					}
					return
				}
				stood++
				for _, f := range Check(Stack{Template: parsed}) {
					t.Errorf("%v: %v", given, f)
				}
			}
			with(map[string]string{}, names)
			if stood < 2 {
				t.Errorf("%d stand, want some", stood)
			}
		})
	}
	all("FunctionTimeoutSeconds", "VisibilityTimeoutSeconds", "LeaseMarginSeconds")
	all("MaximumConcurrency", "ReservedConcurrency")
	all("RetentionDays", "BatchSize", "LeaseMarginSeconds", "GradualDeployment")
}

// Where the code is not at hand, the rules on it find nothing, and the others what they found.
func TestWithoutCode(t *testing.T) {
	edited := strings.Replace(text(t), "PROVIDER_WINDOW_HOURS", "PROVIDER_WINDOW", 1)
	rules := func(s Stack) []string {
		var names []string
		for _, f := range Check(s) {
			names = append(names, f.Rule)
		}
		return names
	}
	s := stack(t, edited, nil)
	if got, want := rules(s), []string{"provider-window", "variables-declared", "variables-read"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Reads = nil
	if got, want := rules(s), []string{"provider-window"}; !slices.Equal(got, want) {
		t.Errorf("without code: got %q, want %q", got, want)
	}
}

func TestFinding(t *testing.T) {
	findings := Check(stack(t, strings.Replace(text(t), "maxReceiveCount: 100", "maxReceiveCount: 29", 1), nil))
	if len(findings) != 1 {
		t.Fatalf("got %v, want one finding", findings)
	}
	if got, want := findings[0].String(), "receive-count: ChargeQueue gives a message up after 29 receives, less than 30"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
