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
	Total     int      `json:"total"`
	Killed    int      `json:"killed"`
	Survivors []string `json:"survivors,omitempty"`
}

// Result is what became of one mutant.
type Result struct {
	Mutant string
	Killer string        // the tests that killed it, and which of them failed; empty: it survives
	Took   time.Duration // of processors
}

// workers is how many mutants are run side by side. Their tests wait more than they
// work.
const workers = 6

// all are the mutants of the library that lies there, but for those that cannot be
// told from it.
func all(root string) ([]mutant, error) {
	var found []mutant
	for _, kind := range []struct {
		files []string
		of    func(file, source string) ([]mutant, error)
	}{{expressionFiles, ofExpressions}, {decisions, ofConditions}} {
		for _, file := range kind.files {
			source, err := read(root, file)
			if err != nil {
				return nil, err
			}
			more, err := kind.of(file, source)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	more, err := ofSteps(root)
	if err != nil {
		return nil, err
	}
	return withoutEquivalent(distinct(append(found, more...)))
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
	mutants, err := all(roots["library"])
	if err != nil {
		return Report{}, err
	}
	l, err := newLab(ctx, roots, mutants)
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
				report.count(r)
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

func (r *Report) count(of Result) {
	r.Total++
	if of.Killer == "" {
		r.Survivors = append(r.Survivors, of.Mutant)
	} else {
		r.Killed++
	}
}
