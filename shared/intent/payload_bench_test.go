package intent_test

import (
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// bodies are what messages carry: an order, and one with many lines.
var bodies = map[string][]byte{
	"order": []byte(`{"idempotency_key":"order-8821","user_id":"7","amount_cents":1000,"currency":"eur"}`),
	"4KB":   []byte(`{"idempotency_key":"order-8821","lines":[` + strings.Repeat(`{"sku":"A-1","quantity":2,"price_cents":1999},`, 88) + `{"sku":"B-2"}]}`),
}

func BenchmarkFingerprint(b *testing.B) {
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				p, err := intent.ParsePayload(body)
				if err != nil || p.Fingerprint() == (intent.Fingerprint{}) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	type order struct {
		Key         string `json:"idempotency_key"`
		UserID      string `json:"user_id"`
		AmountCents int64  `json:"amount_cents"`
		Lines       []struct {
			SKU      string `json:"sku"`
			Quantity int    `json:"quantity"`
		} `json:"lines"`
	}
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			p := intenttest.Payload(b, body)
			for b.Loop() {
				if o, err := intent.Decode[order](p); err != nil || o.Key != "order-8821" {
					b.Fatal(o, err)
				}
			}
		})
	}
}
