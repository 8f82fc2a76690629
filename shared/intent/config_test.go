package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

func effect(context.Context, order, intent.Attempt) (any, error) { return nil, nil }

// Every error names its field, and prints both values where two clash.
func TestValidate(t *testing.T) {
	type edit struct {
		config func(*intent.Config)
		keyed  func(*intent.Keyed[order])
		blind  func(*intent.Blind[order])
	}
	for name, c := range map[string]struct {
		edit  edit
		field string
		says  []string
	}{
		"OK":                        {},
		"OK the shortest retention": {edit: edit{config: func(c *intent.Config) { c.Retention = 40 * 24 * time.Hour }}},
		"OK a short retention": {edit: edit{config: func(c *intent.Config) {
			c.MaxAge, c.Retention = time.Hour, 50*time.Hour
		}}},
		"Err no store":        {edit{config: func(c *intent.Config) { c.Store = nil }}, "Store", []string{"missing"}},
		"Err no scope":        {edit{config: func(c *intent.Config) { c.Scope = "" }}, "Scope or Operation", []string{"scope", "empty"}},
		"Err no operation":    {edit{config: func(c *intent.Config) { c.Operation = "" }}, "Scope or Operation", []string{"operation", "empty"}},
		"Err scope not UTF-8": {edit{config: func(c *intent.Config) { c.Scope = "\xff" }}, "Scope or Operation", []string{"scope", "UTF-8"}},
		"Err scope too long": {edit{config: func(c *intent.Config) { c.Scope = strings.Repeat("s", 1024) }},
			"Scope or Operation", []string{"1033", "1024"}},
		"Err negative retention":    {edit{config: func(c *intent.Config) { c.Retention = -time.Hour }}, "Retention", []string{"negative", "-1h0m0s"}},
		"Err negative lease margin": {edit{config: func(c *intent.Config) { c.LeaseMargin = -1 }}, "LeaseMargin", []string{"negative", "-1ns"}},
		"Err negative skew margin":  {edit{config: func(c *intent.Config) { c.SkewMargin = -time.Second }}, "SkewMargin", []string{"negative", "-1s"}},
		"Err negative lease":        {edit{config: func(c *intent.Config) { c.Lease = -time.Second }}, "Lease", []string{"negative", "-1s"}},
		"Err a lease of no use":     {edit{config: func(c *intent.Config) { c.Lease = 2 * time.Second }}, "Lease", []string{"2s", "3s"}},
		"Err a lease of two days": {edit{
			config: func(c *intent.Config) { c.Lease = 48 * time.Hour },
			keyed:  func(k *intent.Keyed[order]) { k.Window = 100 * time.Hour },
			blind:  func(*intent.Blind[order]) {},
		}, "Lease", []string{"48h0m0s", "24h"}},
		"C47 Err retention below twice the age": {edit{config: func(c *intent.Config) { c.Retention = 40*24*time.Hour - 1 }},
			"Retention", []string{"959h59m59.999999999s", "456h0m0s", "2 days"}},
		"C47 Err an age above half the retention": {edit{config: func(c *intent.Config) { c.MaxAge = 44*24*time.Hour + 1 }},
			"Retention", []string{"2160h0m0s", "1056h0m0.000000001s", "2 days"}},
		"Err an age that doubles to nothing": {edit{config: func(c *intent.Config) { c.MaxAge = 1 << 62 }}, "MaxAge", []string{"100 years"}},
		"Err a retention beyond sums":        {edit{config: func(c *intent.Config) { c.Retention = 1<<63 - 1 }}, "Retention", []string{"100 years"}},
		"Err a lease margin of two days": {edit{
			config: func(c *intent.Config) { c.LeaseMargin = 48 * time.Hour },
			keyed:  func(k *intent.Keyed[order]) { k.Window = 100 * time.Hour },
			blind:  func(*intent.Blind[order]) {},
		}, "LeaseMargin", []string{"48h0m0s", "a day"}},
		"Err a skew margin beyond sums": {edit{config: func(c *intent.Config) { c.SkewMargin = 1<<63 - 1 }}, "SkewMargin", []string{"100 years"}},
		"Err a window beyond sums": {edit{keyed: func(k *intent.Keyed[order]) { k.Window = 1<<63 - 1 }},
			"Window", []string{"100 years"}},
		"Err a probe beyond sums": {edit{
			keyed: func(k *intent.Keyed[order]) { k.ProbeAfter = 1<<63 - 1 },
			blind: func(b *intent.Blind[order]) { b.ProbeAfter = 1<<63 - 1 },
		}, "ProbeAfter", []string{"100 years"}},
		"Err negative age": {edit{config: func(c *intent.Config) { c.MaxAge = -time.Hour }}, "MaxAge", []string{"negative", "-1h0m0s"}},
		"Err no effect": {edit{
			keyed: func(k *intent.Keyed[order]) { k.Effect = nil },
			blind: func(b *intent.Blind[order]) { b.Effect = nil },
		}, "Effect", []string{"missing"}},
		"Err probing before the lease is over": {edit{
			keyed: func(k *intent.Keyed[order]) { k.ProbeAfter = -time.Second },
			blind: func(b *intent.Blind[order]) { b.ProbeAfter = -time.Second },
		}, "ProbeAfter", []string{"negative", "-1s"}},
		"Err no window": {edit{keyed: func(k *intent.Keyed[order]) { k.Window = 0 }},
			"Window", []string{"0s", "1h0m0s", "30s", "3s", "2s"}},
		"Err a window without room for a lease": {edit{keyed: func(k *intent.Keyed[order]) { k.Window = time.Hour + 34*time.Second }},
			"Window", []string{"1h0m34s", "1h0m0s", "30s", "3s", "2s"}},
		"OK a window with just that": {edit: edit{keyed: func(k *intent.Keyed[order]) { k.Window = time.Hour + 35*time.Second }}},
	} {
		t.Run(name, func(t *testing.T) {
			config := intent.Config{Scope: "shop", Operation: "charge", Store: newMemory(t)}
			if c.edit.config != nil {
				c.edit.config(&config)
			}
			k := &intent.Keyed[order]{Config: config, Window: window, Effect: effect}
			b := &intent.Blind[order]{Config: config, Effect: effect}
			if c.edit.keyed != nil {
				c.edit.keyed(k)
			}
			if c.edit.blind != nil {
				c.edit.blind(b)
			}
			if c.edit.blind != nil || c.edit.keyed == nil {
				wantInvalid(t, b.Validate(), c.field, c.says)
			}
			wantInvalid(t, k.Validate(), c.field, c.says)
		})
	}
}

