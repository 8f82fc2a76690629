package template

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readParameters returns the value in force of each declared parameter, checked against its constraints.
func (e *evaluator) readParameters(declared *yaml.Node, given map[string]string) (map[string]string, error) {
	nodes, err := split("Parameters", declared)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if nodes[name] == nil {
			errs = append(errs, fmt.Errorf("parameter %s: the template declares none of this name", name))
		}
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		value, ok := given[name]
		if e.options.Lenient {
			if why := noValueFor(nodes[name], ok); why != nil {
				e.valueless[name] = why
				continue
			}
		}
		p := parameter{path: "Parameters." + name, given: ok, value: value}
		if err := p.read(nodes[name]); err != nil {
			errs = append(errs, err)
		}
		values[name] = p.value
	}
	return values, errors.Join(errs...)
}

type parameter struct {
	path  string
	given bool
	value string
	// constraints are the literals of the declaration, but for AllowedValues.
	constraints map[string]string
}

func (p *parameter) read(n *yaml.Node) error {
	nodes, err := split(p.path, n, "Type", "Default", "Description", "ConstraintDescription", "NoEcho",
		"AllowedValues", "AllowedPattern", "MinValue", "MaxValue", "MinLength", "MaxLength")
	if err != nil {
		return err
	}
	p.constraints = map[string]string{}
	for name, node := range nodes {
		if name == "AllowedValues" {
			continue
		}
		if p.constraints[name], err = literal(join(p.path, name), node); err != nil {
			return err
		}
	}
	if !p.given {
		if nodes["Default"] == nil {
			return fault(p.path, n.Line, "has no default and was not given")
		}
		p.value = p.constraints["Default"]
	}
	if nodes["AllowedValues"] != nil {
		allowed, err := literals(join(p.path, "AllowedValues"), nodes["AllowedValues"])
		if err != nil {
			return err
		}
		if !slices.Contains(allowed, p.value) {
			return fmt.Errorf("%s is %q: it must be one of %q", p.path, p.value, allowed)
		}
	}
	if err := p.pattern(); err != nil {
		return err
	}
	switch kind := p.constraints["Type"]; kind {
	case "Number":
		number, err := strconv.ParseFloat(p.value, 64)
		if err != nil {
			return fmt.Errorf("%s is %q: it must be a number", p.path, p.value)
		}
		return p.between(number, "MinValue", "MaxValue")
	case "String":
		return p.between(float64(len([]rune(p.value))), "MinLength", "MaxLength")
	default:
		return fault(p.path, n.Line, "type %q: only String and Number are known", kind)
	}
}

// pattern checks AllowedPattern, which CloudFormation holds against the whole value.
func (p *parameter) pattern() error {
	pattern, ok := p.constraints["AllowedPattern"]
	if !ok {
		return nil
	}
	whole, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return fmt.Errorf("%s.AllowedPattern: %w", p.path, err)
	}
	if !whole.MatchString(p.value) {
		hint := ""
		if description := p.constraints["ConstraintDescription"]; description != "" {
			hint = " (" + description + ")"
		}
		return fmt.Errorf("%s is %q: it must match %s%s", p.path, p.value, pattern, hint)
	}
	return nil
}

func (p *parameter) between(number float64, minimum, maximum string) error {
	for _, name := range []string{minimum, maximum} {
		text, ok := p.constraints[name]
		if !ok {
			continue
		}
		bound, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%s.%s is %q: it must be a number", p.path, name, text)
		}
		if strings.HasPrefix(name, "Min") && number < bound || strings.HasPrefix(name, "Max") && number > bound {
			return fmt.Errorf("%s is %q: its %s is %s", p.path, p.value, name, text)
		}
	}
	return nil
}
