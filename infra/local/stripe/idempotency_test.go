package stripe

import (
	"context"
	"net/http"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v83"
)

func TestKeyReplaysItsFirstAnswer(t *testing.T) {
	s, client := start(t, Config{})
	first, second := create(t, client, order("key-1")), create(t, client, order("key-1"))

	if first.ID != second.ID || first.LatestCharge.ID != second.LatestCharge.ID {
		t.Errorf("got %s/%s and %s/%s, want the same twice", first.ID, first.LatestCharge.ID, second.ID, second.LatestCharge.ID)
	}
	if replayed(first.LastResponse) || !replayed(second.LastResponse) {
		t.Errorf("replayed: got %v and %v, want false and true", replayed(first.LastResponse), replayed(second.LastResponse))
	}
	if got, want := second.LastResponse.Header.Get("Original-Request"), first.LastResponse.RequestID; got != want {
		t.Errorf("original request: got %s, want %s", got, want)
	}
	wantCharges(t, s, 1)
	if got := s.Charges().ByKey()["key-1"]; got != 1 {
		t.Errorf("charges under the key: got %d, want 1", got)
	}
}

func TestKeyReplaysFailures(t *testing.T) {
	tests := []struct {
		name   string
		params *stripego.PaymentIntentCreateParams
		fault  Fault
		status int
	}{
		{
			name: "a decline",
			params: with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) {
				p.PaymentMethod = stripego.String("pm_card_visa_chargeDeclined")
			}),
			status: http.StatusPaymentRequired,
		},
		{name: "a 500", params: order("key-1"), fault: Fault{ServerError: true}, status: http.StatusInternalServerError},
		{
			name:   "an unknown customer",
			params: with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) { p.Customer = stripego.String("7") }),
			status: http.StatusBadRequest,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, client := start(t, Config{Fault: func(r Request) Fault {
				if r.Arrival > 1 {
					return Fault{} // the replay comes from the key, not from a second fault
				}
				return tt.fault
			}})
			first, second := createFails(t, client, tt.params), createFails(t, client, tt.params)
			if first.HTTPStatusCode != tt.status || second.HTTPStatusCode != tt.status {
				t.Errorf("got statuses %d and %d, want %d twice", first.HTTPStatusCode, second.HTTPStatusCode, tt.status)
			}
			if replayed(first.LastResponse) || !replayed(second.LastResponse) {
				t.Errorf("replayed: got %v and %v, want false and true", replayed(first.LastResponse), replayed(second.LastResponse))
			}
		})
	}
}

func TestKeyWithOtherParameters(t *testing.T) {
	s, client := start(t, Config{})
	create(t, client, order("key-1"))
	failed := createFails(t, client, with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) { p.Amount = stripego.Int64(5000) }))

	if failed.HTTPStatusCode != http.StatusBadRequest || failed.Type != stripego.ErrorTypeIdempotency {
		t.Errorf("got %d %s, want 400 idempotency_error", failed.HTTPStatusCode, failed.Type)
	}
	if again := create(t, client, order("key-1")); !replayed(again.LastResponse) {
		t.Error("the key forgot its first answer")
	}
	wantCharges(t, s, 1)
}

// The first request with the key hangs between its effect and its reply; a second one meets it there.
func TestKeyInFlight(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	s, client := start(t, Config{AfterEffect: func(Request) {
		close(inside)
		<-release
	}})
	first := make(chan error, 1)
	go func() {
		_, err := client.V1PaymentIntents.Create(context.Background(), order("key-1"))
		first <- err
	}()
	<-inside
	failed := createFails(t, client, order("key-1"))
	if failed.HTTPStatusCode != http.StatusConflict || failed.Code != stripego.ErrorCodeIdempotencyKeyInUse {
		t.Errorf("got %d %s, want 409 idempotency_key_in_use", failed.HTTPStatusCode, failed.Code)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the first request: %v", err)
	}
	// The conflict was not stored: the key answers with the first request's success.
	if again := create(t, client, order("key-1")); !replayed(again.LastResponse) {
		t.Error("the third request was not replayed")
	}
	wantCharges(t, s, 1)
}

// The caller dies between the effect and the reply, as a killed worker does: the request goes on, and
// whoever comes next with the key gets its answer.
func TestCallerDiesBeforeTheReply(t *testing.T) {
	ctx, die := context.WithCancel(context.Background())
	gone := make(chan struct{})
	s, client := start(t, Config{AfterEffect: func(r Request) {
		if r.Arrival == 1 {
			die()
			<-gone
		}
	}})
	if _, err := client.V1PaymentIntents.Create(ctx, order("key-1")); err == nil {
		t.Fatal("the call succeeded, although its caller had died")
	}
	close(gone)
	for { // the first request may take a moment to end
		pi, err := client.V1PaymentIntents.Create(context.Background(), order("key-1"))
		if err == nil {
			if !replayed(pi.LastResponse) {
				t.Error("the second request was executed")
			}
			break
		}
	}
	wantCharges(t, s, 1)
}

