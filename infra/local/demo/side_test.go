package demo

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/local/stack"
)

// A side without its workers: what is counted is what the test did.
func TestSide(t *testing.T) {
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(t.Context(), "", Config{Root: root, Intents: 1, Seed: 1, Log: io.Discard}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	all := plan(t, 1)
	if err := s.seed(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		t.Run("effects of "+a.operation.name, func(t *testing.T) { countsEffects(t, s, a) })
	}
	for _, a := range all {
		if a.operation.natural() {
			t.Run("what comes after "+a.operation.name, func(t *testing.T) { seesLaterStates(t, s, a) })
		}
	}
	for _, a := range all {
		t.Run("dead letters of "+a.operation.name, func(t *testing.T) { redrives(t, s, a) })
	}
	t.Run("stuck", func(t *testing.T) { getsStuck(t, s, all[0]) })
	t.Run("account", func(t *testing.T) { accounts(t, s, plan(t, 6)[len(operations):]) }) // all but the first, whose effects are there
	t.Run("aftermath", func(t *testing.T) { leaves(t, s, plan(t, 9)[6*len(operations):]) })
}

// wantEffects counts an action's effects.
func wantEffects(t *testing.T, s *side, a action, want int) {
	t.Helper()
	got, err := a.operation.count(t.Context(), s, a)
	if err != nil || got != want {
		t.Errorf("got %d effects and error %v, want %d", got, err, want)
	}
}

func countsEffects(t *testing.T, s *side, a action) {
	wantEffects(t, s, a, 0)
	takeEffect(t, s, a, 1)
	wantEffects(t, s, a, 1)
	takeEffect(t, s, a, 2)
	if a.operation.natural() {
		wantEffects(t, s, a, 1)
		return
	}
	wantEffects(t, s, a, 2)
	if a.operation == &adjust {
		put(t, s, row{table: "AccountsTable", item: balance(a, openingCents+deltaCents-1)})
		if got, err := adjust.count(t.Context(), s, a); err == nil || !strings.Contains(err.Error(), "8999") {
			t.Errorf("got %d effects and error %v, want one with the odd balance", got, err)
		}
	}
}

// takeEffect brings about the nth effect of an action where it happens.
func takeEffect(t *testing.T, s *side, a action, n int) {
	t.Helper()
	switch a.operation {
	case &charge:
		charges(t, s, a)
	case &adjust:
		put(t, s, row{table: "AccountsTable", item: balance(a, openingCents+n*deltaCents)})
	case &welcome:
		sendsMail(t, s, a)
	case &ship:
		put(t, s, row{table: "OrdersTable", item: item{"order_id": text(a.order), "status": text("shipped")}})
	case &clearcart:
		for i := range a.items {
			remove(t, s, a, i)
			if i < a.items-1 && n == 1 {
				wantEffects(t, s, a, 0) // half done is not done
			}
		}
	}
}

func balance(a action, cents int) item {
	return item{"account_id": text(a.user), "balance": &types.AttributeValueMemberN{Value: strconv.Itoa(cents)}}
}

func put(t *testing.T, s *side, r row) {
	t.Helper()
	table := s.stack.Table(r.table)
	if _, err := s.stack.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: r.item}); err != nil {
		t.Fatal(err)
	}
}

// remove takes an item out of the cart.
func remove(t *testing.T, s *side, a action, n int) {
	t.Helper()
	table := s.stack.Table("CartsTable")
	key := item{"user_id": text(a.user), "item_id": text(itemID(n))}
	if _, err := s.stack.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key}); err != nil {
		t.Fatal(err)
	}
}

// environment is a function's.
func environment(s *side, o *operation) map[string]string {
	for _, f := range s.stack.Functions() {
		if f.Folder == o.name {
			return f.Environment
		}
	}
	return nil
}

func charges(t *testing.T, s *side, a action) {
	t.Helper()
	made := url.Values{
		"amount": {strconv.Itoa(amountCents)}, "currency": {"usd"}, "customer": {customer(a)}, "payment_method": {"pm_card_visa"},
		"payment_method_types[]": {"card"}, "confirm": {"true"}, "off_session": {"true"},
	}
	r := request(t, environment(s, &charge)["STRIPE_API_BASE"]+"/v1/payment_intents", made.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+environment(s, &charge)["STRIPE_API_KEY"])
	if response, body, err := ask(t, r); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got answer %v %s and error %v", response, body, err)
	}
}

// What comes after a natural intent stands until somebody undoes it.
func seesLaterStates(t *testing.T, s *side, a action) {
	wantStands := func(want bool) {
		t.Helper()
		if got, err := a.operation.stands(t.Context(), s, a); err != nil || got != want {
			t.Errorf("got %t and error %v, want %t", got, err, want)
		}
	}
	wantStands(false)
	if err := a.operation.later(t.Context(), s, a); err != nil {
		t.Fatal(err)
	}
	wantStands(true)
	wantEffects(t, s, a, 0) // the state that it led to has passed
	if err := a.operation.later(t.Context(), s, a); err == nil {
		t.Error("it happened again")
	}
	if a.operation == &ship {
		takeEffect(t, s, a, 1)
		wantStands(false)
		return
	}
	put(t, s, row{table: "CartsTable", item: cartItem(a, 0, time.Now())})
	wantStands(false) // it was not put in
	remove(t, s, a, 0)
	wantStands(true)
	remove(t, s, a, a.items)
	wantStands(false)
}
