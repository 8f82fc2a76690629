package mutants

import "fmt"

// equivalent are the mutants that cannot be told from the code, each with why.
var equivalent = map[string]string{
	"intent/claim acquire: standing.State == StateAbsent: always":                   "an old intent's record that changed as it was taken over is read once more",
	"dynamo/group add: len(g.pending) == 1: always":                                 "every write has a timer then, and the first one's sends them all",
	"dynamo/group add: g.sends == sends: always":                                    "it tells in the one instant in which a timer fires as its call is sent",
	"dynamo/retry persist: err == nil: never":                                       "no error is none that may pass, and is handed back as well",
	"sqsbatch/batch work: ok: always":                                               "the time until no deadline wraps round, to 292 years",
	"sqsbatch/envelope object: json.Unmarshal([]byte(text), &fields) != nil: never": "of a text that is no object nothing is in the map either",
	"sqsbatch/lane lanes: o.read != nil: never":                                     "what could not be read is quarantined in one lane, and not side by side",
}

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
