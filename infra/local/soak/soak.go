package soak

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/singleeffect/once/infra/local/demo"
)

// parameters make small batches, so that there are many to kill, and few workers, for
// a machine of two cores.
var parameters = map[string]string{"BatchSize": "5", "MaximumConcurrency": "2"}

const (
	// visibility lets a killed claim lapse first: a timeout of 2 s, a margin of 1 s and
	// a skew margin of 2 s after it was made. The six timeouts that the template asks
	// for are room for throttling, which is not here, and would double the run.
	visibility = 6 * time.Second

	operations = 5
)

// Config says how large a run is.
type Config struct {
	// Root is the project's folder. Required.
	Root string

	// Intents is the number of intents, of all operations together; Kills that of the
	// processes killed while they run a batch. A run with fewer fails.
	Intents, Kills int

	// Seed makes the run's choices.
	Seed uint64

	// Progress takes the story, Log the functions' own output.
	Progress, Log io.Writer
}

// Run runs the soak and tells on the way of each intent that ended wrong.
func Run(ctx context.Context, c Config) (Report, error) {
	if c.Intents < 1 || c.Kills < 0 {
		return Report{}, fmt.Errorf("a run needs 1 intent or more and 0 kills or more, not %d and %d", c.Intents, c.Kills)
	}
	each := (c.Intents + operations - 1) / operations
	t := newTrouble(c.Seed, each*operations, c.Kills, c.Log)
	fmt.Fprintf(c.Progress, "Batches of %s, %s workers for each function, visibility %v, and kills at odds of %.3f an exchange up to %d of them.\n",
		parameters["BatchSize"], parameters["MaximumConcurrency"], visibility, t.kill, t.most)
	after, err := demo.Trouble{
		Parameters: parameters, Visibility: visibility, Prepare: t.prepare, Observe: t.observe,
	}.Run(ctx, demo.Config{Root: c.Root, Intents: each, Seed: c.Seed, Progress: c.Progress, Log: c.Log})
	if err != nil {
		return Report{}, err
	}
	fmt.Fprintln(c.Progress, t.met())
	r := Report{
		Deliveries: t.delivered, Kills: t.kills, LostReplies: t.lost, Redriven: after.Redriven,
		strays: after.Strays, leaks: after.Leaks, wanted: c,
	}
	if r.Outage, err = outage(ctx, c); err != nil {
		return Report{}, err
	}
	for _, e := range after.Ends {
		v := judge(e)
		r.count(e, v)
		if v.wrong() {
			fmt.Fprintln(c.Progress, t.story(e, v))
		}
	}
	return r, nil
}
