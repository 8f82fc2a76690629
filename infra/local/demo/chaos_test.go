package demo

import (
	"math"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func dynamoDB(action string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+action)
	return r
}

func stripeAPI(method string) *http.Request {
	return httptest.NewRequest(method, "/v1/payment_intents", nil)
}

func sesAPI(method string) *http.Request {
	return httptest.NewRequest(method, "/v2/email/outbound-emails", nil)
}

func TestEffect(t *testing.T) {
	tests := []struct {
		name        string
		operation   *operation
		request     *http.Request
		once, naive bool
	}{
		{"a charge", &charge, stripeAPI(http.MethodPost), true, true},
		{"a look at the provider", &charge, stripeAPI(http.MethodGet), false, false},
		{"a claim", &charge, dynamoDB("PutItem"), false, false},
		{"a completion", &charge, dynamoDB("UpdateItem"), false, false},
		{"a look at the record", &adjust, dynamoDB("GetItem"), false, false},
		{"a mark", &adjust, dynamoDB("PutItem"), false, false},
		{"a transaction", &adjust, dynamoDB("TransactWriteItems"), true, false},
		{"a balance change on its own", &adjust, dynamoDB("UpdateItem"), false, true},
		{"a status", &ship, dynamoDB("UpdateItem"), true, true},
		{"a look at the order", &ship, dynamoDB("GetItem"), false, false},
		{"a deletion", &clearcart, dynamoDB("DeleteItem"), true, true},
		{"a look at the cart", &clearcart, dynamoDB("Query"), false, false},
		{"an e-mail", &welcome, sesAPI(http.MethodPost), true, true},
		{"a completion with its row", &welcome, dynamoDB("TransactWriteItems"), false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, side := range []struct {
				naive, want bool
			}{{false, tt.once}, {true, tt.naive}} {
				if got := tt.operation.effect(tt.request, side.naive); got != side.want {
					t.Errorf("naive %t: got %t, want %t", side.naive, got, side.want)
				}
			}
		})
	}
}

// effectOf is what the operation takes effect by, in the guarded function.
var effectOf = map[*operation]*http.Request{
	&charge: stripeAPI(http.MethodPost), &adjust: dynamoDB("TransactWriteItems"), &ship: dynamoDB("UpdateItem"),
	&clearcart: dynamoDB("DeleteItem"), &welcome: sesAPI(http.MethodPost),
}

// others are requests that no operation takes effect by.
var others = []*http.Request{dynamoDB("GetItem"), dynamoDB("PutItem"), dynamoDB("Query"), stripeAPI(http.MethodGet)}

// The crowd of one intent leaves no kill to chance, and has the one that is forced.
func TestForcedKill(t *testing.T) {
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChaos(false, 1)
				c.crowd(1)
				var killed atomic.Int64
				decide := c.decide(o, 0, func() { killed.Add(1) })
				effect := effectOf[o]
				for range 1000 {
					for _, r := range others {
						if got := decide(r, http.StatusOK); got == dies {
							t.Fatalf("%s %s dies without an effect", r.Method, r.Header.Get("X-Amz-Target"))
						}
					}
					if got := decide(effect, http.StatusBadRequest); got == dies {
						t.Fatal("dies though the service did nothing")
					}
				}
				if got := decide(effect, http.StatusOK); got != dies {
					t.Errorf("first effect: got fate %d, want the kill", got)
				}
				c.failed(o.name, 0)
				for range 1000 {
					if got := decide(effect, http.StatusOK); got == dies {
						t.Fatal("a second kill is forced")
					}
				}
				time.Sleep(soon)
				synctest.Wait()
				if got := killed.Load(); got != 0 { // the line kills when a request dies
					t.Errorf("kills left to chance: got %d, want 0", got)
				}
			})
		})
	}
}

// A batch takes one kill, however many effects it has under way, and a batch that
// fails for another reason takes none. Until the crowd nothing is left to chance.
func TestForcedKillsAreOfBatches(t *testing.T) {
	c := newChaos(false, 1)
	c.force(2)
	first := c.decide(&clearcart, 0, func() { t.Error("killed by chance") })
	second := c.decide(&clearcart, 1, func() { t.Error("killed by chance") })
	effect := effectOf[&clearcart]
	for range 3 {
		if got := first(effect, http.StatusOK); got != dies {
			t.Fatalf("an effect of the first batch: got fate %d, want the kill", got)
		}
	}
	c.failed("clearcart", 1)
	c.failed("ship", 0)
	c.failed("clearcart", 0)
	for range 3 {
		if got := second(effect, http.StatusOK); got != dies {
			t.Fatalf("an effect of the second batch: got fate %d, want the kill", got)
		}
	}
	c.failed("clearcart", 1)
	c.failed("clearcart", 1)
	for range 1000 {
		for _, r := range append([]*http.Request{effect}, others...) {
			if got := first(r, http.StatusOK); got != replies {
				t.Fatalf("after the forced kills: got fate %d for %s, want the reply", got, r.Header.Get("X-Amz-Target"))
			}
		}
	}
	if got := c.decide(&ship, 0, nil)(effectOf[&ship], http.StatusOK); got != dies {
		t.Errorf("another operation's effect: got fate %d, want the kill", got)
	}
}

func TestKillsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const intents = 100
		c := newChaos(false, 1)
		c.crowd(intents)
		var killed atomic.Int64
		atEffect := map[string]int{}
		total := 0
		for _, o := range operations {
			decide := c.decide(o, 0, func() { killed.Add(1) })
			for range 10_000 {
				decide(dynamoDB("GetItem"), http.StatusOK)
				if decide(effectOf[o], http.StatusOK) == dies {
					atEffect[o.name]++
					total++
					c.failed(o.name, 0)
				}
			}
			if atEffect[o.name] < 2 {
				t.Errorf("%s: got %d kills after effects, want some", o.name, atEffect[o.name])
			}
		}
		time.Sleep(soon)
		synctest.Wait()
		if got, want := int(killed.Load())+total, len(operations)*(1+25); got != want {
			t.Errorf("kills: got %d, want one forced and 25 by chance for each operation, %d", got, want)
		}
		if killed.Load() == 0 {
			t.Error("got no kills at random moments, want some")
		}
	})
}

func TestLostReplies(t *testing.T) {
	for _, r := range []*http.Request{dynamoDB("UpdateItem"), sesAPI(http.MethodPost)} {
		c := newChaos(false, 1)
		c.crowd(1)
		c.force(0)
		decide := c.decide(&welcome, 0, func() {})
		const requests = 10_000
		lost := 0
		for range requests {
			if decide(r, http.StatusOK) == losesIt {
				lost++
			}
			if decide(stripeAPI(http.MethodPost), http.StatusOK) == losesIt {
				t.Fatal("the provider's answer is lost, which the account does not count")
			}
		}
		if got := c.lost("welcome"); got != lost {
			t.Errorf("counted: got %d, want %d", got, lost)
		}
		if got := float64(lost) / requests; math.Abs(got-loseReplyOdds) > loseReplyOdds/4 {
			t.Errorf("odds of %s: got %g, want about %g", r.URL.Path, got, loseReplyOdds)
		}
		if got := c.lost("adjust"); got != 0 {
			t.Errorf("another operation's: got %d, want 0", got)
		}
	}
}