func TestKeyIsForgottenAfterTheWindow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, client := start(t, Config{Now: func() time.Time { return now }})
	create(t, client, order("key-1"))

	now = now.Add(Window - time.Millisecond)
	create(t, client, order("key-1"))
	wantCharges(t, s, 1)

	now = now.Add(time.Millisecond)
	if pi := create(t, client, order("key-1")); replayed(pi.LastResponse) {
		t.Error("the key was replayed past the window")
	}
	wantCharges(t, s, 2)
}

// What is answered in front of the idempotency layer is not stored: the key is as new afterwards.
func TestRefusalsAreNotStored(t *testing.T) {
	for refusal, status := range map[Refusal]int{
		RateLimited: 429, LockTimeout: 429, Unauthorized: 401, Forbidden: 403, NotExecuted: 500,
	} {
		t.Run(string(refusal), func(t *testing.T) {
			s, client := start(t, Config{Fault: func(r Request) Fault {
				if r.Arrival == 1 {
					return Fault{Refuse: refusal}
				}
				return Fault{}
			}})
			if failed := createFails(t, client, order("key-1")); failed.HTTPStatusCode != status {
				t.Errorf("got status %d, want %d", failed.HTTPStatusCode, status)
			}
			wantCharges(t, s, 0)
			if pi := create(t, client, order("key-1")); replayed(pi.LastResponse) {
				t.Error("the refusal was stored")
			}
			wantCharges(t, s, 1)
		})
	}
}

// What stands in front of the idempotency layer answers before anybody looks at the key: also where the key has an answer, and where
// its first request is under way. It says nothing of that request, and the key answers as before afterwards.
func TestRefusalsComeBeforeTheKey(t *testing.T) {
	for refusal, status := range map[Refusal]int{RateLimited: 429, LockTimeout: 429, Unauthorized: 401, Forbidden: 403, NotExecuted: 500} {
		t.Run(string(refusal), func(t *testing.T) {
			inside, release := make(chan struct{}), make(chan struct{})
			s, client := start(t, Config{
				Fault: func(r Request) Fault {
					if r.Arrival == 2 || r.Arrival == 3 {
						return Fault{Refuse: refusal}
					}
					return Fault{}
				},
				AfterEffect: func(Request) {
					close(inside)
					<-release
				},
			})
			wantRefused := func(when string) {
				t.Helper()
				if failed := createFails(t, client, order("key-1")); failed.HTTPStatusCode != status || replayed(failed.LastResponse) {
					t.Errorf("%s: got %d, replayed %t, want %d", when, failed.HTTPStatusCode, replayed(failed.LastResponse), status)
				}
			}
			first := make(chan error, 1)
			go func() {
				_, err := client.V1PaymentIntents.Create(context.Background(), order("key-1"))
				first <- err
			}()
			<-inside
			wantRefused("under way")
			close(release)
			if err := <-first; err != nil {
				t.Errorf("the first request: %v", err)
			}
			wantRefused("answered")
			if again := create(t, client, order("key-1")); !replayed(again.LastResponse) {
				t.Error("the key forgot its first answer")
			}
			wantCharges(t, s, 1)
		})
	}
	t.Run("another API key", func(t *testing.T) {
		s, client := start(t, Config{})
		create(t, client, order("key-1"))
		if failed := createFails(t, clientOf(t, s, "sk_live_1"), order("key-1")); failed.HTTPStatusCode != http.StatusUnauthorized {
			t.Errorf("got %d, want 401", failed.HTTPStatusCode)
		}
		wantCharges(t, s, 1)
	})
}

func TestInvalidParametersAreNotStored(t *testing.T) {
	s, client := start(t, Config{})
	failed := createFails(t, client, with(order("key-1"), func(p *stripego.PaymentIntentCreateParams) { p.Amount = stripego.Int64(0) }))
	if failed.HTTPStatusCode != http.StatusBadRequest || failed.Param != "amount" {
		t.Errorf("got %d for %q, want 400 for amount", failed.HTTPStatusCode, failed.Param)
	}
	if pi := create(t, client, order("key-1")); replayed(pi.LastResponse) {
		t.Error("the error was stored")
	}
	wantCharges(t, s, 1)
}