func wantInvalid(t *testing.T, err error, field string, says []string) {
	t.Helper()
	if field == "" {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var invalid *intent.ConfigError
	if !errors.As(err, &invalid) || invalid.Field != field {
		t.Fatalf("got %v, want a ConfigError of %s", err, field)
	}
	for _, word := range append(says, field) {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not say %s", err, word)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := intent.Config{}.WithDefaults()
	if c.Retention != 90*24*time.Hour || c.LeaseMargin != margin || c.SkewMargin != skew || c.Lease != lease || c.Now == nil {
		t.Errorf("got %+v", c)
	}
	set := intent.Config{Retention: 1, LeaseMargin: 2, SkewMargin: 3, Lease: 4}.WithDefaults()
	if set.Retention != 1 || set.LeaseMargin != 2 || set.SkewMargin != 3 || set.Lease != 4 {
		t.Errorf("got %+v, want what was set", set)
	}
}

// A message whose payload or key is unusable never runs, and nothing is written.
func TestUnusableDelivery(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		w := newWorld(t)
		noKey, badPayload := delivery(t, book), delivery(t, `{"item":7}`)
		noKey.Key = ""
		var key *intent.KeyError
		if _, err := w.handler(c).Deliver(context.Background(), noKey); !errors.As(err, &key) {
			t.Errorf("got %v, want a KeyError", err)
		}
		var payload *intent.PayloadError
		if _, err := w.handler(c).Deliver(context.Background(), badPayload); !errors.As(err, &payload) || payload.Field != "item" {
			t.Errorf("got %v, want a PayloadError of item", err)
		}
		w.wantRuns(0)
		if got := w.store.log(); got != nil {
			t.Errorf("got writes %v, want none", got)
		}
	})
}

func TestBlindRunsOneAtATime(t *testing.T) {
	if !new(intent.Blind[order]).OneAtATime() {
		t.Error("a crash would put a whole batch in doubt")
	}
	if _, ok := any(new(intent.Keyed[order])).(interface{ OneAtATime() bool }); ok {
		t.Error("a Keyed need not run alone")
	}
}

func TestNewOwner(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		owner := intent.NewOwner()
		if len(owner) != 26 || seen[owner] {
			t.Fatalf("got %q", owner)
		}
		seen[owner] = true
	}
}
