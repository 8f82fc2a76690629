package template

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decide evaluates the conditions. They may refer to each other in any order, but not in a circle.
func (e *evaluator) decide(declared *yaml.Node) error {
	nodes, err := split("Conditions", declared)
	if err != nil {
		return err
	}
	e.conditions = map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		l := &logic{evaluator: e, declared: nodes}
		_, err := l.named("Conditions."+name, name, nodes[name].Line)
		if err != nil && e.options.Lenient {
			e.undecided[name] = cause(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// rules evaluates the template's rules and returns an error for each assertion that does not hold, with the parameters it speaks of.
func (e *evaluator) rules(declared *yaml.Node) error {
	rules, err := split("Rules", declared)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		err := e.rule("Rules."+name, rules[name])
		if e.options.Lenient && e.noteErr("Rules."+name, "", err) {
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (e *evaluator) rule(path string, n *yaml.Node) error {
	nodes, err := split(path, n, "RuleCondition", "Assertions")
	if err != nil {
		return err
	}
	l := &logic{evaluator: e, inRule: true}
	if nodes["RuleCondition"] != nil {
		applies, err := l.holds(join(path, "RuleCondition"), nodes["RuleCondition"])
		if err != nil || !applies {
			return err
		}
	}
	if nodes["Assertions"] == nil {
		return fault(path, n.Line, "asserts nothing")
	}
	var errs []error
	for i, assertion := range nodes["Assertions"].Content {
		at := fmt.Sprintf("%s.Assertions[%d]", path, i)
		parts, err := split(at, assertion, "Assert", "AssertDescription")
		if err != nil {
			return err
		}
		if parts["Assert"] == nil {
			return fault(at, assertion.Line, "asserts nothing")
		}
		holds, err := l.holds(join(at, "Assert"), parts["Assert"])
		if err != nil {
			return err
		}
		if !holds {
			description, err := literal(join(at, "AssertDescription"), parts["AssertDescription"])
			if err != nil {
				return err
			}
			errs = append(errs, fmt.Errorf("%s: %s, but %s", path, description, strings.Join(e.mentions(parts["Assert"]), ", ")))
		}
	}
	return errors.Join(errs...)
}

// mentions lists the parameters that a node refers to, with their values.
func (e *evaluator) mentions(n *yaml.Node) []string {
	var found []string
	if name, argument := intrinsic(n); name == "Ref" {
		found = append(found, argument.Value+" is "+e.parameters[argument.Value])
	}
	for _, child := range n.Content {
		found = append(found, e.mentions(child)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// logic evaluates condition functions: of conditions, or of rules, which know Fn::Contains and no conditions.
type logic struct {
	*evaluator
	declared map[string]*yaml.Node
	inRule   bool
	// open are the conditions under evaluation.
	open []string
}

// named evaluates a condition once, those it refers to first.
func (l *logic) named(path, name string, line int) (bool, error) {
	if holds, ok := l.conditions[name]; ok {
		return holds, nil
	}
	n := l.declared[name]
	if n == nil {
		return false, fault(path, line, "condition %s: there is none of this name", name)
	}
	if slices.Contains(l.open, name) {
		return false, fault(path, line, "condition %s refers to itself", name)
	}
	l.open = append(l.open, name)
	holds, err := l.holds("Conditions."+name, n)
	if err != nil {
		return false, err
	}
	l.open = l.open[:len(l.open)-1]
	l.conditions[name] = holds
	return holds, nil
}

func (l *logic) holds(path string, n *yaml.Node) (bool, error) {
	name, argument := intrinsic(n)
	switch {
	case name == "Condition" && !l.inRule:
		text, err := literal(path, argument)
		if err != nil {
			return false, err
		}
		return l.named(path, text, argument.Line)
	case name == "Fn::Equals":
		values, err := l.pair(path, name, argument)
		if err != nil {
			return false, err
		}
		return reflect.DeepEqual(values[0], values[1]), nil
	case name == "Fn::Contains" && l.inRule:
		values, err := l.pair(path, name, argument)
		if err != nil {
			return false, err
		}
		list, ok := values[0].([]any)
		if !ok {
			return false, fault(path, n.Line, "Fn::Contains takes a list and a value")
		}
		return slices.ContainsFunc(list, func(item any) bool { return reflect.DeepEqual(item, values[1]) }), nil
	case name == "Fn::Not" || name == "Fn::And" || name == "Fn::Or":
		return l.combine(path, name, argument)
	case name == "":
		return false, fault(path, n.Line, "is no condition function")
	default:
		return false, fault(path, n.Line, "unknown intrinsic %s", name)
	}
}

func (l *logic) pair(path, name string, argument *yaml.Node) ([]any, error) {
	if !isList(argument) || len(argument.Content) != 2 {
		return nil, fault(path, argument.Line, "%s takes two values", name)
	}
	values, err := l.list(path, argument)
	if err == nil && l.options.Lenient {
		err = symbolic(path, argument.Line, values)
	}
	if err == nil && len(values) != 2 {
		err = fault(path, argument.Line, "%s takes two values", name)
	}
	return values, err
}

// combine evaluates Fn::Not of one condition, and Fn::And and Fn::Or of the 2 to 10 that CloudFormation allows.
func (l *logic) combine(path, name string, argument *yaml.Node) (bool, error) {
	least, most := 2, 10
	if name == "Fn::Not" {
		least, most = 1, 1
	}
	if n := len(argument.Content); !isList(argument) || n < least || n > most {
		return false, fault(path, argument.Line, "%s takes %d to %d conditions", name, least, most)
	}
	all, some := true, false
	for i, child := range argument.Content {
		holds, err := l.holds(fmt.Sprintf("%s.%s[%d]", path, name, i), child)
		if err != nil {
			return false, err
		}
		all, some = all && holds, some || holds
	}
	switch name {
	case "Fn::Not":
		return !some, nil
	case "Fn::And":
		return all, nil
	default:
		return some, nil
	}
}
