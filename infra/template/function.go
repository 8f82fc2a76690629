package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Function is one Lambda function, with what Globals says of it.
type Function struct {
	LogicalID string
	// Folder is the function's package under functions/: the first part of its logical id in lower case, as in the Makefile.
	Folder string
	// Architecture is arm64 or x86_64.
	Architecture string
	// Timeout ends an invocation, in whole seconds.
	Timeout time.Duration
	// MemoryMB is the memory in MB of 2^20 bytes, as Lambda counts.
	MemoryMB int
	// ReservedConcurrency is 0 where none is reserved.
	ReservedConcurrency int
	Environment         map[string]string
	// Tags has EffectClass: Keyed, Ledger, Natural or Blind.
	Tags   map[string]string
	Events []Event
	// Alias is what the events invoke: a version of its own. Empty where they invoke the function as it is.
	Alias string
	// Name and Version are what a Ref to the function and the Fn::GetAtt of its Version.Version stand for, by which alarms name the version
	// that a deployment publishes. Empty where there is no alias or no alarm.
	Name, Version string
	// PublishesAll says that a change of any property publishes a version; else only one of code, environment or memory does.
	PublishesAll bool
	// VersionDescription tells one version from another: a change of it publishes one.
	VersionDescription string
	// Deployment is nil where a new version gets all messages at once.
	Deployment *Deployment
	// Role and LogGroup are logical ids; empty where they are none of the template's.
	Role, LogGroup string
	// Policies says that SAM makes the role, of policies that are not read.
	Policies bool
	// Traced says that X-Ray traces it.
	Traced bool
}

// Event is a function's event source mapping to one of the template's queues.
type Event struct {
	Name string
	// Queue is the queue's logical id.
	Queue string
	// BatchSize is the most messages an invocation gets.
	BatchSize int
	// Window is how long the mapping may gather a batch, in whole seconds.
	Window time.Duration
	// MaximumConcurrency is the most invocations at once; 0 sets no limit.
	MaximumConcurrency int
	// FunctionResponseTypes has ReportBatchItemFailures, or the answer's list of failures goes unread.
	FunctionResponseTypes []string
	Enabled               bool
}

// Lambda's own defaults and bounds, from its API reference (CreateFunction, CreateEventSourceMapping): seconds, MB and messages.
const (
	defaultTimeout, maxTimeout          = 3, 900
	defaultMemory, minMemory, maxMemory = 128, 128, 10240
	minConcurrency, maxConcurrency      = 2, 1000
	defaultBatch, maxBatch, maxWindow   = 10, 10000, 300
	// maxPlainBatch is the most a FIFO queue gives, or any queue without a batching window.
	maxPlainBatch = 10
)

func function(p *properties, r *resource, ids ids) Function {
	f := Function{
		LogicalID:           r.logicalID,
		Timeout:             time.Duration(p.number("Timeout", defaultTimeout, 1, maxTimeout)) * time.Second,
		MemoryMB:            p.number("MemorySize", defaultMemory, minMemory, maxMemory),
		ReservedConcurrency: p.number("ReservedConcurrentExecutions", 0, 1, maxConcurrency),
		Environment:         map[string]string{},
		Tags:                map[string]string{},
		Alias:               p.text("AutoPublishAlias", ""),
		PublishesAll:        p.flag("AutoPublishAliasAllProperties", false),
		VersionDescription:  p.text("VersionDescription", ""),
	}
	if f.Alias != "" && len(ids.alarms) > 0 {
		f.Name, f.Version = p.self(r), p.attribute(r, "Version.Version")
	}
	f.identity(p)
	folder, named := strings.CutSuffix(r.logicalID, "Function")
	if named {
		f.Folder = strings.ToLower(folder)
	}
	lenient := p.evaluator.options.Lenient
	if lenient {
		f.codeLeniently(p)
	} else {
		f.code(p, r)
	}
	if environment := p.within("Environment"); environment != nil {
		if variables := environment.within("Variables"); variables != nil {
			f.Environment = variables.named()
		}
	}
	if r.kind == lambdaFunctionType { // the rest stands beside it
		for _, tag := range p.all("Tags") {
			f.Tags[tag.required("Key")] = tag.text("Value", "")
		}
		return f
	}
	if tags := p.within("Tags"); tags != nil {
		f.Tags = tags.named()
	}
	if preference := p.within("DeploymentPreference"); preference != nil {
		f.Deployment = deployment(preference, f.Alias, ids)
	}
	if events := p.within("Events"); events != nil {
		for _, name := range slices.Sorted(maps.Keys(events.left)) {
			e := events.within(name)
			switch {
			case e == nil:
			case lenient && e.left["Type"] != nil && e.left["Type"].Value != "SQS":
				events.fail(name, e.line, "is no SQS event")
				e.left = nil
			default:
				f.Events = append(f.Events, event(e, name, ids))
			}
		}
	}
	return f
}

