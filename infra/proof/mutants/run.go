package mutants

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Report is what became of all mutants.
type Report struct {
	Total     int            `json:"total"`
	Killed    int            `json:"killed"`
	Operators map[string]int `json:"operators"` // how many are of each
	Survivors []string       `json:"survivors,omitempty"`
}

// Result is what became of one mutant.
type Result struct {
	Mutant string
	Where  string        // file and line
	Killer string        // the tests that killed it, and which of them failed; empty: it survives
	Took   time.Duration // of processors
}

// workers is how many mutants are run side by side. Their tests wait more than they
// work.
const workers = 8

// operators make the mutants of one file.
var operators = []func(*source) []mutant{
	ofExpressions, ofStatementTexts, ofConditions, ofStatements, ofOrders, ofConcatenations, ofCalls,
	ofTimes, ofBounds, ofFields, ofAttributes, ofKeys, ofCodes, ofKinds, ofVerdicts, ofFailures,
}

// derive makes the mutants of all files, but for those that cannot be told from the code.
func derive(all []*source) ([]mutant, error) {
	var found []mutant
	for _, s := range all {
		for _, of := range operators {
			found = append(found, of(s)...)
		}
	}
	return withoutEquivalent(distinct(found))
}

// Run compiles the tests once, with all mutants in them, and runs each against its
// killers. wanted restricts them by name; nil takes all. tell is told of each as it
// ends, one at a time.
func Run(ctx context.Context, wanted func(name string) bool, tell func(Result)) (Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	roots, err := modules(ctx)
	if err != nil {
		return Report{}, err
	}
	all, err := sources(ctx, roots["library"], nil, decisions...)
	if err != nil {
		return Report{}, err
	}
	mutants, err := derive(all)
	if err != nil {
		return Report{}, err
	}
	l, err := newLab(ctx, roots, all, mutants)
	if err != nil {
		return Report{}, err
	}
	defer l.close()
	var report Report
	var telling sync.Mutex
	var running sync.WaitGroup
	next := make(chan int)
	for range workers {
		running.Go(func() {
			for i := range next {
				r, err := l.kill(ctx, mutants[i], i+1)
				if err != nil {
					cancel(fmt.Errorf("%s: %w", mutants[i].name, err))
					continue
				}
				telling.Lock()
				report.count(mutants[i].operator, r)
				tell(r)
				telling.Unlock()
			}
		})
	}
	for i, m := range mutants {
		if ctx.Err() == nil && (wanted == nil || wanted(m.name)) {
			next <- i
		}
	}
	close(next)
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return Report{}, err
	}
	if report.Total == 0 {
		return report, errors.New("there is no such mutant")
	}
	return report, nil
}

func (r *Report) count(operator string, of Result) {
	r.Total++
	if r.Operators == nil {
		r.Operators = map[string]int{}
	}
	r.Operators[operator]++
	if of.Killer == "" {
		r.Survivors = append(r.Survivors, of.Mutant)
	} else {
		r.Killed++
	}
}
