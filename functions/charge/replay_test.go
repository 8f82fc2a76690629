package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// C57's kind: an attempt ends without an answer, and its PaymentIntent waits for the customer. The key
// replays the answer of that time, which is a refusal's. What counts is how the PaymentIntent stands now:
// a payment that was made since is not recorded as refused.
func TestReplayedAnswerIsOld(t *testing.T) {
	declined := func(status string) reply {
		return failure(402, "card_error", "authentication_required", `, "payment_intent": {"id": "pi_1", "object": "payment_intent", "status": "`+status+`"}`)
	}
	for name, tt := range map[string]struct {
		replayed, now reply
		kind          intent.Kind // empty: unknown
		requests      int
	}{
		"requires_action, paid since":         {paymentIntent("requires_action").again(), paymentIntent("succeeded"), intent.Executed, 2},
		"requires_payment_method, paid since": {paymentIntent("requires_payment_method").again(), paymentIntent("succeeded"), intent.Executed, 2},
		"a declined card, paid since":         {declined("requires_payment_method").again(), paymentIntent("succeeded"), intent.Executed, 2},
		"requires_action, still":              {paymentIntent("requires_action").again(), paymentIntent("requires_action"), intent.Refused, 2},
		"a declined card, still":              {declined("requires_payment_method").again(), paymentIntent("requires_payment_method"), intent.Refused, 2},
		"requires_action, under way":          {paymentIntent("requires_action").again(), paymentIntent("processing"), "", 2},
		"canceled, for good":                  {paymentIntent("canceled").again(), reply{}, intent.Refused, 1},
		"a declined card that has paid":       {declined("succeeded"), reply{}, "", 1},
		"a declined card whose money is held": {declined("requires_capture"), reply{}, "", 1},
		"requires_action, and not to be read": {paymentIntent("requires_action").again(), failure(503, "api_error", "", ""), "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			p := newProvider(t, tt.replayed, tt.now)
			lapsed(t, m)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			o, err := charging(m, p).Deliver(ctx, delivery(t, lesson))
			if o.Kind != tt.kind || (err != nil) != (tt.kind == "") || len(p.requests()) != tt.requests {
				t.Errorf("got %+v and error %v after %d requests, want %q after %d", o, err, len(p.requests()), tt.kind, tt.requests)
			}
			if says := fmt.Sprintf("stripe answered %d", tt.now.status); tt.now.status >= 400 && !strings.Contains(fmt.Sprint(err), says) {
				t.Errorf("got error %v, want one that says %q", err, says)
			}
		})
	}
}
