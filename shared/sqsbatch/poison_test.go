package sqsbatch_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// secret stands in payloads and must stand in no log.
const secret = "hunter-2"

func TestPoison(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, intent.MaxPayloadDepth+1) + "1" + strings.Repeat("}", intent.MaxPayloadDepth+1)
	for _, tt := range []struct {
		name, body string
		err        error
	}{
		{"empty", "", &intent.PayloadError{Reason: "is not JSON"}},
		{"not JSON", "idempotency_key=k&card=" + secret, &intent.PayloadError{Reason: "is not JSON"}},
		{"cut off", `{"idempotency_key":"k","card":"` + secret, &intent.PayloadError{Reason: "is not JSON"}},
		{"two values", `{"idempotency_key":"k"}{"idempotency_key":"j"}`, &intent.PayloadError{Reason: "is not JSON"}},
		{"array", `[{"idempotency_key":"k","card":"` + secret + `"}]`, &intent.PayloadError{Reason: "is no JSON object"}},
		{"string", `"` + secret + `"`, &intent.PayloadError{Reason: "is no JSON object"}},
		{"null", `null`, &intent.PayloadError{Reason: "is no JSON object"}},
		{"repeated key", `{"idempotency_key":"k","card":"` + secret + `","card":"1"}`, &intent.PayloadError{Reason: "repeats a name of its object at byte 41"}},
		{"repeated idempotency key", `{"idempotency_key":"k","idempotency_ke\u0079":"j"}`, &intent.PayloadError{Reason: "repeats a name of its object at byte 23"}},
		{"not UTF-8", `{"idempotency_key":"k","card":"` + secret + "\xff\"}", &intent.PayloadError{Reason: "is not UTF-8"}},
		{"half a surrogate", `{"idempotency_key":"k","card":"` + secret + `\ud800"}`, &intent.PayloadError{Reason: "has half a surrogate pair at byte 30"}},
		{"too deep", `{"idempotency_key":"k","deep":` + deep + `}`, &intent.PayloadError{Reason: "nests deeper than 64 at byte 350"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, poison := range map[string]func(id string) (r *rig, listed []string){
				"alone": func(id string) (*rig, []string) {
					r := newRig(t)
					return r, r.handle(asking("1", "a"), message(id, tt.body), asking("3", "c"))
				},
				"with a key in its attributes": func(id string) (*rig, []string) {
					r := newRig(t)
					return r, r.handle(asking("1", "a"), carrying(message(id, tt.body), text("a")), asking("3", "c"))
				},
			} {
				r, got := poison("2")
				wantIDs(t, name+": listed", got, "2")
				if keys := r.hand.keys(); len(keys) != 2 {
					t.Errorf("%s: ran %v, want a and c", name, keys)
				}
				if line := r.log.about(t, "2"); line["error"] != tt.err.Error() || line["level"] != "WARN" {
					t.Errorf("%s: got log line %v, want error %q", name, line, tt.err)
				}
				if strings.Contains(r.log.String(), secret) {
					t.Errorf("%s: payload in the log: %s", name, r.log)
				}
			}
		})
	}
}

// Whatever goes wrong in an effect, its message alone is listed, with the stack
// of a panic and without the payload.
func TestEffectFails(t *testing.T) {
	t.Parallel()
	type card struct {
		Number string `json:"number"`
		Amount int    `json:"amount"`
	}
	for _, tt := range []struct {
		name, fields string
		effect       intent.Effect[card]
		err          string
		stack        bool
	}{
		{"panic", `"number":"` + secret + `"`, func(_ context.Context, c card, _ intent.Attempt) (any, error) {
			return c.Number[len(c.Number):][0], nil
		}, "outcome of the effect is unknown: effect panicked: runtime error: index out of range [0] with length 0", true},
		{"nil dereference", `"number":"` + secret + `"`, func(_ context.Context, c card, _ intent.Attempt) (any, error) {
			var next *card
			return next.Number + c.Number, nil
		}, "outcome of the effect is unknown: effect panicked: runtime error: invalid memory address or nil pointer dereference", true},
		{"error", `"number":"` + secret + `"`, func(context.Context, card, intent.Attempt) (any, error) {
			return nil, errors.New("connection reset")
		}, "outcome of the effect is unknown: connection reset", false},
		{"not applied", `"number":"` + secret + `"`, func(context.Context, card, intent.Attempt) (any, error) {
			return nil, intent.NotApplied(errors.New("throttled"))
		}, "effect was not applied, claim released: effect not applied: throttled", false},
		{"field of another type", `"amount":"` + secret + `"`, nil, `payload field "amount" is a JSON string that is no int`, false},
		{"number of another type", `"number":31415926535`, nil, `payload field "number" is a JSON number that is no string`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, ran := &memory{}, 0
			r := newRig(t, func(c *sqsbatch.Config) {
				c.Handler = &intent.Keyed[card]{Config: shop(m), Window: 24 * time.Hour, Effect: func(ctx context.Context, c card, a intent.Attempt) (any, error) {
					if a.Key.ID == "bad" {
						return tt.effect(ctx, c, a)
					}
					ran++
					return nil, nil
				}}
				c.Concurrency = 1
			})
			good := `{"idempotency_key":"good","number":"` + secret + `"}`
			also := `{"idempotency_key":"good too","number":"` + secret + `"}`
			wantIDs(t, "listed", r.handle(message("1", good), message("2", `{"idempotency_key":"bad",`+tt.fields+`}`), message("3", also)), "2")
			if ran != 2 {
				t.Errorf("got %d good effects, want 2", ran)
			}
			line := r.log.about(t, "2")
			if line["error"] != tt.err {
				t.Errorf("got error %q, want %q", line["error"], tt.err)
			}
			if stack, _ := line["stack"].(string); tt.stack != strings.Contains(stack, "poison_test.go") {
				t.Errorf("got stack %q", stack)
			}
			if strings.Contains(r.log.String(), secret) || strings.Contains(r.log.String(), "31415926535") {
				t.Errorf("payload in the log: %s", r.log)
			}
		})
	}
}
