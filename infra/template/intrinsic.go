package template

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// call resolves one intrinsic function. Fn::If is not among them: choose has followed it before.
func (e *evaluator) call(path, name string, argument *yaml.Node) (any, error) {
	switch name {
	case "Ref":
		target, err := literal(path, argument)
		if err != nil {
			return nil, err
		}
		return e.ref(path, argument.Line, target)
	case "Fn::GetAtt":
		return e.getAtt(path, argument)
	case "Fn::Sub":
		return e.sub(path, argument)
	case "Fn::FindInMap":
		return e.findInMap(path, argument)
	case "Fn::Split":
		return e.split(path, argument)
	default:
		return nil, fault(path, argument.Line, "unknown intrinsic %s", name)
	}
}

// ref resolves the name of a parameter, a pseudo parameter or a resource.
func (e *evaluator) ref(path string, line int, target string) (string, error) {
	if value, ok := e.parameters[target]; ok {
		return value, nil
	}
	if why := e.valueless[target]; why != nil {
		return "", fault(path, line, "Ref to %s: %w", target, why)
	}
	if strings.HasPrefix(target, "AWS::") {
		value := map[string]string{
			"AWS::StackName": e.options.StackName,
			"AWS::Region":    e.options.Region,
			"AWS::AccountId": e.options.AccountID,
			"AWS::Partition": "aws",
		}[target]
		if value == "" && e.options.Lenient {
			return "${" + target + "}", nil
		}
		if value == "" {
			return "", fault(path, line, "Ref to %s: not known, or not given in Options", target)
		}
		return value, nil
	}
	if function, attribute, dotted := strings.Cut(target, "."); dotted && e.options.Lenient {
		return e.reference(path, line, function, attribute) // such as Function.Alias, which SAM makes
	}
	return e.reference(path, line, target, "")
}

// reference asks the caller what a resource, or an attribute of it, is called here.
func (e *evaluator) reference(path string, line int, target, attribute string) (string, error) {
	name := "Ref to " + target
	if attribute != "" {
		name = "Fn::GetAtt " + target + "." + attribute
	}
	r, ok := e.resources[target]
	if !ok {
		return "", fault(path, line, "%s: there is none that could be referred to here", name)
	}
	value, err := e.options.Resolve(Reference{LogicalID: r.logicalID, Type: r.kind, Name: r.name, Attribute: attribute})
	if err != nil {
		return "", fault(path, line, "%s: %w", name, err)
	}
	return value, nil
}

// getAtt takes "Resource.Attribute" or [Resource, Attribute]; the attribute may have dots of its own.
func (e *evaluator) getAtt(path string, argument *yaml.Node) (string, error) {
	var target, attribute string
	if isList(argument) {
		parts, err := literals(path, argument)
		if err != nil {
			return "", err
		}
		if len(parts) == 2 {
			target, attribute = parts[0], parts[1]
		}
	} else {
		text, err := literal(path, argument)
		if err != nil {
			return "", err
		}
		target, attribute, _ = strings.Cut(text, ".")
	}
	if target == "" || attribute == "" {
		return "", fault(path, argument.Line, "Fn::GetAtt takes a resource and an attribute")
	}
	return e.reference(path, argument.Line, target, attribute)
}

var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

// sub takes a string, or [string, {name: value}] whose names win over the template's. ${!Name} stands for itself, as ${Name}.
func (e *evaluator) sub(path string, argument *yaml.Node) (string, error) {
	source, locals := argument, map[string]*yaml.Node{}
	if isList(argument) {
		if len(argument.Content) != 2 {
			return "", fault(path, argument.Line, "Fn::Sub takes a string, or a string and a mapping")
		}
		var err error
		source = argument.Content[0]
		if locals, err = split(path, argument.Content[1]); err != nil {
			return "", err
		}
	}
	text, err := literal(path, source)
	if err != nil {
		return "", err
	}
	text = placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if err != nil {
			return ""
		}
		name := found[2 : len(found)-1]
		var value string
		target, attribute, dotted := strings.Cut(name, ".")
		switch local := locals[name]; {
		case local != nil:
			value, err = e.text(join(path, name), local)
		case strings.HasPrefix(name, "!"):
			value = "${" + name[1:] + "}"
		case dotted:
			value, err = e.reference(path, source.Line, target, attribute)
		default:
			value, err = e.ref(path, source.Line, name)
		}
		return value
	})
	return text, err
}

// findInMap takes [mapping, first key, second key].
func (e *evaluator) findInMap(path string, argument *yaml.Node) (any, error) {
	if !isList(argument) || len(argument.Content) != 3 {
		return nil, fault(path, argument.Line, "Fn::FindInMap takes a mapping and two keys")
	}
	at, found := "Mappings", e.mappings
	for _, part := range argument.Content {
		key, err := e.text(path, part)
		if err != nil {
			return nil, err
		}
		nodes, err := split(at, found)
		if err != nil {
			return nil, err
		}
		at = join(at, key)
		if found = nodes[key]; found == nil {
			return nil, fault(path, argument.Line, "Fn::FindInMap: %s is not there", at)
		}
	}
	if found.Kind == yaml.MappingNode || isIntrinsic(found) {
		return nil, fault(at, found.Line, "is neither a value nor a list")
	}
	return e.value(at, found)
}

// split takes [separator, text].
func (e *evaluator) split(path string, argument *yaml.Node) (any, error) {
	if !isList(argument) || len(argument.Content) != 2 {
		return nil, fault(path, argument.Line, "Fn::Split takes a separator and a text")
	}
	var parts [2]string
	for i, part := range argument.Content {
		var err error
		if parts[i], err = e.text(path, part); err != nil {
			return nil, err
		}
	}
	var all []any
	for part := range strings.SplitSeq(parts[1], parts[0]) {
		all = append(all, part)
	}
	return all, nil
}
