package mutants

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
)

// lab is where mutants are run.
type lab struct {
	roots    map[string]string
	dir      string // of what is compiled
	programs map[string]*program
	trials   []*trial
}

// program is a package's tests, compiled when they are first needed.
type program struct {
	tests
	compiled func() error
}

// trial is a killer that has proved to let the code as it is survive.
type trial struct {
	killer
	ready func() error
	limit limit // for a mutant: what takes longer hangs
}

// newLab puts the mutants into the sources. close removes what it has made.
func newLab(ctx context.Context, roots map[string]string, all []*source, mutants []mutant) (*lab, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	l := &lab{roots: roots, dir: dir, programs: map[string]*program{}}
	list, err := overlay(dir, roots["library"], all, mutants)
	if err != nil {
		l.close()
		return nil, err
	}
	for name, t := range programs {
		t.program = filepath.Join(dir, name+".test")
		l.programs[name] = &program{t, sync.OnceValue(func() error { return t.compile(ctx, roots, list) })}
	}
	for _, k := range killers {
		t := &trial{killer: k, limit: limit{longest, longest}}
		t.ready = sync.OnceValue(func() error {
			if err := l.programs[t.tests].compiled(); err != nil {
				return err
			}
			began := time.Now()
			var r Result
			failed, err := l.killedBy(ctx, t, 0, &r)
			if err == nil && failed != "" {
				err = fmt.Errorf("%s fails on the code as it is: %s", t.name, failed)
			}
			t.limit = limits(limit{time.Since(began), r.Took})
			return err
		})
		l.trials = append(l.trials, t)
	}
	return l, nil
}

func (l *lab) close() { _ = os.RemoveAll(l.dir) }

// run runs a killer on the mutant with that number.
func (l *lab) run(ctx context.Context, k killer, number int, most limit) (verdict, error) {
	p := l.programs[k.tests]
	if err := p.compiled(); err != nil {
		return verdict{}, err
	}
	return k.run(ctx, p.tests, p.directory(l.roots), number, most)
}

// kill runs a mutant's killers until one of them kills it.
func (l *lab) kill(ctx context.Context, m mutant, number int) (Result, error) {
	r := Result{Mutant: m.name, Where: fmt.Sprintf("%s:%d", m.file, m.line)}
	for _, t := range l.trials {
		if !t.of(path.Dir(m.file)) || ofExplorer(m) && t.tests != "explore" {
			continue
		}
		if err := t.ready(); err != nil {
			return r, err
		}
		failed, err := l.killedBy(ctx, t, number, &r)
		if err != nil {
			return r, err
		}
		if failed != "" {
			r.Killer = t.name + ": " + failed
			break
		}
	}
	return r, nil
}

// killedBy is the test of a killer that fails on a mutant; empty: none. It must fail
// again when it is run alone: else it may have failed for another reason, such as a
// busy machine, and the rest are asked without it.
func (l *lab) killedBy(ctx context.Context, t *trial, number int, r *Result) (string, error) {
	const doubts = 3
	k := t.killer
	for range doubts {
		v, err := l.run(ctx, k, number, t.limit)
		r.Took += v.took
		switch {
		case err != nil || v.failed == "":
			return "", err
		case v.how != "":
			return v.failed + " " + v.how, nil
		}
		again, err := l.run(ctx, k.alone(v.failed), number, t.limit)
		r.Took += again.took
		if err != nil || again.failed != "" {
			return v.failed, err
		}
		k = k.without(v.failed)
	}
	return "", nil
}
