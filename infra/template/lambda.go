package template

import (
	"maps"
	"slices"
	"strings"
)

// readLeniently reads of a function what no build and no runtime changes.
func (f *Function) readLeniently(p *properties, r *resource, ids ids) {
	p.ignore(aboutCode...)
	if architectures := p.texts("Architectures"); len(architectures) == 1 {
		f.Architecture = architectures[0]
	}
	if environment := p.within("Environment"); environment != nil {
		if variables := environment.within("Variables"); variables != nil {
			f.Environment = variables.named()
		}
	}
	if r.kind == lambdaFunctionType {
		for _, tag := range p.all("Tags") {
			f.Tags[tag.required("Key")] = tag.text("Value", "")
		}
		return
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
			if e == nil {
				continue
			}
			if kind := e.left["Type"]; kind != nil && kind.Value != "SQS" {
				events.fail(name, e.line, "is no SQS event")
				e.left = nil
				continue
			}
			f.Events = append(f.Events, event(e, name, ids))
		}
	}
}

// attachMappings gives functions the event source mappings that stand beside them in the template.
func (e *evaluator) attachMappings(functions []Function, resources []*resource, ids ids) {
	names := e.functionNames(functions, resources)
	for _, r := range resources {
		if r.kind != lambdaMappingType {
			continue
		}
		p := &properties{evaluator: e, path: r.path(), line: r.line, left: r.properties}
		p.ignore("Tags")
		name := p.required("FunctionName")
		id, known := names[name]
		if !known { // a qualifier may be written after a name or an ARN
			id = names[name[:max(0, strings.LastIndex(name, ":"))]]
		}
		event := mapping(p, r.logicalID, "EventSourceArn", ids)
		if i := slices.IndexFunc(functions, func(f Function) bool { return f.LogicalID == id }); i >= 0 {
			functions[i].Events = append(functions[i].Events, event)
		} else if name != "" {
			p.fail("FunctionName", r.line, "%q is none of the template's functions", name)
		}
		e.noteAll(r.logicalID, r.kind, p.faults())
	}
}

// functionNames returns the logical id of each function by what mappings call it: its name, its ARN, or a version or an alias of it.
func (e *evaluator) functionNames(functions []Function, resources []*resource) map[string]string {
	names := map[string]string{}
	call := func(r *resource, function string, attributes ...string) {
		for _, attribute := range attributes {
			if name, err := e.reference(r.path(), r.line, r.logicalID, attribute); err == nil {
				names[name] = function
			}
		}
	}
	for _, r := range resources {
		switch r.kind {
		case functionType:
			call(r, r.logicalID, "", "Arn", "Alias", "Version")
		case lambdaFunctionType:
			call(r, r.logicalID, "", "Arn")
		}
	}
	for _, r := range resources {
		if r.kind != lambdaAliasType && r.kind != lambdaVersionType {
			continue
		}
		p := &properties{evaluator: e, path: r.path(), line: r.line, left: r.properties}
		function := names[p.required("FunctionName")]
		if function == "" {
			p.fail("FunctionName", r.line, "is none of the template's functions")
		}
		if i := slices.IndexFunc(functions, func(f Function) bool { return f.LogicalID == function }); i >= 0 && r.kind == lambdaAliasType {
			functions[i].Alias = p.text("Name", "")
			functions[i].PublishesAll = true // what is no version of SAM's is published by who declares it
		}
		call(r, function, "")
		p.ignore("Name", "Description", "FunctionVersion", "CodeSha256")
		e.noteAll(r.logicalID, r.kind, p.faults())
	}
	return names
}
