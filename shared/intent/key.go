package intent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxKeyBytes is the most a record's partition key may measure, in bytes, after
// escaping. DynamoDB allows 2,048; the other half is left for the sibling item
// that carries a large result under a key made of this one and the owner.
const MaxKeyBytes = 1024

// separator stands between the parts of a record's key. It is escaped inside
// them, so that no part can imitate it: ("a#b", "c") and ("a", "b#c") differ.
const separator = "#"

var escaper = strings.NewReplacer("%", "%25", separator, "%23")

// Key names an intent: what must take effect once. Two operations with one ID
// are two intents, and so are two scopes.
type Key struct {
	Scope     string // the deployment; never taken from a message
	Operation string // the server's name for the effect
	ID        string // the caller's name for the action, the same in every retry
}

// Validate returns a *KeyError that names the part at fault: an empty one, one
// that is not UTF-8 (DynamoDB would store two such keys as one), or a key of
// more than MaxKeyBytes. A key is never shortened or hashed to fit.
func (k Key) Validate() error {
	for _, part := range []struct{ field, text string }{
		{"scope", k.Scope}, {"operation", k.Operation}, {"key", k.ID},
	} {
		if part.text == "" {
			return &KeyError{Field: part.field, Reason: "is empty"}
		}
		if !utf8.ValidString(part.text) {
			return &KeyError{Field: part.field, Reason: "is not UTF-8"}
		}
	}
	if n := len(k.String()); n > MaxKeyBytes {
		return &KeyError{Field: "key", Reason: fmt.Sprintf("makes an intent of %d bytes, the limit is %d", n, MaxKeyBytes)}
	}
	return nil
}

// ShortHash names the intent in logs and reasons, which hold no keys: the first 12
// hexadecimal digits of the SHA-256 of the record's key.
func (k Key) ShortHash() string { return ShortHash(k.String()) }

// ShortHash is the first 12 hexadecimal digits of the SHA-256 of a text that must not
// be told.
func ShortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// String is the record's partition key: the escaped parts with a separator
// between them.
func (k Key) String() string {
	return escaper.Replace(k.Scope) + separator + escaper.Replace(k.Operation) + separator + escaper.Replace(k.ID)
}

// Downstream is the idempotency key to hand to a provider: 36 characters in the
// form of a UUID (version 8, RFC 9562), made of the key alone, so the same in
// every attempt, process and release.
func (k Key) Downstream() string {
	sum := sha256.Sum256([]byte(k.String()))
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// DeduplicationID is what a producer gives a FIFO queue for the intent: 64
// characters, since SQS takes 128 and a key may have more (Amazon SQS API
// reference, SendMessage). SQS drops a second one for five minutes only, and
// rewrites it on the move to a dead-letter queue: it spares deliveries, and is
// never the source of a key. It drops one with another payload, too: a producer that
// corrects its message within that time needs a new key.
func (k Key) DeduplicationID() string {
	sum := sha256.Sum256([]byte(k.String()))
	return hex.EncodeToString(sum[:])
}
