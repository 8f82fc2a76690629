package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// action is one intent of the run. Each has a user or an account of its own, so
// that its effects can be counted where they happen.
type action struct {
	operation string
	key       string
	subject   string // user or account
	body      string
}

const (
	amountCents  = 4999
	openingCents = 10_000
	deltaCents   = -1000
)

// customer is the subject's at the provider.
func (a action) customer() string { return "cus_" + a.subject }

// actions makes n intents of each operation.
func actions(operations []string, n int) ([]action, error) {
	var all []action
	for i := range n {
		for _, operation := range operations {
			a := action{
				operation: operation,
				key:       fmt.Sprintf("order-%04d-%s", i, operation),
				subject:   fmt.Sprintf("%s%04d", operation, i),
			}
			fields := map[string]any{"idempotency_key": a.key}
			switch operation {
			case "charge":
				fields["user_id"], fields["amount_cents"], fields["currency"] = a.subject, amountCents, "usd"
			case "adjust":
				fields["account_id"], fields["delta_cents"] = a.subject, deltaCents
			default:
				return nil, fmt.Errorf("the demo has no intents for function %q", operation)
			}
			body, err := json.Marshal(fields)
			if err != nil {
				return nil, err
			}
			a.body = string(body)
			all = append(all, a)
		}
	}
	return all, nil
}

// sends is the order in which a producer that retries sends the actions: each
// one to three times, mixed.
func sends(all []action, random *rand.Rand) []action {
	var out []action
	for _, a := range all {
		for range 1 + random.IntN(3) {
			out = append(out, a)
		}
	}
	random.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
