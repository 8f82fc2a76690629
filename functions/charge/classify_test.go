package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v83"

	"github.com/singleeffect/once/shared/intent"
)

// says is what a status tells of the request that it answers.
type says string

const (
	inFront says = "turned away before the idempotency layer: not applied, whatever the code"
	unsure  says = "unknown, whatever the code"
	byCode  says = "the code tells"
)

// statuses are the HTTP statuses of an error that Stripe documents (https://docs.stripe.com/api/errors, "HTTP Status Code
// Summary"), and what they mean here.
var statuses = map[int]struct {
	says     says
	executed bool // so the answer is the key's, replayed or not
	means    string
}{
	400: {byCode, false, "the request was unacceptable: before the idempotency layer, or in the execution"},
	401: {inFront, false, "no valid API key"},
	402: {byCode, true, "the parameters were valid, and the request failed"},
	403: {inFront, false, "the API key lacks the permission"},
	404: {byCode, false, "there is no such resource"},
	409: {unsure, false, "another request is under way, perhaps with the same key"},
	424: {unsure, false, "something outside of Stripe failed, such as a card's network"},
	429: {inFront, false, "too many requests, or another one holds the object"},
	500: {unsure, false, "Stripe failed: it may have charged, and replays the 500"},
	502: {unsure, false, "Stripe failed"},
	503: {unsure, false, "Stripe failed"},
	504: {unsure, false, "Stripe failed"},
}

// errorTypes are all that the library knows: whether the code then counts. Source: https://docs.stripe.com/api/errors
var errorTypes = map[stripe.ErrorType]bool{
	stripe.ErrorTypeCard:                    true,
	stripe.ErrorTypeInvalidRequest:          true,
	stripe.ErrorTypeAPI:                     false, // Stripe's own trouble
	stripe.ErrorTypeIdempotency:             false, // the key's first request was another, and may have charged
	stripe.ErrorTypeTemporarySessionExpired: false, // of API v2, which this function does not call
}

// paymentStatuses are all statuses of a PaymentIntent that the library knows, and what becomes of the record.
// Source: https://docs.stripe.com/payments/paymentintents/lifecycle
var paymentStatuses = map[stripe.PaymentIntentStatus]intent.State{
	stripe.PaymentIntentStatusSucceeded:             intent.StateCompleted,
	stripe.PaymentIntentStatusRequiresPaymentMethod: intent.StateRefused,
	stripe.PaymentIntentStatusRequiresAction:        intent.StateRefused,
	stripe.PaymentIntentStatusCanceled:              intent.StateRefused,
	stripe.PaymentIntentStatusProcessing:            intent.StateClaimed,
	stripe.PaymentIntentStatusRequiresConfirmation:  intent.StateClaimed,
	stripe.PaymentIntentStatusRequiresCapture:       intent.StateClaimed,
}

// scenes delivers the lesson's charge to a Stripe that answers it by turns, and returns what became of the record: in a first
// attempt, and in one that takes over from an attempt that may have charged.
type scenes struct {
	t      *testing.T
	p      *provider
	charge func(intent.Store) *intent.Keyed[order]
}

func newScenes(t *testing.T) scenes {
	p := newProvider(t, reply{})
	api := newStripe(fixed(apiKey), p.url, newTransport())
	visa := func(context.Context, string) (payer, bool, error) { return payer{"cus_7", "pm_card_visa"}, true, nil }
	return scenes{t, p, func(s intent.Store) *intent.Keyed[order] { return keyedOf(s, charger{user: visa, pay: api.pay}) }}
}

func (s scenes) run(answer reply) (first, next intent.State) {
	s.t.Helper()
	s.p.answer(answer)
	var states []intent.State
	for _, takeover := range []bool{false, true} {
		store := newMemory()
		if takeover {
			lapsed(s.t, store)
		}
		before := len(s.p.requests())
		_, _ = s.charge(store).Deliver(context.Background(), delivery(s.t, lesson))
		if got := len(s.p.requests()) - before; got != 1 {
			s.t.Errorf("requests to Stripe: got %d, want 1", got)
		}
		states = append(states, store.records["test#charge#order-8821-charge"].State)
	}
	return states[0], states[1]
}

