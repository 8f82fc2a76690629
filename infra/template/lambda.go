package template

import (
	"slices"
	"strings"
)

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
