// Package charge is the work that all contenders guard: an effect that does nothing but give a result.
package charge

// Order is the body of a message.
type Order struct {
	Key         string `json:"idempotency_key"`
	UserID      string `json:"user_id"`
	AmountCents int64  `json:"amount_cents"`
	Currency    string `json:"currency"`
}

// Receipt is the effect's result.
type Receipt struct {
	ChargeID string `json:"charge_id"`
}

// Receipt is what the provider would answer.
func (o Order) Receipt() Receipt { return Receipt{"ch_" + o.Key} }
