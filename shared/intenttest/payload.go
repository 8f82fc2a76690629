package intenttest

import (
	"testing"

	"github.com/singleeffect/once/shared/intent"
)

// Payload reads a body; one that cannot be read ends the test.
func Payload[T string | []byte](t testing.TB, body T) intent.Payload {
	t.Helper()
	p, err := intent.ParsePayload([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Delivery is a message that asks for an intent with that body.
func Delivery[T string | []byte](t testing.TB, key string, body T) intent.Delivery {
	t.Helper()
	p := Payload(t, body)
	return intent.Delivery{Key: key, Payload: p, Fingerprint: p.Fingerprint(), MessageID: "message-1"}
}
