package measure

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/singleeffect/once/infra/bench/contender"
	"github.com/singleeffect/once/infra/bench/report"
	"github.com/singleeffect/once/infra/proof/scoreboard/board"
	"github.com/singleeffect/once/infra/proof/scoreboard/loopback"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

var built contender.All

func TestMain(m *testing.M) {
	into, err := os.MkdirTemp("", "once-bench-")
	if err == nil {
		built, err = contender.BuildGo(context.Background(), into)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(into)
	os.Exit(code)
}

// small is a run of the contenders in Go, each as its own process, with the in-memory API as the engine: what is counted is always the
// same there, and what is timed has no bound but those that the machinery itself sets.
func small(t *testing.T) (*bench, *report.Report) {
	t.Helper()
	return smallOn(t, memdb.Config{})
}

func smallOn(t *testing.T, config memdb.Config) (*bench, *report.Report) {
	t.Helper()
	engine, err := loopback.Serve(memdb.New(config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	b := &bench{
		Plan:   Plan{Rounds: 2, Batches: 3, Warm: 3, Starts: 2, Log: t.Output(), Say: t.Logf},
		engine: board.Engine{Endpoint: engine.URL()},
		all:    built,
	}
	r := new(report.Report)
	for _, c := range built {
		r.Contenders = append(r.Contenders, report.Contender{Name: c.Name})
	}
	return b, r
}

func TestContest(t *testing.T) {
	alone := map[string]float64{New: 2, Half: 1.5, Duplicate: 1}
	shown, hidden := map[string]float64{New: 0.2, Half: 0.2, Duplicate: 0.1}, map[string]float64{New: 0.2, Half: 0.3, Duplicate: 0.2}
	for name, engine := range map[string]struct {
		config  memdb.Config
		batched map[string]float64
	}{
		"duplicates come with their records": {memdb.Config{}, shown},
		"as DynamoDB Local does it":          {memdb.Config{Plan: memdb.LikeLocal}, hidden},
	} {
		t.Run(name, func(t *testing.T) {
			b, r := smallOn(t, engine.config)
			if err := b.contest(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			requests := map[string]map[string]float64{
				contender.Once: engine.batched, contender.Batched: engine.batched, contender.Single: alone, contender.Naive: alone,
			}
			for _, c := range r.Contenders {
				for _, scenario := range report.Scenarios {
					want, known := requests[c.Name][scenario]
					if got := c.Delayed[scenario].Requests; !known || math.Abs(got-want) > 1e-9 {
						t.Errorf("%s, %s: %v requests a message, want %v", c.Name, scenario, got, want)
					}
					if got := c.Direct[scenario]; got.CPUMicros <= 0 || got.PerSecond <= 0 || got.P50 <= 0 || got.P99 < got.P50 || got.Requests != 0 {
						t.Errorf("%s, %s: got %+v", c.Name, scenario, got)
					}
				}
				if got, least := c.Delayed[New].P50, milliseconds(2*delay); got < least {
					t.Errorf("%s: two replies with a delay took %v ms, want %v or more", c.Name, got, least)
				}
				if c.ResidentMB < 1 || c.PeakMB < c.ResidentMB {
					t.Errorf("%s: memory %v MB, at the most %v MB", c.Name, c.ResidentMB, c.PeakMB)
				}
			}
			if got, least := r.Floor.P50, milliseconds(2*delay); got < least || r.Floor.P99 < got {
				t.Errorf("the floor: got %+v, want %v ms or more", r.Floor, least)
			}
		})
	}
}

func TestStarts(t *testing.T) {
	b, r := small(t)
	if err := b.starts(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Contenders {
		if c.FirstPollMS <= 0 || c.AnswerMS <= c.FirstPollMS {
			t.Errorf("%s: first poll after %v ms, answer after %v ms", c.Name, c.FirstPollMS, c.AnswerMS)
		}
	}
}

func TestUnits(t *testing.T) {
	b, r := small(t)
	if err := b.units(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Contenders {
		if got := c.Units[New].Write; got != 2 {
			t.Errorf("%s: %v write units for a new message, want 2", c.Name, got)
		}
		if got := c.Units[Duplicate].Write; got != 1 {
			t.Errorf("%s: %v write units for a duplicate, want 1", c.Name, got)
		}
		if got := c.Units[Half].Write; got != 1.5 {
			t.Errorf("%s: %v write units a message where half are duplicates, want 1.5", c.Name, got)
		}
	}
}

func TestEffects(t *testing.T) {
	b, _ := small(t)
	s, err := b.effect(t.Context(), "1ms-2ms")
	if err != nil || s.requests != 2*effectBatches {
		t.Errorf("effects that end together: %d requests for %d batches, %v", s.requests, effectBatches, err)
	}
}

func TestEnterErrors(t *testing.T) {
	b, _ := small(t)
	b.engine.Endpoint = "http://127.0.0.1:9" // discard: nobody listens there
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if e, err := b.enter(ctx, b.all.Of(contender.Naive), true, 0, 1); err == nil || e != nil {
		t.Errorf("no engine: got %v, %v", e, err)
	}
}

// A contender that does nothing is not measured as a fast one.
func TestCheck(t *testing.T) {
	b, _ := small(t)
	e, err := b.enter(t.Context(), b.all.Of(contender.Naive), false, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer e.leave()
	if err := b.check(t.Context(), e); err != nil {
		t.Error(err)
	}
	e.keys++
	if err := b.check(t.Context(), e); err == nil {
		t.Error("one record too few passed")
	}
}

func TestSummary(t *testing.T) {
	ms := func(values ...int) (all []time.Duration) {
		for _, v := range values {
			all = append(all, time.Duration(v)*time.Millisecond)
		}
		return all
	}
	got := summary([]sample{
		{messages: 10, cpu: time.Millisecond, wall: time.Second, requests: 2, batches: ms(1, 2, 3)},
		{messages: 10, cpu: 3 * time.Millisecond, wall: 2 * time.Second, requests: 4, batches: ms(4, 5, 6)},
		{messages: 10, cpu: 2 * time.Millisecond, wall: 4 * time.Second, requests: 20, batches: ms(7, 8, 90)},
	})
	if want := (report.Batch{CPUMicros: 200, PerSecond: 5, P50: 5, P99: 90, Requests: 0.4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
