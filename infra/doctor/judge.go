package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// Note is what is not judged, and why.
type Note struct {
	// Resource is a logical id, or where else in the template it is.
	Resource string `json:"resource"`
	// What is a property, a resource's type, or the name of a rule.
	What string `json:"what"`
	Why  string `json:"why"`
}

func (n Note) String() string { return "not judged: " + n.Resource + " " + n.What + ": " + n.Why }

// Judge applies every rule to what is known of a stack. What a rule found of something that is in a note of the template's is no finding: it is a
// note that names the rule.
//
// A function with no tag EffectClass or with no SQS event is none of ours, so it has a note and is not judged, unless its logical id is asked for
// or it shares a queue with one that is judged.
func Judge(s Stack, asked ...string) ([]Finding, []Note) {
	var notes []Note
	foreign := s.foreign(asked)
	for _, n := range s.Notes {
		if foreign[n.Resource] != "" && n.Why == template.NotRead {
			continue
		}
		what := strings.Join(n.Properties, ", ")
		if what == "" {
			what = n.Type
		}
		notes = append(notes, Note{Resource: n.Resource, What: what, Why: n.Why})
	}
	for _, id := range slices.Sorted(maps.Keys(foreign)) {
		notes = append(notes, Note{Resource: id, What: "function", Why: foreign[id]})
	}
	if s.Calls == nil || s.Reads == nil {
		notes = append(notes, Note{Resource: "Functions", What: "role-calls, variables-declared, variables-read",
			Why: "what their code calls and reads is not at hand"})
	}
	judged := s
	judged.Functions = slices.DeleteFunc(slices.Clone(s.Functions), func(f template.Function) bool { return foreign[f.LogicalID] != "" })
	var findings []Finding
	for _, f := range Check(judged) {
		why := s.doubt(f)
		if why == "" {
			findings = append(findings, f)
		} else if n := (Note{Resource: f.Resource, What: f.Rule, Why: why}); !slices.Contains(notes, n) {
			notes = append(notes, n)
		}
	}
	return findings, notes
}

// foreign says of each function that is not judged why not.
func (s Stack) foreign(asked []string) map[string]string {
	foreign, ours := map[string]string{}, map[string]bool{}
	for _, f := range s.Functions {
		switch _, tagged := f.Tags[classTag]; {
		case slices.Contains(asked, f.LogicalID):
		case !tagged:
			foreign[f.LogicalID] = "it has no tag " + classTag
		case len(f.Events) == 0:
			foreign[f.LogicalID] = "it has no SQS event"
		}
		for _, e := range f.Events {
			ours[e.Queue] = ours[e.Queue] || foreign[f.LogicalID] == ""
		}
	}
	for _, f := range s.Functions {
		if slices.ContainsFunc(f.Events, func(e template.Event) bool { return e.Queue != "" && ours[e.Queue] }) {
			delete(foreign, f.LogicalID)
		}
	}
	return foreign
}

// evidence is what a rule's finding is made of. Properties are paths as notes have them, with * for any name.
type evidence struct {
	properties []string
	// variables must be declared: a function of somebody else's may have another name for what they say, or no need of them.
	variables []string
	// alarms: a finding is that there is no alarm, so that any alarm which is not known in full may be the one.
	alarms bool
	// types are of resources of which any may be the one that is missed.
	types []string
}

func of(properties ...string) evidence { return evidence{properties: properties} }

func (n evidence) with(variables ...string) evidence {
	n.variables = variables
	for _, name := range variables {
		n.properties = append(slices.Clone(n.properties), "Environment.Variables."+name)
	}
	return n
}

// What is said of an alarm, and of the policy of a queue or a topic.
var (
	ofAlarm = []string{"RedrivePolicy.deadLetterTargetArn", "Namespace", "MetricName", "Metrics", "Dimensions", "Statistic", "ExtendedStatistic",
		"Period", "EvaluationPeriods", "DatapointsToAlarm", "Threshold", "ComparisonOperator", "AlarmActions", "ActionsEnabled"}
	ofPolicy    = []string{"Queues", "Topics", "PolicyDocument"}
	policyTypes = []string{"AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy", "AWS::SQS::QueueInlinePolicy", "AWS::SNS::TopicInlinePolicy"}
)

