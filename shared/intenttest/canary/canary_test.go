package canary

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

func TestSet(t *testing.T) {
	var s Set
	key, amount := s.Text("order-8821"), s.Number("-4999")
	if key != s.Text("order-8821") || key == s.Text("order-8822") || key == s.Name("order-8821") || s.Text("") != "" || s.Number("0") != "0" {
		t.Error("a canary does not stand for one value")
	}
	if !strings.HasPrefix(amount, "-") || len(amount) != 9 {
		t.Errorf("got %s for a negative number, want eight digits and the sign", amount)
	}
	text := "two keys: " + strings.ToUpper(key) + " and x, of " + amount
	if got := s.In(text); len(got) != 2 || !strings.HasPrefix(got[0], "number -4999") || !strings.HasPrefix(got[1], "text order-8821") {
		t.Errorf("got %q, want the key and the amount", got)
	}
	if got := s.In("order-8821 and 4999"); len(got) != 0 {
		t.Errorf("got %q of what they stand for, want none", got)
	}
}

// Nothing of a sample's business is left in it, but for what is kept; what was JSON is JSON, and what was not is not.
func TestPlant(t *testing.T) {
	files, err := filepath.Glob("../../../events/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("got samples %v and error %v", files, err)
	}
	business := regexp.MustCompile(`order-88|user-\d|checkout-\d|"88\d\d"|"[79]"|\b4999\b|\b[125]?000\b|\b500\b`)
	planted := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s Set
		before, after := decode(content), s.plant(decode(content), []string{"currency", "kind", "shipped_at", "checked_out_at"})
		for i, r := range after {
			body := r["body"].(string)
			planted += len(business.FindAllString(before[i]["body"].(string), -1))
			if left := business.FindAllString(strings.ReplaceAll(body, `\"`, `"`), -1); len(left) > 0 {
				t.Errorf("%s: record %d still says %q: %s", filepath.Base(file), i, left, body)
			}
			if was := json.Valid([]byte(before[i]["body"].(string))); was != json.Valid([]byte(body)) {
				t.Errorf("%s: record %d is JSON: it was %t, and is not any more: %s", filepath.Base(file), i, was, body)
			}
			if r["messageId"] != before[i]["messageId"] {
				t.Errorf("%s: record %d has another id", filepath.Base(file), i)
			}
		}
	}
	if planted < len(files) {
		t.Errorf("of %d samples %d values were known as the business's", len(files), planted)
	}
}

// A function that logs what it is given is found on each way: its output, a reason and the error that Lambda logs.
func TestFindsLeaks(t *testing.T) {
	f := Function{Name: "charge", Wire: func(lookup func(string) (string, bool)) (lambda.Handler, error) { return nothing{}, nil }}
	out := capture(t)
	var s Set
	key := s.Text("a key")
	for name, leak := range map[string]func(w *world){
		"the output": func(w *world) {
			_, _ = os.Stderr.WriteString("{\"time\":\"71830000\",\"msg\":\"" + key + "\"}\n")
			w.deliver([]byte("{}"))
		},
		"a reason": func(w *world) {
			w.reason(message{MessageAttributes: map[string]struct{ StringValue string }{reasonAttribute: {"conflict: " + key}}})
		},
		"a wrapped reason": func(w *world) {
			w.reason(message{MessageBody: `{"reason":"conflict: ` + key + `","attributes":{},"body":""}`})
		},
	} {
		told := &recorder{TB: t}
		w := f.world(t, &s, out)
		w.t = told
		leak(w)
		if len(told.errors) != 1 {
			t.Errorf("%s: got %q, want one complaint", name, told.errors)
		}
	}
	told := &recorder{TB: t}
	w := f.world(t, &s, out)
	w.t = told
	w.deliver([]byte("{}"))
	w.reason(message{MessageBody: key})
	if len(told.errors) != 0 {
		t.Errorf("got %q of a function that tells nothing, want none", told.errors)
	}
}

// nothing is a function that does nothing.
type nothing struct{}

func (nothing) Invoke(context.Context, []byte) ([]byte, error) { return nil, nil }

// recorder keeps complaints.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, _ ...any) { r.errors = append(r.errors, format) }

// The variants have each form of each field, and no two have one name.
func TestVariants(t *testing.T) {
	content, err := os.ReadFile("../../../events/charge-first-delivery.json")
	if err != nil {
		t.Fatal(err)
	}
	var s Set
	var names []string
	for _, v := range s.variants(s.plant(decode(content), nil)) {
		if len(s.In(string(v.event))) == 0 {
			t.Errorf("%s has no canary", v.name)
		}
		names = append(names, v.name)
	}
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a name is there twice: %q", names)
	}
	for _, want := range []string{"user_id is an object", "amount_cents is a fraction", "idempotency_key is null", "currency twice", "cut off within user_id"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not among %q", want, names)
		}
	}
}
