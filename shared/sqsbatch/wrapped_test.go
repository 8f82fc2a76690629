package sqsbatch_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// A message that somebody marks as wrapped, and that is not of that form, is run as it came.
func TestMarkedAndNotWrapped(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"a body of its own":        `{"idempotency_key":"k","amount_cents":1}`,
		"a field is missing":       `{"reason":"r","attributes":{},"idempotency_key":"k"}`,
		"a reason of another type": `{"reason":1,"attributes":{},"body":"{}"}`,
		"a body of another type":   `{"reason":"r","attributes":{},"body":{}}`,
		"attributes of another":    `{"reason":"r","attributes":[],"body":"{}"}`,
	} {
		r := newRig(t, func(c *sqsbatch.Config) { c.Key = func(m events.SQSMessage) (string, error) { return m.Body, nil } })
		m := with(message("1", body), sqsbatch.WrappedAttribute, text("1"))
		wantIDs(t, name+": listed", r.handle(m))
		if len(r.hand.deliveries) != 1 || string(r.hand.deliveries[0].Payload.Canonical()) != canonical(t, body) {
			t.Errorf("%s: run %v, want it as it came", name, r.hand.deliveries)
		}
	}
}

// A wrapped message whose attributes somebody emptied, and that was given another one on its way, is opened all the same.
func TestWrappedWithoutAttributes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := with(message("1", `{"reason":"r","attributes":null,"body":"{\"idempotency_key\":\"k\"}"}`), sqsbatch.WrappedAttribute, text("1"))
	wantIDs(t, "listed", r.handle(with(m, "Moved-By", text("a tool"))))
	wantIDs(t, "run", r.hand.keys(), "k")
}

// Wrapping makes no more of a body than it must: characters that only HTML minds stay as they are.
func TestWrappingKeepsCharacters(t *testing.T) {
	t.Parallel()
	body := `{"":"` + strings.Repeat("<&>", 300_000) + `"}` // six times as much with each of them escaped
	in := quarantined(t, laden(message("bad", body), 10))
	if n := len(*in.MessageBody); n < len(body) || n > len(body)+10_000 {
		t.Errorf("got %d bytes of %d", n, len(body))
	}
}

// A copy has a trace where its message has one. SQS takes no empty one.
func TestCopyWithoutATrace(t *testing.T) {
	t.Parallel()
	if in := quarantined(t, message("bad", "poison")); len(in.MessageSystemAttributes) != 0 {
		t.Errorf("got %v, want none", in.MessageSystemAttributes)
	}
}

// canonical is the canonical form of a body.
func canonical(t *testing.T, body string) string {
	t.Helper()
	p, err := intent.ParsePayload([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return string(p.Canonical())
}
