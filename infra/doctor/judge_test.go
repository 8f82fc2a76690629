package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/singleeffect/once/infra/template"
)

// lenient is stack, read as somebody else's template is.
func lenient(t *testing.T, yaml string, parameters map[string]string) Stack {
	t.Helper()
	parsed, err := template.Parse(strings.NewReader(yaml), template.Options{Parameters: parameters, Lenient: true})
	if err != nil {
		t.Fatal(err)
	}
	return Stack{Template: parsed, Calls: map[string][]Call{}, Reads: map[string][]string{}}
}

// Our own template is one of its shape: nothing of it stays unjudged, and what breaks it is found, or a note names the rule.
func TestJudgeOurs(t *testing.T) {
	ours := lenient(t, text(t), nil)
	if findings, notes := Judge(ours); len(findings) > 0 || len(notes) > 0 {
		t.Errorf("got %v and %v, want nothing", findings, notes)
	}
	ours.Calls = nil // without its code
	if findings, notes := Judge(ours); len(findings) > 0 || len(notes) != 1 || !strings.Contains(notes[0].What, "role-calls") {
		t.Errorf("got %v and %v, want one note", findings, notes)
	}
	// Of these a note says that a function of somebody else's may have no need.
	undeclared := []string{"of another function that is Keyed", "no class", "no queue", "none of the stack's"}
	for _, tt := range broken {
		if strings.HasPrefix(tt.rule, "variables-") { // they need the code
			continue
		}
		findings, notes := Judge(lenient(t, strings.Replace(text(t), tt.old, tt.new, 1), tt.parameters))
		found := slices.ContainsFunc(findings, func(f Finding) bool { return f.Rule == tt.rule && f.Resource == tt.resource })
		noted := slices.ContainsFunc(notes, func(n Note) bool { return n.Resource == tt.resource && (n.What == tt.rule || n.What == "function") })
		if want := slices.Contains(undeclared, tt.name); found == want || noted != want {
			t.Errorf("%s, %s: found %t, noted %t, want noted %t: %v %v", tt.rule, tt.name, found, noted, want, findings, notes)
		}
	}
}

