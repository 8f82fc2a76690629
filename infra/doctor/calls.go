package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Call is what a function's code needs a permission for.
type Call struct {
	// Action is as in a policy, such as dynamodb:PutItem.
	Action string
	// Variable is the environment variable that names the resource, such as USERS_TABLE.
	Variable string
}

// callsFile is the list of a function's calls, in its folder. The function's tests compare it with what they recorded.
const callsFile = "testdata/calls.txt"

// Calls returns what each function's code calls of AWS, by the function's folder. root is the project's folder. A function without a
// list is left out.
func Calls(root string) (map[string][]Call, error) {
	folders, err := os.ReadDir(filepath.Join(root, "functions"))
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	calls := map[string][]Call{}
	for _, folder := range folders {
		name := filepath.Join(root, "functions", folder.Name(), filepath.FromSlash(callsFile))
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		calls[folder.Name()] = []Call{}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if len(words) != 2 {
				return nil, fmt.Errorf("%s: %q is no action and variable", name, strings.TrimSpace(line))
			}
			calls[folder.Name()] = append(calls[folder.Name()], Call{words[0], words[1]})
		}
	}
	return calls, nil
}