// want checks what became of the record.
func (s scenes) want(what string, answer reply, first, next intent.State) {
	s.t.Helper()
	if gotFirst, gotNext := s.run(answer); gotFirst != first || gotNext != next {
		s.t.Errorf("%s: got %s, and %s after an attempt that may have charged, want %s and %s", what, gotFirst, gotNext, first, next)
	}
}

// byItsCode is what becomes of the record where the code tells.
func byItsCode(refusal, keys bool) (first, next intent.State) {
	first = intent.StateReleased
	if refusal {
		first = intent.StateRefused
	}
	if keys {
		return first, first
	}
	return first, intent.StateClaimed // as the effect's own check
}

// C57: each error code refuses or is ours to mend, as the table says, in a 400 and in a 402.
func TestErrorCodes(t *testing.T) {
	s := newScenes(t)
	for code, m := range errorCodes {
		for status, kind := range map[int]string{400: "invalid_request_error", 402: "card_error"} {
			first, next := byItsCode(m.refusal, statuses[status].executed)
			s.want(fmt.Sprintf("%d %s (%s)", status, code, m.means), failure(status, kind, string(code), ""), first, next)
		}
	}
}

// C57: a decline is refused, unless it speaks of the API key's mode.
func TestDeclineCodes(t *testing.T) {
	s := newScenes(t)
	for code, m := range declineCodes {
		first, next := byItsCode(m.refusal, true)
		s.want(fmt.Sprintf("%s (%s)", code, m.means), failure(402, "card_error", "card_declined", fmt.Sprintf(`, "decline_code": %q`, code)), first, next)
	}
}

// C57: each status and each type, with a code that refuses, one that is ours to mend and none, replayed or not.
func TestErrorStatusesAndTypes(t *testing.T) {
	s := newScenes(t)
	types := map[stripe.ErrorType]bool{"": false, "lunar_error": false} // none, and one of the future
	for kind, counts := range errorTypes {
		types[kind] = counts
	}
	for status, of := range statuses {
		for kind, counts := range types {
			for code, refusal := range map[string]bool{"amount_too_small": true, "livemode_mismatch": false, "": false} {
				for _, again := range []bool{false, true} {
					first, next := intent.StateClaimed, intent.StateClaimed
					switch {
					case of.says == inFront:
						first, next = intent.StateReleased, intent.StateReleased
					case of.says == byCode && counts:
						first, next = byItsCode(refusal, of.executed || again)
					}
					answer := failure(status, string(kind), code, "")
					answer.replayed = again
					s.want(fmt.Sprintf("%d (%s) %q %q, replayed %t", status, of.means, kind, code, again), answer, first, next)
				}
			}
		}
	}
}

func TestPaymentStatuses(t *testing.T) {
	s := newScenes(t)
	for status, want := range paymentStatuses {
		s.want(string(status), paymentIntent(string(status)), want, want)
	}
}

// What the library brings with a new release is classified before it is used: a code that nobody has looked at is ours to mend
// until then.
func TestEverythingIsClassified(t *testing.T) {
	check(t, "ErrorCode", errorCodes, 100)
	check(t, "DeclineCode", declineCodes, 40)
	check(t, "ErrorType", errorTypes, 4)
	check(t, "PaymentIntentStatus", paymentStatuses, 7)
	for _, code := range refusalCodes {
		if !errorCodes[code].refusal {
			t.Errorf("%s is refused, and the table does not say so", code)
		}
	}
}

// check fails for each of the library's constants of that type that the table does not have, and if there are fewer than at least
// so many: then they are elsewhere now.
func check[K ~string, V any](t *testing.T, kind string, table map[K]V, least int) {
	t.Helper()
	names := constants(t, kind)
	if len(names) < least {
		t.Errorf("%s: found %d constants, want %d at least", kind, len(names), least)
	}
	for _, name := range names {
		if _, ok := table[K(name)]; !ok {
			t.Errorf("%s %q is new: nobody has said what it means for a charge", kind, name)
		}
	}
}

// constants are the values of the library's string constants of a type.
func constants(t *testing.T, kind string) (values []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/stripe/stripe-go/v83").Output()
	if err != nil {
		t.Fatalf("find Stripe's library: %v", err)
	}
	for _, name := range []string{"error.go", "paymentintent.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(out)), name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != kind {
				return true
			}
			for _, value := range spec.Values {
				literal, ok := value.(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s of %s is no literal", spec.Names[0], kind)
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
			return true
		})
	}
	slices.Sort(values)
	return slices.Compact(values)
}
