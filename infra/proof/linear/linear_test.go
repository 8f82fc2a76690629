package linear

import (
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intenttest"
)

var (
	histories = flag.Int("histories", 32, "how many histories to run")
	seed      = flag.Uint64("seed", 1, "of faults and kills")
	report    = flag.String("report", "", "write what was found to this file, as JSON")
)

func TestMain(m *testing.M) {
	Work()
	os.Exit(m.Run())
}

// config is a run on tables of its own.
func config(t *testing.T, histories int, classes ...Class) Config {
	t.Helper()
	db := intenttest.Engine(t)
	return Config{
		DB: db, Records: intenttest.Table(t, db, "intent"), Accounts: intenttest.Table(t, db, "account"),
		Histories: histories, Classes: classes, Seed: *seed,
	}
}

func TestHistories(t *testing.T) {
	c := config(t, *histories, Keyed, Grouped, Blind, Ledger)
	began := time.Now()
	found, err := Run(t.Context(), c)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%+v in %v", found, time.Since(began).Round(time.Millisecond))
	if *report == "" {
		return
	}
	text, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*report, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}
