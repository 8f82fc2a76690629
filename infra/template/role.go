package template

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Role is one IAM role, with what it says itself of its permissions.
type Role struct {
	LogicalID string
	// Statements are those of its inline policies, in the order of the file.
	Statements []Statement
	// Managed are the ARNs of managed policies. What these allow is not read.
	Managed []string
}

// Statement is one statement of a policy.
type Statement struct {
	// Effect is Allow or Deny.
	Effect string
	// Principals are whom a queue's or a topic's policy speaks of: *, or a kind and a name, such as "Service sns.amazonaws.com".
	Principals []string
	// Actions are as in the policy, such as dynamodb:PutItem, with their wildcards.
	Actions []string
	// Resources are logical ids where the policy names a resource of the template, by its Arn or by its name, and else what it says: an
	// ARN, with its wildcards. A reference that is part of more is left as in Fn::Sub: ${Orders.Arn}/index/by-day.
	Resources []string
	// Conditions are the values by operator and key, such as "StringEquals ses:FromAddress".
	Conditions map[string][]string
}

// symbolic is an evaluator that leaves references to resources as they are: a policy names resources by ARNs, and of many types these are
// of no use to who reads the template.
func (e *evaluator) symbolic() *evaluator {
	symbolic := *e
	symbolic.options.Resolve = func(r Reference) (string, error) {
		if r.Attribute == "" {
			return "${" + r.LogicalID + "}", nil
		}
		return "${" + r.LogicalID + "." + r.Attribute + "}", nil
	}
	return &symbolic
}

func role(p *properties, r *resource) Role {
	p.evaluator = p.evaluator.symbolic()
	role := Role{LogicalID: r.logicalID, Managed: p.texts("ManagedPolicyArns")}
	for _, policy := range p.all("Policies") {
		policy.required("PolicyName")
		role.Statements = append(role.Statements, policy.statements()...)
	}
	return role
}

// statements are those of the PolicyDocument.
func (p *properties) statements() (all []Statement) {
	document := p.within("PolicyDocument")
	if document == nil {
		p.fail("PolicyDocument", p.line, "is missing")
		return nil
	}
	document.only("Version", "2012-10-17")
	for _, s := range document.all("Statement") {
		all = append(all, statement(s))
	}
	return all
}

func statement(p *properties) Statement {
	s := Statement{
		Effect: p.oneOf("Effect", p.required("Effect"), []string{"Allow", "Deny"}), Principals: p.principals(),
		Actions: p.oneOrMore("Action"), Resources: p.oneOrMore("Resource"), Conditions: map[string][]string{},
	}
	p.ignore("Sid")
	for i, resource := range s.Resources {
		s.Resources[i] = p.evaluator.resourceOf(resource)
	}
	if conditions := p.within("Condition"); conditions != nil {
		for _, operator := range slices.Sorted(maps.Keys(conditions.left)) {
			if keys := conditions.within(operator); keys != nil {
				for _, key := range slices.Sorted(maps.Keys(keys.left)) {
					s.Conditions[operator+" "+key] = keys.oneOrMore(key)
				}
			}
		}
	}
	return s
}

// referenceAlone is a reference and nothing else: to a resource, and to an attribute of it.
var referenceAlone = regexp.MustCompile(`^\$\{([A-Za-z0-9]+)(?:\.([A-Za-z]+))?\}$`)

// named is how a policy names a resource of a service by its name: after what in the ARN, and by which attribute of it (none is Ref).
var named = []struct{ service, after, attribute string }{{"dynamodb", "table/", ""}, {"sqs", "", "QueueName"}, {"logs", "log-group:", ""}}

// resourceOf is the logical id of the resource that an ARN of a policy names, or the ARN where it names none of the template's.
func (e *evaluator) resourceOf(arn string) string {
	if parts := referenceAlone.FindStringSubmatch(arn); parts != nil && (parts[2] == "Arn" || parts[2] == "" && e.resources[parts[1]].kind == topicType) {
		return parts[1]
	}
	for _, by := range named {
		name, ok := strings.CutPrefix(arn, "arn:aws:"+by.service+":"+e.options.Region+":"+e.options.AccountID+":"+by.after)
		if !ok {
			continue
		}
		if by.service == "logs" {
			name = strings.TrimSuffix(name, ":*") // as Fn::GetAtt has it
		}
		if parts := referenceAlone.FindStringSubmatch(name); parts != nil && parts[2] == by.attribute {
			return parts[1]
		}
		for _, r := range e.resources {
			if r.name == name && strings.HasPrefix(strings.ToLower(r.kind), "aws::"+by.service+"::") {
				return r.logicalID
			}
		}
	}
	return arn
}

// identity reads by what a function calls AWS and writes its log.
func (f *Function) identity(p *properties) {
	of := func(p *properties, name, attribute string) string {
		n := p.take(name)
		if n == nil {
			return ""
		}
		text, err := p.evaluator.symbolic().text(join(p.path, name), n)
		if err != nil {
			p.errs = append(p.errs, err)
		}
		if parts := referenceAlone.FindStringSubmatch(text); parts != nil && parts[2] == attribute {
			return parts[1]
		}
		return ""
	}
	f.Role = of(p, "Role", "Arn")
	f.Policies = p.take("Policies") != nil
	f.Traced = p.text("Tracing", "") == "Active"
	if logging := p.within("LoggingConfig"); logging != nil {
		f.LogGroup = of(logging, "LogGroup", "")
		logging.ignore("LogFormat", "ApplicationLogLevel", "SystemLogLevel")
	}
}
