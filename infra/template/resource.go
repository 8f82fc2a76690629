package template

import (
	"errors"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// resource is one resource of a type that is read or ignored, before its properties are resolved.
type resource struct {
	logicalID  string
	kind       string
	name       string
	line       int
	build      string
	properties map[string]*yaml.Node
}

func (r *resource) path() string {
	return join(join("Resources", r.logicalID), "Properties")
}

// nameProperty is the property that names a resource, for the types that have one here.
var nameProperty = map[string]string{queueType: "QueueName", tableType: "TableName", globalTableType: "TableName"}

// declare lists the resources whose conditions hold, in the order of the file. Names come before anything may refer to a resource: a
// name can be made of parameters only.
func (e *evaluator) declare(declared *yaml.Node, global map[string]*yaml.Node) ([]*resource, error) {
	if declared == nil {
		return nil, errors.New("the template has no Resources")
	}
	if _, err := split("Resources", declared); err != nil {
		return nil, err
	}
	var resources []*resource
	for key, n := range entries(declared) {
		r, err := e.resource(key.Value, n)
		if e.options.Lenient && e.noteErr(key.Value, "", err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if r.kind == functionType {
			r.properties = mergeProperties(global, r.properties)
		}
		resources = append(resources, r)
	}
	e.resources = map[string]*resource{}
	for _, r := range resources {
		e.resources[r.logicalID] = r
	}
	return resources, nil
}

// resource reads the head of a resource; nil where its condition does not hold.
func (e *evaluator) resource(logicalID string, n *yaml.Node) (*resource, error) {
	path := join("Resources", logicalID)
	nodes, err := e.known(path, n, "Type", "Properties", "Metadata", "DeletionPolicy", "UpdateReplacePolicy", "DependsOn", "Condition")
	if err != nil {
		return nil, err
	}
	if nodes["Condition"] != nil {
		holds, err := e.condition(join(path, "Condition"), nodes["Condition"])
		if e.options.Lenient && e.noteErr(logicalID, typeOf(nodes), err) {
			holds, err = true, nil
		}
		if err != nil || !holds {
			return nil, err
		}
	}
	r := &resource{logicalID: logicalID, line: n.Line}
	if r.kind, err = literal(join(path, "Type"), nodes["Type"]); err != nil {
		return nil, err
	}
	if e.options.Lenient {
		return r, e.readLeniently(r, nodes["Properties"])
	}
	if _, ok := ignored[r.kind]; !ok {
		return nil, fault(join(path, "Type"), nodes["Type"].Line, "%s is not known: known are %q", r.kind,
			slices.Sorted(maps.Keys(ignored)))
	}
	if r.properties, err = split(r.path(), nodes["Properties"]); err != nil {
		return nil, err
	}
	metadata, err := split(join(path, "Metadata"), nodes["Metadata"])
	if err != nil {
		return nil, err
	}
	if metadata["BuildMethod"] != nil {
		if r.build, err = literal(join(path, "Metadata.BuildMethod"), metadata["BuildMethod"]); err != nil {
			return nil, err
		}
	}
	if name := r.properties[nameProperty[r.kind]]; name != nil {
		if r.name, err = e.text(join(r.path(), nameProperty[r.kind]), name); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// globals returns what Globals says of functions, the only section of it that is known.
func (e *evaluator) globals(declared *yaml.Node) (map[string]*yaml.Node, error) {
	nodes, err := e.known("Globals", declared, "Function")
	if err != nil {
		return nil, err
	}
	return split("Globals.Function", nodes["Function"])
}

// merge joins a global and a function's own value as SAM does: mappings key by key, lists one after the other, and otherwise the
// function's own, which an intrinsic is, too.
func merge(global, own *yaml.Node) *yaml.Node {
	merged := *own
	switch {
	case isIntrinsic(global) || isIntrinsic(own) || global.Kind != own.Kind:
	case own.Kind == yaml.SequenceNode:
		merged.Content = slices.Concat(global.Content, own.Content)
	case own.Kind == yaml.MappingNode:
		values := map[string]*yaml.Node{}
		for key, value := range entries(own) {
			values[key.Value] = value
		}
		merged.Content = nil
		for key, value := range entries(global) {
			if values[key.Value] != nil {
				value = merge(value, values[key.Value])
				delete(values, key.Value)
			}
			merged.Content = append(merged.Content, key, value)
		}
		for key, value := range entries(own) {
			if values[key.Value] != nil {
				merged.Content = append(merged.Content, key, value)
			}
		}
	}
	return &merged
}

func mergeProperties(global, own map[string]*yaml.Node) map[string]*yaml.Node {
	merged := maps.Clone(global)
	for name, value := range own {
		if merged[name] != nil {
			value = merge(merged[name], value)
		}
		merged[name] = value
	}
	return merged
}
