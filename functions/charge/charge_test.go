package main

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

func TestPayload(t *testing.T) {
	tests := []struct {
		name, body, field string // field at fault, "" if none is
	}{
		{"OK", string(lesson), ""},
		{"OK, id as a number", `{"user_id":7,"amount_cents":1,"currency":"eur"}`, ""},
		{"OK, largest amount", `{"user_id":"7","amount_cents":99999999,"currency":"usd"}`, ""},

		{"ErrUser missing", `{"amount_cents":4999,"currency":"usd"}`, "user_id"},
		{"ErrUser null", `{"user_id":null,"amount_cents":4999,"currency":"usd"}`, "user_id"},
		{"ErrAmount missing", `{"user_id":"7","currency":"usd"}`, "amount_cents"},
		{"ErrAmount zero", `{"user_id":"7","amount_cents":0,"currency":"usd"}`, "amount_cents"},
		{"ErrAmount negative", `{"user_id":"7","amount_cents":-4999,"currency":"usd"}`, "amount_cents"},
		{"ErrAmount too large", `{"user_id":"7","amount_cents":100000000,"currency":"usd"}`, "amount_cents"},
		{"ErrAmount a fraction", `{"user_id":"7","amount_cents":49.99,"currency":"usd"}`, "amount_cents"},
		{"ErrAmount a string", `{"user_id":"7","amount_cents":"4999","currency":"usd"}`, "amount_cents"},
		{"ErrCurrency missing", `{"user_id":"7","amount_cents":4999}`, "currency"},
		{"ErrCurrency upper case", `{"user_id":"7","amount_cents":4999,"currency":"USD"}`, "currency"},
		{"ErrCurrency too long", `{"user_id":"7","amount_cents":4999,"currency":"usdt"}`, "currency"},
		{"ErrCurrency not ASCII", `{"user_id":"7","amount_cents":4999,"currency":"é1"}`, "currency"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := intent.Decode[order](intenttest.Payload(t, tt.body))
			var at *intent.PayloadError
			switch {
			case tt.field == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case tt.field != "" && (!errors.As(err, &at) || at.Field != tt.field):
				t.Errorf("got %v, want an error that names %s", err, tt.field)
			}
		})
	}
}

// A message that cannot be a charge leaves no record and asks nobody.
func TestBadPayloadIsNotClaimed(t *testing.T) {
	store, p := newMemory(), newProvider(t, paymentIntent("succeeded"))
	body := []byte(`{"user_id":"7","amount_cents":0,"currency":"usd"}`)
	if _, err := charging(store, p).Deliver(context.Background(), delivery(t, body)); err == nil {
		t.Error("got no error")
	}
	if len(store.records) != 0 || len(p.requests()) != 0 {
		t.Errorf("got records %v and requests %v, want none", store.records, p.requests())
	}
}

// What is found out before Stripe is asked is the handler's own check: final, or harmless, only while
// no earlier attempt can have charged (C43).
func TestOwnChecks(t *testing.T) {
	tests := []struct {
		name   string
		row    map[string]types.AttributeValue
		err    error
		first  intent.State
		result string
	}{
		{name: "unknown user", first: intent.StateRefused, result: `{"reason":"unknown_user"}`},
		{name: "no payment method", row: row("cus_7", ""), first: intent.StateRefused, result: `{"reason":"no_payment_method"}`},
		{name: "no customer", row: row("", "pm_card_visa"), first: intent.StateRefused, result: `{"reason":"no_payment_method"}`},
		{name: "table unreadable", err: errors.New("throttled"), first: intent.StateReleased},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store, p := newMemory(), newProvider(t, paymentIntent("succeeded"))
			users := usersTable{client: &rows{item: tt.row, err: tt.err}, name: "users"}
			out, err := chargingOf(store, p, users.user).Deliver(context.Background(), delivery(t, lesson))
			if got := store.records["test#charge#order-8821-charge"].State; got != tt.first || string(out.Result.JSON) != tt.result {
				t.Errorf("first attempt: got %s %s (error %v), want %s %s", got, out.Result.JSON, err, tt.first, tt.result)
			}

			store = newMemory()
			lapsed(t, store)
			_, err = chargingOf(store, p, users.user).Deliver(context.Background(), delivery(t, lesson))
			if got := store.records["test#charge#order-8821-charge"].State; got != intent.StateClaimed || !errors.Is(err, intent.ErrUnknown) {
				t.Errorf("after an attempt that may have charged: got %s and error %v, want it claimed and unknown", got, err)
			}
			if got := len(p.requests()); got != 0 {
				t.Errorf("requests to Stripe: got %d, want none", got)
			}
		})
	}
}

