package doctor

import (
	"maps"
	"slices"
	"strings"

	"github.com/singleeffect/once/infra/template"
)

// readers are the functions whose code is at hand.
func (s Stack) readers() []template.Function {
	var readers []template.Function
	for _, f := range s.Functions {
		if _, known := s.Reads[f.Folder]; known {
			readers = append(readers, f)
		}
	}
	return readers
}

func variablesDeclared(s Stack, found report) {
	for _, f := range s.readers() {
		for _, name := range s.Reads[f.Folder] {
			if _, declared := f.Environment[name]; !declared {
				found(f.LogicalID, "reads %s, and declares %s", name, strings.Join(slices.Sorted(maps.Keys(f.Environment)), ", "))
			}
		}
	}
}

// ofRuntime are the variables that Go itself reads (package runtime, "Environment Variables").
var ofRuntime = []string{"GOGC", "GOMAXPROCS", "GOMEMLIMIT"}

// ofRole is a variable that nothing reads: the hash of what the role is, so that another role makes another version, which a canary tries.
const ofRole = "ROLE_POLICY"

// oneProcessor is the memory in MB up to which a function has one processor, or a part of it (AWS Lambda developer guide, "Configure Lambda
// function memory").
const oneProcessor = 1769

func processors(s Stack, found report) {
	for _, f := range s.Functions {
		if f.Environment["GOMAXPROCS"] == "1" && f.MemoryMB > oneProcessor {
			found(f.LogicalID, "has %d MB, more than one processor from %d MB on, and GOMAXPROCS 1", f.MemoryMB, oneProcessor)
		}
	}
}

// variablesRead leaves alone what is the SDK's to read, or the runtime's, and what is there to make versions.
func variablesRead(s Stack, found report) {
	for _, f := range s.readers() {
		for _, name := range slices.Sorted(maps.Keys(f.Environment)) {
			if !strings.HasPrefix(name, "AWS_") && name != ofRole && !slices.Contains(ofRuntime, name) && !slices.Contains(s.Reads[f.Folder], name) {
				found(f.LogicalID, "declares %s, and reads %s", name, strings.Join(s.Reads[f.Folder], ", "))
			}
		}
	}
}