// code holds what says what is built and run to what the Makefile builds.
func (f *Function) code(p *properties, r *resource) {
	if f.Folder == "" {
		p.errs = append(p.errs, fault("Resources."+r.logicalID, r.line, "a function's logical id is its folder's name and Function"))
	}
	if r.build != "makefile" {
		p.errs = append(p.errs, fault("Resources."+r.logicalID+".Metadata.BuildMethod", r.line, "is %q: only makefile is known", r.build))
	}
	p.only("CodeUri", ".")
	p.only("Handler", "bootstrap")
	p.only("Runtime", "provided.al2023")
	architectures := p.texts("Architectures")
	if len(architectures) != 1 || architectures[0] != "arm64" && architectures[0] != "x86_64" {
		p.fail("Architectures", r.line, "is %q: it must be one of arm64 and x86_64", architectures)
	} else {
		f.Architecture = architectures[0]
	}
}

// codeLeniently leaves it out, whatever it says.
func (f *Function) codeLeniently(p *properties) {
	p.ignore(aboutCode...)
	if architectures := p.texts("Architectures"); len(architectures) == 1 {
		f.Architecture = architectures[0]
	}
}

// event reads one event.
func event(p *properties, name string, ids ids) Event {
	p.only("Type", "SQS")
	outer := p
	if p = p.within("Properties"); p == nil {
		outer.fail("Properties", outer.line, "is missing")
		return Event{Name: name}
	}
	return mapping(p, name, "Queue", ids)
}

// mapping reads the properties of an event source mapping, whose queue has another name in SAM and in CloudFormation.
func mapping(p *properties, name, source string, ids ids) Event {
	e := Event{Name: name}
	arn := p.required(source)
	if e.Queue = ids.queueARNs[arn]; e.Queue == "" && arn != "" {
		p.fail(source, p.line, "%q is none of the template's queues", arn)
	}
	e.BatchSize = p.number("BatchSize", defaultBatch, 1, maxBatch)
	e.Window = time.Duration(p.number("MaximumBatchingWindowInSeconds", 0, 0, maxWindow)) * time.Second
	e.Enabled = p.flag("Enabled", true)
	e.FunctionResponseTypes = p.texts("FunctionResponseTypes")
	for _, kind := range e.FunctionResponseTypes {
		if kind != "ReportBatchItemFailures" {
			p.fail("FunctionResponseTypes", p.line, "is %q: only ReportBatchItemFailures is known", kind)
		}
	}
	if scaling := p.within("ScalingConfig"); scaling != nil {
		e.MaximumConcurrency = scaling.number("MaximumConcurrency", 0, minConcurrency, maxConcurrency)
	}
	return e
}

// mappings checks batches against the queues they come from, as Lambda does when a mapping is created.
func mappings(functions []Function, fifo map[string]bool) []error {
	var errs []error
	for _, f := range functions {
		for _, e := range f.Events {
			path := fmt.Sprintf("Resources.%s.Properties.Events.%s", f.LogicalID, e.Name)
			switch {
			case fifo[e.Queue] && e.Window > 0:
				errs = append(errs, fmt.Errorf("%s: MaximumBatchingWindowInSeconds is %s: a FIFO queue has none", path, e.Window))
			case e.BatchSize > maxPlainBatch && e.Window == 0:
				errs = append(errs, fmt.Errorf("%s: BatchSize is %d: above %d a batching window is needed", path, e.BatchSize, maxPlainBatch))
			}
		}
	}
	return errs
}
