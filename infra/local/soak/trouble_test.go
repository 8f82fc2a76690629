package soak

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/singleeffect/once/infra/local/lambda"
	"github.com/singleeffect/once/infra/local/mapping"
	"github.com/singleeffect/once/infra/local/proxy"
	"github.com/singleeffect/once/infra/local/stack"
)

// The draws have the odds that are said, and half of the faults come after.
func TestDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const draws = 100_000
		tr := newTrouble(1, 1000, 100, io.Discard)
		wantKills := (100 + 5*10) / 5000.0
		var killed atomic.Int64
		random := rand.New(rand.NewPCG(1, 1))
		got := map[proxy.Fault]int{}
		after := 0
		for range draws {
			fate := tr.draw(random, func() { killed.Add(1) })
			got[fate.Fault]++
			if fate.Fault != proxy.None && fate.After {
				after++
			}
			if fate.For < 0 || fate.For >= longest {
				t.Fatalf("held for %v, want less than %v", fate.For, longest)
			}
		}
		time.Sleep(soon)
		synctest.Wait()
		near := func(what string, n int, odds float64) {
			t.Helper()
			if got, within := float64(n)/draws, 5*math.Sqrt(odds/draws); math.Abs(got-odds) > within {
				t.Errorf("%s: got odds %g, want %g within %g", what, got, odds, within)
			}
		}
		faults := got[proxy.Kill]
		for _, o := range odds {
			near(fmt.Sprintf("fault %d", o.fault), got[o.fault], o.odds)
			faults += got[o.fault]
		}
		near("kills with the exchange", got[proxy.Kill], wantKills*2/3)
		near("kills soon", int(killed.Load()), wantKills/3)
		near("after", after, float64(faults)/2/draws)
	})
}

// Enough is enough, so that the run ends; the network's faults go on.
func TestKillsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTrouble(1, 10, 10, io.Discard)
		tr.kills = tr.most
		fate := tr.fates(func() { t.Error("killed") })
		faults := 0
		for range 10_000 {
			switch fate().Fault {
			case proxy.Kill:
				t.Fatal("killed")
			case proxy.None:
			default:
				faults++
			}
		}
		if faults == 0 {
			t.Error("no fault any more")
		}
		time.Sleep(soon)
		synctest.Wait()
	})
}

// The choices are the seed's, and each proxy has its own.
func TestSeed(t *testing.T) {
	some := func(seed uint64) (all [2][]proxy.Fate) {
		tr := newTrouble(seed, 10, 0, io.Discard)
		for i := range all {
			fate := tr.fates(nil)
			for range 500 {
				all[i] = append(all[i], fate())
			}
		}
		return all
	}
	one, again, other := some(1), some(1), some(2)
	if !slices.Equal(one[0], again[0]) || !slices.Equal(one[1], again[1]) {
		t.Error("one seed draws two series")
	}
	if slices.Equal(one[0], one[1]) || slices.Equal(one[0], other[0]) {
		t.Error("two proxies, or two seeds, draw one series")
	}
}

func TestObserve(t *testing.T) {
	tr := newTrouble(1, 1, 0, io.Discard)
	crash := func(text string) error {
		return fmt.Errorf("invoke function: %w", &lambda.CrashError{Type: "Runtime.ExitError", Message: text})
	}
	for _, err := range []error{
		nil, crash("Runtime exited with error: signal: killed"), crash("Runtime exited with error: exit status 1"),
		&lambda.TimeoutError{}, errors.New("signal: killed, says somebody"),
	} {
		tr.observe("ship", mapping.Batch{Messages: []string{"1", "2"}, Bodies: []string{"a", "b"}, Err: err})
	}
	if tr.delivered != 10 || tr.kills != 1 {
		t.Errorf("got %d deliveries and %d kills, want 10 and 1", tr.delivered, tr.kills)
	}
}

// Every way of a worker leads through a proxy, whose lost replies are counted.
func TestPrepare(t *testing.T) {
	before := odds
	t.Cleanup(func() { odds = before })
	odds = before[2:3:3]
	odds[0].odds = 1
	if odds[0].fault != proxy.Reset {
		t.Fatalf("got fault %d, want resets", odds[0].fault)
	}
	var applied atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { applied.Add(1) }))
	t.Cleanup(service.Close)
	environment := map[string]string{"SCOPE": "shop", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "", "STRIPE_API_BASE": ""}
	for _, name := range services[:3] {
		environment[name] = service.URL
	}
	tr := newTrouble(1, 1000, 0, io.Discard)
	release, err := tr.prepare(&stack.Worker{}, environment)
	if err != nil {
		t.Fatal(err)
	}
	const each = 20
	for _, name := range services[:3] {
		if environment[name] == service.URL {
			t.Errorf("%s leads to the service", name)
		}
		for range each {
			response, err := http.Post(environment[name], "text/plain", strings.NewReader("hello"))
			if err == nil {
				t.Errorf("%s: got %s, want a reset", name, response.Status)
				response.Body.Close()
			}
		}
	}
	if environment["SCOPE"] != "shop" || environment["STRIPE_API_BASE"] != "" || environment["AWS_ENDPOINT_URL_SECRETS_MANAGER"] != "" {
		t.Errorf("got %v, want the rest as it was", environment)
	}
	release()
	if n := int(applied.Load()); tr.lost != n || n == 0 || n == 3*each {
		t.Errorf("got %d lost, want the %d of %d that were applied", tr.lost, n, 3*each)
	}
}
