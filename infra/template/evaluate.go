package template

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// evaluator resolves intrinsic functions. Parameters come first, then conditions, then resources: what is not there yet cannot be
// referred to, which is CloudFormation's rule too.
type evaluator struct {
	options    Options
	parameters map[string]string
	mappings   *yaml.Node
	conditions map[string]bool
	resources  map[string]*resource

	// Of a lenient reading: why a parameter or a condition has no value, and what else could not be read.
	valueless map[string]error
	undecided map[string]error
	notes     []Note
}

// noValue is what AWS::NoValue stands for: the property or list item that has it is not there.
type noValue struct{}

// intrinsic returns the long name of the function that a node calls, in its short (!Sub …) or long ({Fn::Sub: …}) form, and its
// argument. The name is empty if the node calls none.
func intrinsic(n *yaml.Node) (string, *yaml.Node) {
	if short, ok := strings.CutPrefix(n.Tag, "!"); ok && !strings.HasPrefix(short, "!") {
		argument := *n
		argument.Tag = ""
		if short == "Ref" || short == "Condition" {
			return short, &argument
		}
		return "Fn::" + short, &argument
	}
	if n.Kind == yaml.MappingNode {
		for key, value := range entries(n) {
			if strings.HasPrefix(key.Value, "Fn::") || len(n.Content) == 2 && (key.Value == "Ref" || key.Value == "Condition") {
				return key.Value, value
			}
		}
	}
	return "", nil
}

func isIntrinsic(n *yaml.Node) bool {
	name, _ := intrinsic(n)
	return name != ""
}

// isList says whether a node is a list, and not a function's arguments.
func isList(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && !isIntrinsic(n)
}

// choose follows Fn::If and AWS::NoValue to the node that counts; nil where there is no value.
func (e *evaluator) choose(path string, n *yaml.Node) (*yaml.Node, error) {
	switch name, argument := intrinsic(n); {
	case name == "Fn::If":
		if !isList(argument) || len(argument.Content) != 3 {
			return nil, fault(path, n.Line, "Fn::If takes a condition and two values")
		}
		holds, err := e.condition(path, argument.Content[0])
		if err != nil {
			return nil, err
		}
		if holds {
			return e.choose(path, argument.Content[1])
		}
		return e.choose(path, argument.Content[2])
	case name == "Ref" && argument.Value == "AWS::NoValue":
		return nil, nil
	}
	return n, nil
}

// condition returns a named condition.
func (e *evaluator) condition(path string, name *yaml.Node) (bool, error) {
	text, err := literal(path, name)
	if err != nil {
		return false, err
	}
	holds, ok := e.conditions[text]
	if why := e.undecided[text]; why != nil {
		return false, fault(path, name.Line, "condition %s: %w", text, why)
	}
	if !ok {
		return false, fault(path, name.Line, "condition %s: there is none of this name", text)
	}
	return holds, nil
}

// value resolves a node to a string, a []any or noValue; mappings are for properties. Numbers and booleans stay as they are written.
func (e *evaluator) value(path string, n *yaml.Node) (any, error) {
	n, err := e.choose(path, n)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return noValue{}, nil
	}
	if name, argument := intrinsic(n); name != "" {
		if n.ShortTag() == "!!map" && len(n.Content) > 2 {
			return nil, fault(path, n.Line, "%s stands beside other keys", name)
		}
		return e.call(path, name, argument)
	}
	if isList(n) {
		return e.list(path, n)
	}
	return literal(path, n)
}

func (e *evaluator) list(path string, n *yaml.Node) ([]any, error) {
	values := []any{}
	for i, child := range n.Content {
		value, err := e.value(fmt.Sprintf("%s[%d]", path, i), child)
		if err != nil {
			return nil, err
		}
		if value != (noValue{}) {
			values = append(values, value)
		}
	}
	return values, nil
}

// text resolves a node that must be one string.
func (e *evaluator) text(path string, n *yaml.Node) (string, error) {
	value, err := e.value(path, n)
	if err != nil {
		return "", err
	}
	text, ok := value.(string)
	if !ok {
		return "", fault(path, n.Line, "is no single value")
	}
	return text, nil
}