// C65: the message may overtake its user's row, or what Stripe tells of the user. The charge is not applied then, and refused only
// from the fourth receive on.
func TestPayerComesLater(t *testing.T) {
	for name, before := range map[string]map[string]types.AttributeValue{
		unknownUser: nil, noPaymentMethod: row("cus_7", ""), "no customer": row("", "pm_card_visa"),
	} {
		t.Run(name, func(t *testing.T) {
			store, p := newMemory(), newProvider(t, paymentIntent("succeeded"))
			table := &rows{item: before}
			handler := chargingOf(store, p, usersTable{client: table, name: "users"}.user)
			receive := func(n int) (intent.Outcome, error) {
				d := delivery(t, lesson)
				d.Receives = n
				return handler.Deliver(context.Background(), d)
			}
			for n := 1; n <= 3; n++ {
				_, err := receive(n)
				if got := store.records["test#charge#order-8821-charge"].State; !errors.Is(err, intent.ErrReleased) || got != intent.StateReleased {
					t.Errorf("receive %d: got %s and error %v, want it released", n, got, err)
				}
			}
			table.item = row("cus_7", "pm_card_visa")
			if out, err := receive(4); out.Kind != intent.Executed || err != nil || len(p.requests()) != 1 {
				t.Errorf("when it is there: got %s, error %v and %d charges, want one", out.Kind, err, len(p.requests()))
			}

			clear(store.records)
			table.item = before
			if out, err := receive(4); out.Kind != intent.Refused || err != nil {
				t.Errorf("the fourth receive without it: got %s and error %v, want it refused", out.Kind, err)
			}

			clear(store.records)
			lapsed(t, store)
			if _, err := receive(1); !errors.Is(err, intent.ErrUnknown) || len(p.requests()) != 1 {
				t.Errorf("after an attempt that may have charged: got error %v and %d charges, want it unknown, and one", err, len(p.requests()))
			}
		})
	}
}

// rows answers GetItem with one row for every key, and keeps what it was asked.
type rows struct {
	item map[string]types.AttributeValue
	err  error
	last *dynamodb.GetItemInput
}

func (r *rows) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	r.last = in
	if r.err != nil {
		return nil, r.err
	}
	return &dynamodb.GetItemOutput{Item: r.item}, nil
}

func row(customer, paymentMethod string) map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{userIDAttribute: &types.AttributeValueMemberS{Value: "7"}}
	if customer != "" {
		item[customerAttribute] = &types.AttributeValueMemberS{Value: customer}
	}
	if paymentMethod != "" {
		item[paymentMethodAttribute] = &types.AttributeValueMemberS{Value: paymentMethod}
	}
	return item
}

func TestUserIsReadConsistently(t *testing.T) {
	client := &rows{item: row("cus_7", "pm_card_visa")}
	got, found, err := usersTable{client: client, name: "users"}.user(context.Background(), "7")
	if err != nil || !found || got != (payer{"cus_7", "pm_card_visa"}) {
		t.Errorf("got %+v, %v and error %v", got, found, err)
	}
	key, _ := client.last.Key[userIDAttribute].(*types.AttributeValueMemberS)
	if c := client.last.ConsistentRead; c == nil || !*c || *client.last.TableName != "users" || key == nil || key.Value != "7" {
		t.Errorf("asked for %+v, want a consistent read of user 7", client.last)
	}
}
