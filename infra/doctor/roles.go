package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// need is a permission that a function cannot do without.
type need struct {
	action string
	// resource is a logical id or an ARN; empty for an e-mail, whose resources nobody knows beforehand: see unavoidable.
	resource string
	// sender is who an e-mail is from.
	sender string
}

func (n need) String() string {
	if n.sender != "" {
		return n.action + " from " + n.sender
	}
	return n.action + " on " + n.resource
}

// What is needed besides what the code calls.
var (
	// ofMapping is what Lambda calls with the function's role to feed it from a queue (AWS Lambda developer guide, "Using Lambda with
	// Amazon SQS", permissions of the execution role).
	ofMapping = []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}
	// ofLog is what a log group that is there needs (the same guide, "Sending Lambda function logs to CloudWatch Logs"). Lambda would
	// also make the group: the template does.
	ofLog = []string{"logs:CreateLogStream", "logs:PutLogEvents"}
	// ofTracing is what X-Ray needs (the same guide, "Visualize Lambda function invocations using AWS X-Ray").
	ofTracing = []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
)

// roleCalls leaves out roles of functions whose calls are not at hand, and what another rule finds first: a variable that is not declared,
// a queue that is not the function's own, a record table that is nobody's.
func roleCalls(s Stack, found report) {
	for _, r := range s.Roles {
		var needs []need
		var functions []string
		judged := true
		for _, f := range s.Functions {
			if f.Role != r.LogicalID {
				continue
			}
			functions = append(functions, f.LogicalID)
			more, known := s.needs(f)
			needs, judged = append(needs, more...), judged && known
		}
		if len(functions) == 0 || !judged {
			continue
		}
		var wrong []string
		for _, n := range needs {
			if why := denial(s, r, n); why != "" && len(r.Managed) == 0 { // what a managed policy allows is not known
				wrong = append(wrong, why)
			}
		}
		for _, extra := range extras(s, r, needs) {
			wrong = append(wrong, "allows "+extra+", which nothing calls")
		}
		if len(wrong) > 0 {
			slices.Sort(wrong)
			found(r.LogicalID, "%s: it is of %s", strings.Join(slices.Compact(wrong), ", and "), strings.Join(functions, " and "))
		}
	}
}

// needs returns what a function needs of its role; false where that cannot be said.
func (s Stack) needs(f template.Function) ([]need, bool) {
	calls, known := s.Calls[f.Folder]
	if !known || len(f.Events) != 1 || f.LogGroup == "" || f.Policies {
		return nil, false
	}
	for _, fed := range s.feeds() {
		if fed.LogicalID == f.LogicalID && (f.Environment["QUEUE_URL"] != fed.queue.URL ||
			fed.dead != nil && f.Environment["DEAD_LETTER_QUEUE_URL"] != fed.dead.URL) {
			return nil, false
		}
	}
	needs := []need{}
	for _, c := range calls {
		value, declared := f.Environment[c.Variable]
		if !declared {
			return nil, false
		}
		if value == "" { // there is nothing that could be called
			continue
		}
		n, known := s.need(c.Action, value)
		if !known || c.Variable == "INTENT_TABLE" && s.strange(value) {
			return nil, false
		}
		needs = append(needs, n)
	}
	for _, action := range ofMapping {
		needs = append(needs, need{action: action, resource: f.Events[0].Queue})
	}
	for _, action := range ofLog {
		needs = append(needs, need{action: action, resource: f.LogGroup})
	}
	if f.Traced {
		for _, action := range ofTracing {
			needs = append(needs, need{action: action, resource: "*"})
		}
	}
	return needs, true
}

// need is an action on the resource that a variable's value names.
func (s Stack) need(action, value string) (need, bool) {
	n := need{action: action, resource: value}
	switch service, _, _ := strings.Cut(action, ":"); service {
	case "dynamodb":
		n.resource = fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", s.Region, s.AccountID, value)
		for _, t := range s.Tables {
			if t.Ref == value {
				n.resource = t.LogicalID
			}
		}
	case "sqs":
		i := slices.IndexFunc(s.Queues, func(q template.Queue) bool { return q.URL == value })
		if i < 0 {
			return need{}, false
		}
		n.resource = s.Queues[i].LogicalID
	case "ses":
		n.resource, n.sender = "", value
	}
	return n, true
}