// needs are those of the rules. A rule that is not among them needs all there is: one note takes back what it found.
var needs = map[string]evidence{
	"effect-class": of("Tags"),
	"one-queue":    of("Events.*.Properties.Queue", "EventSourceArn", "FunctionName", "RedrivePolicy.deadLetterTargetArn"),
	"queue-name":   of("QueueName"),
	"encrypted":    of("SqsManagedSseEnabled", "KmsMasterKeyId"),
	"own-queues": of("Events.*.Properties.Queue", "EventSourceArn", "QueueName", "RedrivePolicy.deadLetterTargetArn").
		with("QUEUE_URL", "DEAD_LETTER_QUEUE_URL"),
	"dead-letter-queue":     of("RedrivePolicy"),
	"dead-letter-kind":      of("FifoQueue", "RedrivePolicy.deadLetterTargetArn"),
	"dead-letter-alarm":     {alarms: true, properties: ofAlarm},
	"dead-letter-arrival":   {alarms: true, properties: ofAlarm},
	"in-flight":             {alarms: true, properties: ofAlarm},
	"alarm-tells":           of("AlarmActions", "ActionsEnabled", "AlarmDescription"),
	"alarm-metrics":         {properties: ofAlarm},
	"all-properties":        of("AutoPublishAlias", "AutoPublishAliasAllProperties"),
	"over-tls":              {types: policyTypes, properties: ofPolicy},
	"dead-letter-senders":   {types: policyTypes, properties: append(ofPolicy, "Role", "RedrivePolicy.deadLetterTargetArn")},
	"open-doors":            of(ofPolicy...),
	"alarm-scope":           of("Dimensions", "Environment.Variables.SCOPE"),
	"receive-count":         of("RedrivePolicy.maxReceiveCount"),
	"batch-item-failures":   of("Events.*.Properties.FunctionResponseTypes", "FunctionResponseTypes"),
	"concurrency":           of("ReservedConcurrentExecutions", "Events.*.Properties.ScalingConfig", "ScalingConfig"),
	"visibility":            of("Timeout", "VisibilityTimeout", "Events.*.Properties.MaximumBatchingWindowInSeconds", "MaximumBatchingWindowInSeconds"),
	"dead-letter-retention": of("MessageRetentionPeriod", "RedrivePolicy.deadLetterTargetArn"),
	"max-age":               of("MessageRetentionPeriod", "RedrivePolicy.deadLetterTargetArn", "Tags"),
	"record-retention":      of("Tags").with("RETENTION_DAYS"),
	"lease":                 of("Tags").with("LEASE_MARGIN_SECONDS"),
	"provider-window":       of("Tags", "Timeout", "VisibilityTimeout").with("PROVIDER_WINDOW_HOURS", "LEASE_MARGIN_SECONDS"),
	"record-table":          of("KeySchema", "AttributeDefinitions", "TableName").with("INTENT_TABLE"),
	"record-index":          of("GlobalSecondaryIndexes", "AttributeDefinitions").with("INTENT_TABLE"),
	"record-expiry":         of("TimeToLiveSpecification"),
	"record-regions":        of("Replicas", "MultiRegionConsistency"),
	"variables-declared":    of("Environment.Variables"),
	"variables-read":        of("Environment.Variables"),
	"processors":            of("MemorySize").with("GOMAXPROCS"),
}

// doubt says why a finding cannot be made of what is known; empty if it can.
func (s Stack) doubt(f Finding) string {
	n, listed := needs[f.Rule]
	if !listed {
		for _, note := range s.Notes {
			if note.Type != "" && len(note.Properties) > 0 {
				return saying(note, note.Properties[0])
			}
		}
	}
	related := s.related(f.Resource)
	if why := s.noteOn(related, n); why != "" {
		return why
	}
	for _, function := range s.Functions {
		if f.Rule == "alarm-scope" && strings.Contains(f.Message, "no function") {
			switch {
			case function.Folder == "":
				return fmt.Sprintf("the operation of %s is not known: its logical id is not <Operation>Function", function.LogicalID)
			case strings.Contains(f.Message, strconv.Quote(function.Folder)):
				return function.LogicalID + " is not judged"
			}
		}
		if !related[function.LogicalID] {
			continue
		}
		for _, name := range n.variables {
			if _, declared := function.Environment[name]; !declared && strings.Contains(f.Message, " "+name+` ""`) {
				return fmt.Sprintf("it needs the environment variable %s, which %s does not declare", name, function.LogicalID)
			}
		}
		if f.Rule == "record-table" && function.LogicalID == f.Resource {
			return "the table that INTENT_TABLE names is none that was read in this template"
		}
	}
	return ""
}

// noteOn finds a note on one of some resources that a rule needs to know.
func (s Stack) noteOn(resources map[string]bool, n evidence) string {
	for _, note := range s.Notes {
		if !resources[note.Resource] && !(n.alarms && s.mayWatchQueue(note)) && !slices.Contains(n.types, note.Type) {
			continue
		}
		if len(note.Properties) == 0 {
			return saying(note, note.Type)
		}
		for _, property := range note.Properties {
			if property == "Condition" || slices.ContainsFunc(n.properties, func(need string) bool { return overlap(property, need) }) {
				return saying(note, property)
			}
		}
	}
	return ""
}

func saying(n template.Note, property string) string {
	return fmt.Sprintf("%s %s is not known: %s", n.Resource, property, n.Why)
}

// mayWatchQueue says whether a note is on an alarm that may be on one of SQS's metrics.
func (s Stack) mayWatchQueue(n template.Note) bool {
	return n.Type == "AWS::CloudWatch::Alarm" && !slices.ContainsFunc(s.Alarms, func(a template.Alarm) bool {
		return a.LogicalID == n.Resource && len(a.Metrics) > 0 && !slices.ContainsFunc(a.Metrics, func(m template.Metric) bool {
			return m.Namespace == "" || m.Namespace == "AWS/SQS"
		})
	})
}

// overlap says whether one of two paths is in the other: then the one is not known if the other is not.
func overlap(property, need string) bool {
	in, of := strings.FieldsFunc(property, separates), strings.Split(need, ".")
	for i := range min(len(in), len(of)) {
		if of[i] != "*" && in[i] != of[i] {
			return false
		}
	}
	return true
}

func separates(r rune) bool { return r == '.' || r == '[' || r == ']' }

// related are a resource and those that a rule looks at beside it: a function's mappings, queues and dead-letter queues, and the other way round;
// an alarm's functions.
func (s Stack) related(id string) map[string]bool {
	related := map[string]bool{id: true}
	isAlarm := slices.ContainsFunc(s.Alarms, func(a template.Alarm) bool { return a.LogicalID == id })
	for _, f := range s.Functions {
		chain := []string{f.LogicalID}
		for _, e := range f.Events {
			chain = append(chain, e.Name, e.Queue)
			if q := s.queue(e.Queue); q.Redrive != nil {
				chain = append(chain, q.Redrive.Target)
			}
		}
		if isAlarm || slices.Contains(chain, id) {
			for _, other := range chain {
				related[other] = true
			}
		}
	}
	return related
}
