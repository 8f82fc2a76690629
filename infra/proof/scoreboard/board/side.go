package board

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/singleeffect/once/infra/proof/scoreboard/powertools"
	"github.com/singleeffect/once/infra/proof/scoreboard/worker"
)

// Side is one of those that are compared: a function, and what can be read from its records without its help.
type Side struct {
	Name        string
	Command     []string
	Environment []string

	key    string        // name of its table's partition key
	lease  string        // attribute: when a claim lapses, ms; "" has none
	slack  time.Duration // how long after that another may go on
	expiry string        // attribute: TTL, s

	// retention is how long its records are kept, where the case is not about that.
	retention time.Duration
	// shortest is the shortest retention that it takes. Where a case is about a shorter one, that much time passes by the
	// times that its messages tell.
	shortest time.Duration
	// keyPath is what the peer is told of where the key is.
	keyPath func(composite bool) string
}

// Once is ours: shared/intent and shared/dynamo behind shared/sqsbatch.
func Once() (Side, error) {
	s, err := own("once")
	s.key, s.lease, s.slack, s.expiry = "intent", "lease_until", worker.Slack, "expires_at"
	s.retention, s.shortest = 90*24*time.Hour, 40*24*time.Hour
	return s, err
}

// Naive is the conditional put of the tutorials.
func Naive() (Side, error) {
	s, err := own("naive")
	s.key, s.expiry, s.retention = "id", "expires_at", 90*24*time.Hour
	return s, err
}

// own is a function that this very binary is.
func own(name string) (Side, error) {
	path, err := os.Executable()
	if err != nil {
		return Side{}, fmt.Errorf("find the binary of %s: %w", name, err)
	}
	return Side{Name: name, Command: []string{path}, Environment: []string{worker.Variable + "=" + name}}, nil
}

// Powertools is the peer, installed where it is not yet, and set up as its documentation shows. There the key is one field of the body,
// or several where a key is required. Its records are kept for an hour by default.
func Powertools(ctx context.Context) (Side, error) {
	command, err := powertools.Command(ctx)
	return Side{
		Name:      "powertools_ts",
		Command:   command,
		key:       "id",
		lease:     "in_progress_expiration",
		expiry:    "expiration",
		retention: time.Hour,
		keyPath: func(composite bool) string {
			if composite {
				return `powertools_json(body).["user_id", "idempotency_key"]`
			}
			return keyField
		},
	}, err
}

const keyField = "powertools_json(body).idempotency_key"

// Other is another setting of the peer that changes how it does in a case.
type Other struct {
	Case string
	Says string
	set  func(*Side)
}

// Others are the settings that its documentation has, but does not show for such a case.
var Others = []Other{
	{"null_key", "a key of one field", func(s *Side) { s.keyPath = func(bool) string { return keyField } }},
	{"two_operations", "a `keyPrefix` for each operation", func(s *Side) { s.Environment = []string{"OWN_PREFIXES=1"} }},
}

// Of is the peer with the setting.
func (o Other) Of(peer Side) Side {
	o.set(&peer)
	return peer
}
