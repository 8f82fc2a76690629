package stripe

import (
	"maps"
	"slices"
	"time"
)

// Charge is one movement of money: what must happen once an intent.
type Charge struct {
	ID             string
	PaymentIntent  string
	Customer       string
	PaymentMethod  string
	Amount         int64 // in the currency's smallest unit
	Currency       string
	IdempotencyKey string            // as sent; a client library may have drawn it itself
	Metadata       map[string]string // as sent
	At             time.Time         // by Config.Now
}

// Charges is a list of charges in the order they were made. Declined ones are not among them: they
// moved no money.
type Charges []Charge

// ByKey counts the charges made under each idempotency key; those without one are under "".
func (c Charges) ByKey() map[string]int {
	return c.count(func(charge Charge) string { return charge.IdempotencyKey })
}

// ByCustomer counts the charges of each customer.
func (c Charges) ByCustomer() map[string]int {
	return c.count(func(charge Charge) string { return charge.Customer })
}

// ByMetadata counts the charges by the value of one metadata key; those without it are under "".
func (c Charges) ByMetadata(key string) map[string]int {
	return c.count(func(charge Charge) string { return charge.Metadata[key] })
}

func (c Charges) count(name func(Charge) string) map[string]int {
	counts := map[string]int{}
	for _, charge := range c {
		counts[name(charge)]++
	}
	return counts
}

// Charges returns every charge made so far; its length is their total.
func (s *Server) Charges() Charges {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.charges)
}

// Settle ends every PaymentIntent that is processing: the money moves now. It returns how many there
// were. The answers stored under their idempotency keys stay what they were: at Stripe, too, a replay
// shows the first answer and only a GET the present state.
func (s *Server) Settle() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	settled := 0
	for _, id := range slices.Sorted(maps.Keys(s.intents)) {
		if intent := s.intents[id]; intent.Status == statusProcessing {
			s.chargeLocked(intent)
			settled++
		}
	}
	return settled
}

// chargeLocked moves the money of intent.
func (s *Server) chargeLocked(intent *paymentIntent) {
	id := s.nextIDLocked("ch")
	intent.Status = statusSucceeded
	intent.AmountReceived = intent.Amount
	intent.LatestCharge = &id
	s.charges = append(s.charges, Charge{
		ID:             id,
		PaymentIntent:  intent.ID,
		Customer:       intent.request.Customer,
		PaymentMethod:  intent.request.PaymentMethod,
		Amount:         intent.Amount,
		Currency:       intent.Currency,
		IdempotencyKey: intent.request.Key,
		Metadata:       maps.Clone(intent.Metadata),
		At:             s.config.Now(),
	})
}
