package template

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// kinds are the alarms that a function has by its class, in the order of the file.
var kinds = map[string][]string{
	"Keyed": {"DeadLetter", "DeadLetterArrival", "Age", "Retrying", "InFlight", "InDoubt", "Takeover", "Conflict",
		"Errors", "Failed", "Quarantined", "Refused", "UnknownFormat"},
	"Ledger":  {"DeadLetter", "DeadLetterArrival", "Age", "Retrying", "InFlight", "Conflict", "Errors", "Failed", "Quarantined", "Refused", "UnknownFormat"},
	"Natural": {"DeadLetter", "DeadLetterArrival", "Age", "Retrying", "InFlight", "Errors", "Failed", "Quarantined"},
	"Blind": {"DeadLetter", "DeadLetterArrival", "Age", "Retrying", "InFlight", "InDoubt", "Conflict",
		"Errors", "Failed", "Quarantined", "Refused", "UnknownFormat"},
}

// takesBack are the alarms on a new version alone, which stop its deployment.
var takesBack = map[string]bool{"Errors": true, "Failed": true, "Quarantined": true, "Refused": true, "UnknownFormat": true}

// messages are what the descriptions call a function's messages.
var messages = map[string]string{
	"Charge": "charges", "Adjust": "balance changes", "Ship": "shipments", "Clearcart": "cart clearings", "Welcome": "welcomes",
}

// chargeAlarm is charge's alarm of a kind, with another function's names where they differ.
func chargeAlarm(kind string) Alarm {
	a := Alarm{
		LogicalID: "ChargeDeadLetterAlarm", Period: time.Minute, EvaluationPeriods: 1, DatapointsToAlarm: 1, Comparison: "GreaterThanThreshold",
		MissingData: "notBreaching", Actions: []string{"AlarmTopic"},
	}
	a.LogicalID = "Charge" + kind + "Alarm"
	queue := func(name, metric string) []Metric {
		return []Metric{{
			Namespace: "AWS/SQS", Name: metric, Queue: name, Dimensions: map[string]string{"QueueName": "name of " + name}, Statistic: "Maximum",
		}}
	}
	own := func(id, metric string) Metric {
		m := Metric{ID: id, Namespace: "Once", Name: metric, Dimensions: map[string]string{"Scope": stackScope, "Operation": "charge"}, Statistic: "Sum"}
		if takesBack[kind] {
			m.Dimensions["Version"] = "version of ChargeFunction"
		}
		return m
	}
	if takesBack[kind] {
		a.EvaluationPeriods, a.DatapointsToAlarm = 3, 2
	}
	switch kind {
	case "DeadLetter", "DeadLetterArrival":
		a.Metrics = queue("ChargeDeadLetterQueue", "ApproximateNumberOfMessagesVisible")
		if kind == "DeadLetterArrival" {
			a.Metrics[0].ID, a.Expression = "depth", &Expression{text: "DIFF(depth)"}
		}
	case "Age":
		a.Metrics, a.Threshold = queue("ChargeQueue", "ApproximateAgeOfOldestMessage"), 3600
	case "InFlight":
		a.Metrics, a.Threshold = queue("ChargeQueue", "ApproximateNumberOfMessagesNotVisible"), 100000
	case "Errors":
		a.Metrics = []Metric{{Namespace: "AWS/Lambda", Name: "Errors", Statistic: "Sum", Dimensions: map[string]string{
			"FunctionName": "ChargeFunction", "Resource": "ChargeFunction:live", "ExecutedVersion": "version of ChargeFunction",
		}}}
	case "Failed", "Quarantined", "Refused":
		id := strings.ToLower(kind)
		a.Metrics, a.Threshold = []Metric{own(id, kind), own("messages", "Messages")}, 0.5
		a.Expression = &Expression{text: "FILL(" + id + ", 0) / (messages + 1)"}
	case "Takeover":
		a.Metrics = []Metric{own("", "Takeovers")}
	default:
		a.Metrics = []Metric{own("", kind)}
	}
	return a
}

// A template without extensions has each alarm once for each function. These copies are charge's but for names.
func TestStackAlarms(t *testing.T) {
	got, err := stack(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	left := got.Alarms
	descriptions := map[string]string{}
	for _, f := range got.Functions {
		name := strings.TrimSuffix(f.LogicalID, "Function")
		rename := strings.NewReplacer("Charge", name, "charge", f.Folder)
		for _, kind := range kinds[f.Tags["EffectClass"]] {
			if len(left) == 0 {
				t.Fatalf("there is no %s of %s", kind, name)
			}
			a := left[0]
			left = left[1:]
			// What is said is the same, too.
			said := strings.NewReplacer(messages[name], "M", capital(messages[name]), "M", " of "+f.Folder+" ", " of F ").Replace(a.Description)
			if first, there := descriptions[kind]; said == "" || there && said != first {
				t.Errorf("%s says %q, and another one %q", a.LogicalID, said, first)
			}
			descriptions[kind] = said
			a.Description = ""
			if got, want := fmt.Sprintf("%+v", a), rename.Replace(fmt.Sprintf("%+v", chargeAlarm(kind))); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("more alarms than are known here: %+v", left)
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Whatever the deployment, each alarm can be made: without CodeDeploy there is still a version to name.
func TestStackAlarmsAtOnce(t *testing.T) {
	gradual, err := stack(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	atOnce, err := stack(t, map[string]string{"GradualDeployment": "false"})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(gradual.Alarms, atOnce.Alarms) || len(atOnce.Alarms) == 0 {
		t.Errorf("got %d alarms, want the %d of a gradual deployment", len(atOnce.Alarms), len(gradual.Alarms))
	}
}
