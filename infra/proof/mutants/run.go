package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
)

// Report is what became of all mutants.
type Report struct {
	Total     int      `json:"total"`
	Killed    int      `json:"killed"`
	Survivors []string `json:"survivors,omitempty"`
	Results   []Result `json:"-"`
}

// Result is what became of one mutant.
type Result struct {
	Mutant string
	Killer string        // the tests that killed it and the first of them to fail; empty: it survives
	Took   time.Duration // of processors
	lasted time.Duration
}

// workers is how many mutants are run side by side. Their tests wait more than they
// work.
const workers = 6

// all are the mutants of the sources below root, without those that cannot differ.
func all(root string) ([]mutant, error) {
	var found []mutant
	source, err := read(root, expressionsFile)
	if err != nil {
		return nil, err
	}
	if found, err = ofExpressions(source); err != nil {
		return nil, err
	}
	for _, file := range decisions {
		source, err := read(root, file)
		if err != nil {
			return nil, err
		}
		more, err := ofConditions(file, source)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	more, err := ofSteps(root)
	if err != nil {
		return nil, err
	}
	return withoutEquivalent(distinct(append(found, more...)))
}

// Run compiles the tests once, with all mutants in them, and runs these one by one
// against their killers. report is told of each as it ends. Which mutants those are
// that match may be restricted: a nil match takes all.
func Run(ctx context.Context, match func(name string) bool, report func(Result)) (Report, error) {
	roots, err := modules(ctx)
	if err != nil {
		return Report{}, err
	}
	mutants, err := all(roots["library"])
	if err != nil {
		return Report{}, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(dir)
	lab := &lab{roots: roots, dir: dir, programs: map[string]tests{}, bare: map[string]time.Duration{}}
	list, err := overlay(dir, roots["library"], mutants)
	if err != nil {
		return Report{}, err
	}
	for name, t := range programs {
		t.program = filepath.Join(dir, name+".test")
		s := time.Now()
		if err := t.compile(ctx, roots, list); err != nil {
			return Report{}, err
		}
		lab.programs[name] = t
		fmt.Println("compiled", name, time.Since(s))
	}
	if err := lab.unchanged(ctx); err != nil {
		return Report{}, err
	}
	return lab.runAll(ctx, mutants, match, report)
}

// lab is where mutants are run.
type lab struct {
	roots    map[string]string
	dir      string
	programs map[string]tests
	bare     map[string]time.Duration // what each killer takes on the code as it is
}

// unchanged runs every killer on the code as it is: it must survive them all.
func (l *lab) unchanged(ctx context.Context) error {
	var running sync.WaitGroup
	errs := make([]error, len(killers))
	var mu sync.Mutex
	for i, k := range killers {
		running.Go(func() {
			v, err := l.run(ctx, k, 0, 10*time.Minute)
			if err == nil && v.failed != "" {
				err = fmt.Errorf("%s fails on the code as it is: %s", k.name, v.failed)
			}
			errs[i] = err
			mu.Lock()
			defer mu.Unlock()
			l.bare[k.name] = v.lasted
			fmt.Println("bare", k.name, v.lasted, v.took)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

func (l *lab) run(ctx context.Context, k killer, mutant int, limit time.Duration) (verdict, error) {
	t := l.programs[k.tests]
	return k.run(ctx, t, t.directory(l.roots), mutant, limit)
}

func (l *lab) runAll(ctx context.Context, mutants []mutant, match func(string) bool, report func(Result)) (Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]Result, len(mutants))
	next := make(chan int)
	var running sync.WaitGroup
	var telling sync.Mutex
	for range workers {
		running.Go(func() {
			for i := range next {
				r, err := l.kill(ctx, mutants[i], i+1)
				if err != nil {
					cancel(fmt.Errorf("%s: %w", mutants[i].name, err))
					continue
				}
				results[i] = r
				telling.Lock()
				report(r)
				telling.Unlock()
			}
		})
	}
	for i, m := range mutants {
		if match == nil || match(m.name) {
			next <- i
		}
	}
	close(next)
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return Report{}, err
	}
	var r Report
	for _, result := range results {
		switch {
		case result.Mutant == "": // not asked for
			continue
		case result.Killer != "":
			r.Killed++
		default:
			r.Survivors = append(r.Survivors, result.Mutant)
		}
		r.Total++
		r.Results = append(r.Results, result)
	}
	if r.Total == 0 {
		return r, errors.New("no mutant of that name")
	}
	return r, nil
}

// kill runs a mutant's killers until one of them kills it.
func (l *lab) kill(ctx context.Context, m mutant, n int) (Result, error) {
	r := Result{Mutant: m.name}
	for _, k := range killers {
		if !k.of(path.Dir(m.file)) {
			continue
		}
		failed, err := l.killedBy(ctx, k, n, &r)
		if err != nil {
			return r, err
		}
		if failed != "" {
			r.Killer = k.name + ": " + failed
			break
		}
	}
	return r, nil
}

// killedBy is the test of a killer that fails on a mutant; empty: none. It must fail
// again when it is run alone: else it may have failed for another reason, such as a
// busy machine, and the others are asked.
func (l *lab) killedBy(ctx context.Context, k killer, n int, r *Result) (string, error) {
	const doubts = 3
	for range doubts {
		v, err := l.run(ctx, k, n, max(patience, hangs*l.bare[k.name]))
		r.Took += v.took
		r.lasted += v.lasted
		switch {
		case err != nil || v.failed == "":
			return "", err
		case v.how != "":
			return v.failed + " " + v.how, nil
		}
		again, err := l.run(ctx, k.alone(v.failed), n, max(patience, hangs*l.bare[k.name]))
		r.Took += again.took
		r.lasted += again.lasted
		if err != nil || again.failed != "" {
			return v.failed, err
		}
		fmt.Println("not again:", k.name, v.failed, n)
		k = k.without(v.failed)
	}
	return "", nil
}
