// Package template reads template.yaml, the one place where the stack's resources are declared, into the few types that the local
// stack, the doctor and the tests need.
//
// It promises to drop nothing in silence: a section, a resource type, a property or an intrinsic function that it does not know is an
// error that names its path and line, unless it stands in the one list of what is left out (see ignored). Parameters keep to their
// constraints and the template's rules hold, as CloudFormation would have it.
//
// A lenient reading (Options.Lenient) is for templates of others: what it cannot read, it lists.
//
// It is no general SAM translator. Of resources it reads SAM functions with SQS events, SQS queues, DynamoDB tables, CloudWatch alarms
// and IAM roles; of intrinsics Ref, Fn::GetAtt, Fn::Sub, Fn::FindInMap, Fn::Split, Fn::If, and in conditions and rules Fn::Equals, Fn::Not, Fn::And,
// Fn::Or, Fn::Contains and Condition, each in its long and its short form.
package template

import (
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Template is what template.yaml declares, with every intrinsic resolved. Resources are in the order of the file; one whose Condition
// does not hold is left out.
type Template struct {
	// Parameters are the values in force, given or default.
	Parameters map[string]string
	Functions  []Function
	Queues     []Queue
	Tables     []Table
	Alarms     []Alarm
	Roles      []Role
	// Policies are those of queues and topics.
	Policies []Policy
	// Topics are logical ids.
	Topics []string
	// Region and AccountID are the options', for ARNs.
	Region, AccountID string
	// Notes are what a lenient reading could not read; where a property is in one, the fields above have no value or the default of it.
	Notes []Note
}

// Options says for which account and with which parameters a template is read.
type Options struct {
	// Parameters replace the template's defaults. A name that the template does not declare is an error.
	Parameters map[string]string
	// StackName, Region and AccountID are the pseudo parameters AWS::StackName, AWS::Region and AWS::AccountId. One that is empty may
	// not be referred to. AWS::Partition is always aws.
	StackName, Region, AccountID string
	// Resolve says what a reference to a resource stands for. Required. Also asked for each queue's Arn and URL, each table's name and
	// each alarm's and, if there are alarms, each queue's QueueName, all of one kind different, and the name and the Version.Version of each
	// function with an alias. A lenient reading makes up what it is not told, as it does for the pseudo parameters: they stand for themselves,
	// as ${AWS::Region}.
	Resolve func(Reference) (string, error)
	// Lenient reads any template of CloudFormation or SAM: what is refused otherwise becomes a note. Still an error are YAML that cannot be
	// read, parameters that the template does not take, and a rule that does not hold.
	Lenient bool
}

// Reference is a Ref or an Fn::GetAtt that names a resource of the template.
type Reference struct {
	LogicalID string
	// Type is the resource's, such as AWS::SQS::Queue.
	Type string
	// Name is the resource's QueueName or TableName; empty where CloudFormation would make one up.
	Name string
	// Attribute is what Fn::GetAtt asks for, such as Arn; empty for Ref.
	Attribute string
}

// Parse reads a template. Its error joins all that is wrong with the resources, each with its path and line.
func Parse(r io.Reader, options Options) (Template, error) {
	if options.Resolve == nil && options.Lenient {
		options.Resolve = standIn
	}
	if options.Resolve == nil {
		return Template{}, errors.New("Options.Resolve is nil: references to resources need it")
	}
	root, err := read(r)
	if err != nil {
		return Template{}, err
	}
	e := &evaluator{options: options, valueless: map[string]error{}, undecided: map[string]error{}}
	if options.Lenient {
		e.dropLoops(root)
	}
	s, err := e.known("", root, sections...)
	if err != nil {
		return Template{}, err
	}
	e.mappings = s["Mappings"]
	if e.parameters, err = e.readParameters(s["Parameters"], options.Parameters); err != nil {
		return Template{}, err
	}
	if err := e.rules(s["Rules"]); err != nil {
		return Template{}, err
	}
	if err := e.decide(s["Conditions"]); err != nil {
		return Template{}, err
	}
	global, err := e.globals(s["Globals"])
	if err != nil {
		return Template{}, err
	}
	resources, err := e.declare(s["Resources"], global)
	if err != nil {
		return Template{}, err
	}
	return e.template(resources)
}

// template turns the resources into our own types.
func (e *evaluator) template(resources []*resource) (Template, error) {
	t := Template{Parameters: e.parameters, Region: e.options.Region, AccountID: e.options.AccountID}
	ids, err := e.ids(resources)
	if err != nil {
		return Template{}, err
	}
	var errs []error
	for _, r := range resources {
		p := &properties{evaluator: e, path: r.path(), line: r.line, left: r.properties}
		switch r.kind {
		case queueType:
			t.Queues = append(t.Queues, queue(p, r, ids))
		case tableType, globalTableType:
			t.Tables = append(t.Tables, table(p, r))
		case functionType, lambdaFunctionType:
			t.Functions = append(t.Functions, function(p, r, ids))
		case alarmType:
			t.Alarms = append(t.Alarms, alarm(p, r, ids))
		case queuePolicyType:
			t.Policies = append(t.Policies, policy(p, r, "Queues"))
		case topicPolicyType:
			t.Policies = append(t.Policies, policy(p, r, "Topics"))
		case topicType:
			t.Topics = append(t.Topics, r.logicalID)
			continue
		case roleType:
			t.Roles = append(t.Roles, role(p, r))
		default:
			continue
		}
		p.ignore(ignored[r.kind]...)
		p.ignore(nameProperty[r.kind])
		if e.options.Lenient {
			e.noteAll(r.logicalID, r.kind, p.faults())
			continue
		}
		errs = append(errs, p.faults()...)
	}
	if e.options.Lenient {
		e.attachMappings(t.Functions, resources, ids)
		t.Notes = e.notes
		return t, nil
	}
	fifo := map[string]bool{}
	for _, q := range t.Queues {
		fifo[q.LogicalID] = q.FIFO
	}
	errs = append(errs, mappings(t.Functions, fifo)...)
	if err := errors.Join(errs...); err != nil {
		return Template{}, err
	}
	return t, nil
}

// read reads the one YAML document of r and refuses what YAML allows but CloudFormation, SAM and this package would read differently.
func read(r io.Reader) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(r)
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("read template: more than one YAML document")
	}
	root := document.Content[0]
	if err := sound(root); err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	return root, nil
}
