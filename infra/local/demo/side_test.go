package demo

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/queue"
	"github.com/singleeffect/once/infra/local/stack"
)

// A side without its workers: what is counted is what the test did.
func TestSide(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := plan(t, 1)
	s, err := open(t.Context(), "once", "", Config{Root: root, Intents: 1, Seed: 1}, all, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	for _, a := range all {
		t.Run("effects of "+a.operation, func(t *testing.T) { countsEffects(t, s, a) })
	}
	t.Run("dead letters are redriven", func(t *testing.T) { redrives(t, s, all[0]) })
}

func countsEffects(t *testing.T, s *side, a action) {
	for want := range 3 {
		if want > 0 {
			takeEffect(t, s, a, want)
		}
		got, err := s.effects(t.Context(), a, s.provider.Charges().ByCustomer())
		if err != nil || got != want {
			t.Errorf("got %d effects and error %v, want %d", got, err, want)
		}
	}
	if a.operation == "charge" {
		return
	}
	setBalance(t, s, a, openingCents+deltaCents-1)
	if got, err := s.effects(t.Context(), a, nil); err == nil || !strings.Contains(err.Error(), "8999") {
		t.Errorf("got %d effects and error %v, want one with the odd balance", got, err)
	}
}

// takeEffect brings about the nth effect of an action where it happens.
func takeEffect(t *testing.T, s *side, a action, n int) {
	t.Helper()
	if a.operation == "adjust" {
		setBalance(t, s, a, openingCents+n*deltaCents)
		return
	}
	charge := url.Values{
		"amount": {strconv.Itoa(amountCents)}, "currency": {"usd"}, "customer": {a.customer()}, "payment_method": {"pm_card_visa"},
		"payment_method_types[]": {"card"}, "confirm": {"true"}, "off_session": {"true"},
	}
	environment := map[string]string{}
	for _, f := range s.stack.Functions() {
		if f.Folder == a.operation {
			environment = f.Environment
		}
	}
	r := request(t, environment["STRIPE_API_BASE"]+"/v1/payment_intents", charge.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+environment["STRIPE_API_KEY"])
	if response, body, err := ask(t, r); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got answer %v %s and error %v", response, body, err)
	}
}

func setBalance(t *testing.T, s *side, a action, cents int) {
	t.Helper()
	table := s.stack.Table("AccountsTable")
	if _, err := s.stack.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
		"account_id": &types.AttributeValueMemberS{Value: a.subject},
		"balance":    &types.AttributeValueMemberN{Value: strconv.Itoa(cents)},
	}}); err != nil {
		t.Fatal(err)
	}
}

// Five receives without a success, and the sixth finds the message gone: it is
// in the dead-letter queue. It counts as left, and comes back.
func redrives(t *testing.T, s *side, a action) {
	wantLeft := func(want int) {
		t.Helper()
		if got, err := s.left(); err != nil || got != want {
			t.Errorf("left: got %d and error %v, want %d", got, err, want)
		}
	}
	wantLeft(0)
	if err := s.send([]action{a}); err != nil {
		t.Fatal(err)
	}
	wantLeft(1)
	source, _, err := s.stack.QueueOf(a.operation)
	if err != nil {
		t.Fatal(err)
	}
	receive := func() []queue.Message {
		t.Helper()
		out, err := s.stack.Queues.ReceiveMessage(t.Context(), queue.ReceiveMessageInput{QueueURL: source, VisibilityTimeout: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		return out.Messages
	}
	for range 5 {
		if got := receive(); len(got) != 1 {
			t.Fatalf("got %d messages, want 1", len(got))
		}
	}
	if got := receive(); len(got) != 0 {
		t.Fatalf("receive 6: got %d messages, want none", len(got))
	}
	wantLeft(1) // and sends it back
	got := receive()
	if len(got) != 1 || got[0].Body != a.body {
		t.Fatalf("after the redrive: got %+v, want the message", got)
	}
	if _, err := s.stack.Queues.DeleteMessageBatch(queue.DeleteMessageBatchInput{
		QueueURL: source, Entries: []queue.DeleteMessageBatchEntry{{ID: "0", ReceiptHandle: got[0].ReceiptHandle}},
	}); err != nil {
		t.Fatal(err)
	}
	wantLeft(0)
}
