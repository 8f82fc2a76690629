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

func toDynamoDB(action string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+action)
	return r
}

func toProvider(method string) *http.Request {
	return httptest.NewRequest(method, "/v1/payment_intents", nil)
}

func TestIsEffect(t *testing.T) {
	tests := []struct {
		name        string
		operation   string
		request     *http.Request
		once, naive bool
	}{
		{"a charge", "charge", toProvider(http.MethodPost), true, true},
		{"a look at the provider", "charge", toProvider(http.MethodGet), false, false},
		{"a claim", "charge", toDynamoDB("PutItem"), false, false},
		{"a completion", "charge", toDynamoDB("UpdateItem"), false, false},
		{"a look at the record", "adjust", toDynamoDB("GetItem"), false, false},
		{"a mark", "adjust", toDynamoDB("PutItem"), false, false},
		{"a transaction", "adjust", toDynamoDB("TransactWriteItems"), true, false},
		{"a balance change on its own", "adjust", toDynamoDB("UpdateItem"), false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, side := range []struct {
				naive, want bool
			}{{false, tt.once}, {true, tt.naive}} {
				c := newChaos(side.naive, 1, operations, 1)
				if got := c.isEffect(tt.operation, tt.request); got != side.want {
					t.Errorf("naive %t: got %t, want %t", side.naive, got, side.want)
				}
			}
		})
	}
}

// effectOf is what the operation takes effect by, in the guarded function.
var effectOf = map[string]*http.Request{"charge": toProvider(http.MethodPost), "adjust": toDynamoDB("TransactWriteItems")}

func TestForcedKill(t *testing.T) {
	for _, operation := range operations {
		t.Run(operation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const intents = 1 // leaves no kill to chance
				c := newChaos(false, 1, operations, intents)
				var killed atomic.Int64
				decide := c.decide(operation, func() { killed.Add(1) })
				for range 1000 {
					for _, r := range []*http.Request{toDynamoDB("GetItem"), toDynamoDB("PutItem"), toProvider(http.MethodGet)} {
						if got := decide(r, http.StatusOK); got == dies {
							t.Fatalf("%s %s dies without an effect", r.Method, r.Header.Get("X-Amz-Target"))
						}
					}
					if got := decide(effectOf[operation], http.StatusBadRequest); got == dies {
						t.Fatal("dies though the service did nothing")
					}
				}
				if got := decide(effectOf[operation], http.StatusOK); got != dies {
					t.Errorf("first effect: got fate %d, want the kill", got)
				}
				for range 1000 {
					if got := decide(effectOf[operation], http.StatusOK); got == dies {
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

func TestKillsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const intents = 100
		c := newChaos(false, 1, operations, intents)
		var killed atomic.Int64
		atEffect := map[string]int{}
		for _, operation := range operations {
			decide := c.decide(operation, func() { killed.Add(1) })
			for range 10_000 {
				decide(toDynamoDB("GetItem"), http.StatusOK)
				if decide(effectOf[operation], http.StatusOK) == dies {
					atEffect[operation]++
				}
			}
		}
		time.Sleep(soon)
		synctest.Wait()
		if got, want := int(killed.Load())+atEffect["charge"]+atEffect["adjust"], len(operations)*(1+25); got != want {
			t.Errorf("kills: got %d, want one forced and 25 by chance for each operation, %d", got, want)
		}
		if killed.Load() == 0 || atEffect["charge"] < 2 || atEffect["adjust"] < 2 {
			t.Errorf("got %d kills at random moments and %v after effects, want some of each", killed.Load(), atEffect)
		}
	})
}

func TestLostReplies(t *testing.T) {
	c := newChaos(false, 1, operations, 1)
	decide := c.decide("charge", func() {})
	const requests = 10_000
	lost := 0
	for range requests {
		if decide(toDynamoDB("UpdateItem"), http.StatusOK) == losesIt {
			lost++
		}
		if decide(toProvider(http.MethodPost), http.StatusOK) == losesIt {
			t.Fatal("the provider's answer is lost, which the account does not count")
		}
	}
	if got := c.lost("charge"); got != lost {
		t.Errorf("counted: got %d, want %d", got, lost)
	}
	if got := float64(lost) / requests; math.Abs(got-loseReplyOdds) > loseReplyOdds/4 {
		t.Errorf("odds: got %g, want about %g", got, loseReplyOdds)
	}
	if got := c.lost("adjust"); got != 0 {
		t.Errorf("another operation's: got %d, want 0", got)
	}
}
