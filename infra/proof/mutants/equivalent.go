package mutants

import "fmt"

// equivalent are the mutants that cannot be told from the code, each with why.
var equivalent = map[string]string{}

// withoutEquivalent leaves them out. One that no mutant has the name of any more is an
// error.
func withoutEquivalent(found []mutant) ([]mutant, error) {
	var kept []mutant
	left := len(equivalent)
	for _, m := range found {
		if _, ok := equivalent[m.name]; ok {
			left--
			continue
		}
		kept = append(kept, m)
	}
	if left > 0 {
		return nil, fmt.Errorf("%d of the equivalent mutants are no mutants", left)
	}
	return kept, nil
}
