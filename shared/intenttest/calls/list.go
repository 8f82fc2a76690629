package calls

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// list is where a function's calls are, seen from its folder: one a line, an action and a variable, in the order of the alphabet. The
// doctor reads it too.
const list = "testdata/calls.txt"

// Main runs a function's tests and returns the code to exit with. It fails where the function called what its list does not have, and,
// if all tests ran and passed, where the list has what was never called. names are the variables of the resources that tests call by
// fixed names, by these. The flag -write-calls writes the list of what all tests called.
func Main(m *testing.M, names map[string]string) int {
	write := flag.Bool("write-calls", false, "write "+list+" anew, of what the whole suite calls")
	flag.Parse()
	for resource, variable := range names {
		Name(variable, resource)
	}
	all.on.Store(true)
	code := m.Run()
	err := all.end(".", code == 0 && whole(flag.CommandLine), *write)
	if err == nil {
		return code
	}
	fmt.Printf("--- FAIL: calls of AWS\n    %v\nFAIL\n", strings.ReplaceAll(err.Error(), "\n", "\n    "))
	return max(code, 1)
}

// whole tells whether the flags leave out no test.
func whole(flags *flag.FlagSet) bool {
	for name, all := range map[string]string{"run": "", "skip": "", "list": "", "fuzz": "", "short": "false", "fuzzworker": "false"} {
		if f := flags.Lookup("test." + name); f == nil || f.Value.String() != all {
			return false
		}
	}
	return flags.Lookup("test.count").Value.String() != "0"
}

// end compares what was recorded with the list of a function's folder, or writes the list.
func (r *recorder) end(folder string, whole, write bool) error {
	if err := recorded(folder); err != nil {
		return err
	}
	called := r.calls()
	file := filepath.Join(folder, list)
	if write {
		if !whole {
			return fmt.Errorf("%s is not written: not all tests ran and passed", list)
		}
		return save(file, called)
	}
	listed, err := load(file)
	if err != nil {
		return err
	}
	var faults []string
	for _, c := range sorted(called) {
		if !slices.Contains(listed, c) {
			faults = append(faults, fmt.Sprintf("%s is called in %s, and %s does not list it", c, called[c], list))
		}
	}
	for _, c := range listed {
		if _, ok := called[c]; whole && !ok {
			faults = append(faults, fmt.Sprintf("%s is listed in %s, and no test calls it", c, list))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s\nIf the role is to change, go test . -write-calls writes the list anew", strings.Join(faults, "\n"))
	}
	return nil
}

func sorted(called map[Call]string) []Call {
	return slices.SortedFunc(maps.Keys(called), func(a, b Call) int { return strings.Compare(a.String(), b.String()) })
}

func save(file string, called map[Call]string) error {
	var text strings.Builder
	for _, c := range sorted(called) {
		fmt.Fprintln(&text, c)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text.String()), 0o666)
}

func load(file string) ([]Call, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(in)
}

// read reads a list of calls. A line that is none is an error that quotes it.
func read(in io.Reader) ([]Call, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	var listed []Call
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 || !strings.Contains(words[0], ":") {
			return nil, fmt.Errorf("%q is no action and resource", strings.TrimSpace(line))
		}
		listed = append(listed, Call{words[0], words[1]})
	}
	return listed, nil
}
