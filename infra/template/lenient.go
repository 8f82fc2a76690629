package template

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Note is what a lenient reading could not read, and why.
type Note struct {
	// Resource is a logical id, or where else in the template it is, such as Globals.
	Resource string
	// Type is the resource's; empty where it is none.
	Type string
	// Properties are paths in the resource, such as RedrivePolicy.maxReceiveCount; none where all of it is meant.
	Properties []string
	Why        string
}

// NotRead is why something is in a note of which nothing is read, whatever it says.
const NotRead = "not read"

// The types that only a lenient reading reads. SAM makes them of its own functions.
const (
	lambdaFunctionType = "AWS::Lambda::Function"
	lambdaAliasType    = "AWS::Lambda::Alias"
	lambdaVersionType  = "AWS::Lambda::Version"
	lambdaMappingType  = "AWS::Lambda::EventSourceMapping"
)

// aboutCode are a function's properties that say what its code is and who may run it, of which nothing here is read.
var aboutCode = []string{
	"Code", "CodeUri", "Description", "FunctionName", "Handler", "ImageConfig", "ImageUri", "InlineCode", "PackageType",
	"PermissionsBoundary", "Runtime",
}

// note adds a note, or its property to one that says the same of the same resource. What is said of a whole is not said again of its parts.
func (e *evaluator) note(resource, kind, property, why string) {
	for i, n := range e.notes {
		if n.Resource != resource {
			continue
		}
		if len(n.Properties) == 0 || slices.ContainsFunc(n.Properties, func(of string) bool { return within(property, of) }) {
			return
		}
		if n.Why == why && property != "" {
			e.notes[i].Properties = append(n.Properties, property)
			return
		}
	}
	n := Note{Resource: resource, Type: kind, Why: why}
	if property != "" {
		n.Properties = []string{property}
	}
	e.notes = append(e.notes, n)
}

// within says whether a path is another one, or in it.
func within(path, of string) bool {
	rest, in := strings.CutPrefix(path, of)
	return in && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// noteErr notes an error that names its place in the template, and returns whether it was one.
func (e *evaluator) noteErr(resource, kind string, err error) bool {
	var at *placed
	if !errors.As(err, &at) {
		return false
	}
	why := cause(err).Error()
	if errors.Is(err, errDropped) {
		why = NotRead
	}
	path := at.path
	for _, part := range []string{"Resources.", resource + ".", "Properties."} {
		path = strings.TrimPrefix(path, part)
	}
	if path == "Resources."+resource || path == resource || path == "Properties" {
		path = ""
	}
	e.note(resource, kind, path, why)
	return true
}

func (e *evaluator) noteAll(resource, kind string, errs []error) {
	for _, err := range errs {
		e.noteErr(resource, kind, err)
	}
}

// cause is an error without its place.
func cause(err error) error {
	if at := (*placed)(nil); errors.As(err, &at) {
		return at.err
	}
	return err
}

// known is split with known keys; a lenient reading notes the others.
func (e *evaluator) known(path string, n *yaml.Node, names ...string) (map[string]*yaml.Node, error) {
	if !e.options.Lenient || n == nil {
		return split(path, n, names...)
	}
	nodes, err := split(path, n)
	if err != nil {
		return nil, err
	}
	_, resource, _ := strings.Cut(path, ".")
	for key := range entries(n) {
		if slices.Contains(names, key.Value) {
			continue
		}
		delete(nodes, key.Value)
		if resource == "" {
			e.note(join(path, key.Value), "", "", NotRead)
		} else {
			e.note(resource, typeOf(nodes), key.Value, NotRead)
		}
	}
	return nodes, nil
}

// typeOf is a resource's type, as it is written.
func typeOf(nodes map[string]*yaml.Node) string {
	if n := nodes["Type"]; n != nil {
		return n.Value
	}
	return ""
}

// dropLoops takes functions out of where sections list what they declare: Fn::ForEach of a language extension, which makes more of it.
func (e *evaluator) dropLoops(root *yaml.Node) {
	for name, section := range entries(root) {
		if section.Kind != yaml.MappingNode {
			continue
		}
		var kept []*yaml.Node
		for key, value := range entries(section) {
			if strings.HasPrefix(key.Value, "Fn::") {
				e.note(name.Value, "", key.Value, NotRead)
			} else {
				kept = append(kept, key, value)
			}
		}
		section.Content = kept
	}
}

// noValueFor says why a parameter has no value that could be reckoned with; nil where it has one.
func noValueFor(n *yaml.Node, given bool) error {
	nodes, err := split("", n)
	if err != nil {
		return cause(err)
	}
	kind, err := literal("Type", nodes["Type"])
	switch {
	case err != nil:
		return cause(err)
	case kind != "String" && kind != "Number":
		return errors.New("its type is " + kind + ", and only String and Number are read")
	case nodes["Default"] == nil && !given:
		return errors.New("it has no default and was not given")
	}
	return nil
}

// symbolic refuses to compare what stands for itself: only a deployment knows what it is.
func symbolic(path string, line int, values []any) error {
	for _, value := range values {
		if text, ok := value.(string); ok && strings.Contains(text, "${AWS::") {
			return fault(path, line, "%s is known only where it is deployed", text)
		}
	}
	return nil
}

// standIn stands for a resource where nobody says what does: names as they are given, so that an ARN that is written out is the same.
func standIn(r Reference) (string, error) {
	name := r.Name
	if name == "" {
		name = "${" + r.LogicalID + "}"
	}
	switch r.Type + "." + r.Attribute {
	case queueType + ".", queueType + ".QueueUrl":
		return "https://sqs.${AWS::Region}.amazonaws.com/${AWS::AccountId}/" + name, nil
	case queueType + ".Arn":
		return "arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:" + name, nil
	case queueType + ".QueueName":
		return name, nil
	case lambdaFunctionType + ".Arn":
		return "arn:aws:lambda:${AWS::Region}:${AWS::AccountId}:function:" + name, nil
	}
	if r.Attribute != "" {
		return "${" + r.LogicalID + "." + r.Attribute + "}", nil
	}
	return name, nil
}

// readLeniently reads the properties of a resource's head; of a type that is not read, only that there is one, for others to refer to.
func (e *evaluator) readLeniently(r *resource, declared *yaml.Node) error {
	_, read := ignored[r.kind]
	if !read && !strings.HasPrefix(r.kind, "AWS::Lambda::") {
		e.note(r.logicalID, r.kind, "", "this type is not read")
		return nil
	}
	var err error
	if r.properties, err = split(r.path(), declared); err != nil {
		e.noteErr(r.logicalID, r.kind, err)
	}
	name := nameProperty[r.kind]
	if r.kind == lambdaFunctionType {
		name = "FunctionName"
	}
	if n := r.properties[name]; n != nil {
		r.name, err = e.text(join(r.path(), name), n)
		e.noteErr(r.logicalID, r.kind, err)
	}
	return nil
}
