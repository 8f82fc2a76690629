package template

import (
	"fmt"
	"iter"
	"slices"

	"go.yaml.in/yaml/v3"
)

// placed is an error with the place it is about.
type placed struct {
	path string
	line int
	err  error
}

func (p *placed) Error() string { return fmt.Sprintf("%s (line %d): %v", p.path, p.line, p.err) }
func (p *placed) Unwrap() error { return p.err }

func fault(path string, line int, format string, args ...any) error {
	return &placed{path: path, line: line, err: fmt.Errorf(format, args...)}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sound refuses empty keys, duplicate keys, of which parsers keep another one each, and aliases and merges, which CloudFormation does not know.
func sound(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		return fmt.Errorf("line %d: alias *%s: CloudFormation knows none", n.Line, n.Value)
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for key := range entries(n) {
			switch {
			case key.Kind != yaml.ScalarNode:
				return fmt.Errorf("line %d: a key that is not a scalar", key.Line)
			case key.Value == "":
				return fmt.Errorf("line %d: a key without a name", key.Line)
			case key.Value == "<<":
				return fmt.Errorf("line %d: merge key <<: CloudFormation knows none", key.Line)
			case seen[key.Value]:
				return fmt.Errorf("line %d: key %s is there twice", key.Line, key.Value)
			}
			seen[key.Value] = true
		}
	}
	for _, child := range n.Content {
		if err := sound(child); err != nil {
			return err
		}
	}
	return nil
}

// entries ranges over the keys and values of a mapping, in their order.
func entries(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// split returns the values of a mapping by key. With known, any other key is an error. A node that is nil is an empty mapping.
func split(path string, n *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	values := map[string]*yaml.Node{}
	if n == nil {
		return values, nil
	}
	if n.Kind != yaml.MappingNode || isIntrinsic(n) {
		return nil, fault(path, n.Line, "is no mapping")
	}
	for key, value := range entries(n) {
		if len(known) > 0 && !slices.Contains(known, key.Value) {
			return nil, fault(join(path, key.Value), key.Line, "is not known here")
		}
		values[key.Value] = value
	}
	return values, nil
}

// literal returns the text of a scalar that may be no intrinsic.
func literal(path string, n *yaml.Node) (string, error) {
	if n == nil {
		return "", fmt.Errorf("%s: is missing", path)
	}
	if n.Kind != yaml.ScalarNode || isIntrinsic(n) {
		return "", fault(path, n.Line, "is no plain value")
	}
	if n.ShortTag() == "!!null" {
		return "", fault(path, n.Line, "is null")
	}
	return n.Value, nil
}

// literals is literal for a list.
func literals(path string, n *yaml.Node) ([]string, error) {
	if !isList(n) {
		return nil, fault(path, n.Line, "is no list")
	}
	var values []string
	for i, item := range n.Content {
		value, err := literal(fmt.Sprintf("%s[%d]", path, i), item)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}