// What a rule would find of something that is not known, it does not find; and what it does not need to know takes nothing back.
func TestJudge(t *testing.T) {
	const imported = "!ImportValue other"
	tests := []struct {
		name  string
		edits []string // old, new, …
		asked []string
		found []string // rule resource
		noted []string // resource what
	}{
		{"a timeout, beside a visibility that is too short", []string{"Timeout: !Ref FunctionTimeoutSeconds", "Timeout: " + imported,
			"VisibilityTimeout: !Ref VisibilityTimeoutSeconds", "VisibilityTimeout: 1"}, nil, nil,
			[]string{"ChargeFunction Timeout", "ChargeQueue visibility"}},
		{"a retention, beside receives that are too few", []string{"MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: " + imported,
			"maxReceiveCount: 100", "maxReceiveCount: 29"}, nil, []string{"receive-count ChargeQueue"},
			[]string{"ChargeDeadLetterQueue MessageRetentionPeriod", "ChargeDeadLetterQueue dead-letter-retention"}},
		{"a dead-letter queue elsewhere", []string{"deadLetterTargetArn: !GetAtt ChargeDeadLetterQueue.Arn",
			"deadLetterTargetArn: arn:aws:sqs:eu-central-1:123456789012:dead"}, nil, nil,
			[]string{"ChargeQueue RedrivePolicy.deadLetterTargetArn", "ChargeQueue dead-letter-queue"}},
		{"an alarm that may be the one", []string{"Dimensions: [{Name: QueueName, Value: !GetAtt ShipDeadLetterQueue.QueueName}]",
			"Dimensions: [{Name: QueueName, Value: " + imported + "}]"}, nil, nil,
			[]string{"ShipDeadLetterAlarm Dimensions[0].Value", "ShipDeadLetterQueue dead-letter-alarm"}},
		{"an alarm that cannot be the one", []string{"Value: !GetAtt ShipDeadLetterQueue.QueueName", "Value: !GetAtt ShipQueue.QueueName",
			"- {Name: Operation, Value: welcome}", "- {Name: Operation, Value: " + imported + "}"}, nil,
			[]string{"dead-letter-alarm ShipDeadLetterQueue"}, []string{"WelcomeRetryingAlarm Dimensions[1].Value"}},
		{"a variable that no rule needs, beside one that is wrong", []string{"USERS_TABLE: " + tableOf("Users"), "USERS_TABLE: " + imported,
			"LEASE_MARGIN_SECONDS: !Ref LeaseMarginSeconds", "LEASE_MARGIN_SECONDS: '0'"}, nil, []string{"lease ChargeFunction"},
			[]string{"ChargeFunction Environment.Variables.USERS_TABLE"}},
		{"the response types of an event", []string{"FunctionResponseTypes: [ReportBatchItemFailures]", "FunctionResponseTypes: " + imported}, nil, nil,
			[]string{"ChargeFunction Events.Queue.Properties.FunctionResponseTypes", "ChargeFunction batch-item-failures"}},
		{"the scope of all functions", []string{"        SCOPE: " + scope, "        SCOPE: " + imported}, nil, nil,
			[]string{"ShipFunction Environment.Variables.SCOPE", "ChargeInDoubtAlarm alarm-scope"}},
		{"a resource that may not be there", []string{"  ShipQueue:\n    Type: AWS::SQS::Queue\n", "  ShipQueue:\n    Type: AWS::SQS::Queue\n" +
			"    Condition: Here\n", "Conditions:\n", "Conditions:\n  Here: !Equals [!Ref AWS::Region, eu-central-1]\n",
			"      Tags:\n        EffectClass: Natural\n", "      Tags:\n        EffectClass: Idempotent\n"}, nil,
			nil, []string{"ShipQueue Condition", "ShipFunction effect-class"}},
		{"a function without a class", []string{"      Tags:\n        EffectClass: Keyed\n", "", "maxReceiveCount: 100", "maxReceiveCount: 29"}, nil, nil,
			[]string{"ChargeFunction function", "ChargeInDoubtAlarm alarm-scope"}},
		{"a function without a class, asked for", []string{"      Tags:\n        EffectClass: Keyed\n", "", "maxReceiveCount: 100", "maxReceiveCount: 29"},
			[]string{"ChargeFunction"}, []string{"effect-class ChargeFunction", "receive-count ChargeQueue"}, nil},
		{"a function without a class on another's queue", []string{"      Tags:\n        EffectClass: Keyed\n", "",
			"Queue: !GetAtt ChargeQueue.Arn", "Queue: !GetAtt ShipQueue.Arn"}, nil,
			[]string{"effect-class ChargeFunction", "one-queue ShipQueue"}, nil},
		{"a function with another name, which its alarms do not know", []string{"  ShipFunction:", "  Shipper:"}, nil, nil,
			[]string{"ShipErrorsAlarm Dimensions[0].Value, Dimensions[1].Value"}},
		{"a function with another name and an alarm of its own", []string{"  WelcomeFunction:", "  Greeter:"}, nil, nil,
			[]string{"WelcomeRetryingAlarm alarm-scope", "WelcomeConflictAlarm alarm-scope"}},
		{"another build, runtime and code", []string{"BuildMethod: makefile", "BuildMethod: esbuild", "Runtime: provided.al2023", "Runtime: nodejs22.x",
			"Handler: bootstrap", "Handler: app.handler", "CodeUri: .", "CodeUri: dist/"}, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			yaml := text(t)
			for i := 0; i < len(tt.edits); i += 2 {
				if !strings.Contains(yaml, tt.edits[i]) {
					t.Fatalf("template.yaml has no %q to edit", tt.edits[i])
				}
				yaml = strings.Replace(yaml, tt.edits[i], tt.edits[i+1], 1)
			}
			findings, notes := Judge(lenient(t, yaml, nil), tt.asked...)
			var found, noted []string
			for _, f := range findings {
				found = append(found, f.Rule+" "+f.Resource)
			}
			for _, n := range notes {
				noted = append(noted, n.Resource+" "+n.What)
			}
			for _, want := range tt.found {
				if !slices.Contains(found, want) {
					t.Errorf("found %q, want %q among them", found, want)
				}
			}
			if tt.found == nil && found != nil {
				t.Errorf("found %v, want nothing", findings)
			}
			for _, want := range tt.noted {
				if !slices.Contains(noted, want) {
					t.Errorf("noted %q, want %q among them", noted, want)
				}
			}
			if tt.noted == nil && noted != nil {
				t.Errorf("noted %v, want nothing", notes)
			}
		})
	}
}

// A rule that says nothing of what it needs needs everything; what others need is said of rules that there are.
func TestNeeds(t *testing.T) {
	names := map[string]bool{}
	for _, rule := range Rules() {
		names[rule.Name] = true
	}
	for name := range needs {
		if !names[name] {
			t.Errorf("%s: there is no such rule", name)
		}
	}
	s := Stack{Template: template.Template{Notes: []template.Note{{Resource: "Q", Type: "AWS::SQS::Queue", Properties: []string{"Tags"}, Why: "w"}}}}
	if got, want := s.doubt(Finding{Rule: "new", Resource: "F"}), "Q Tags is not known: w"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
