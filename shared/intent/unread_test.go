package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest"
)

// A payload that nobody has read is no object, and no effect gets it.
func TestPayloadThatWasNotRead(t *testing.T) {
	var none intent.Payload
	if none.IsObject() || none.Field("a") != nil || len(none.Canonical()) != 0 {
		t.Errorf("got %+v, want nothing in it", none)
	}
	_, err := intent.Decode[order](none)
	if wrong := (*intent.PayloadError)(nil); !errors.As(err, &wrong) || wrong.Reason != "is missing" {
		t.Errorf("got error %v, want that it is missing", err)
	}
}

// strict is a field that reads itself, and says of which field it is.
type strict struct{}

func (*strict) UnmarshalJSON([]byte) error {
	return &intent.PayloadError{Field: "strict", Reason: "is not what it should be"}
}

// What a type says of its own field is what is told.
func TestFieldThatReadsItself(t *testing.T) {
	_, err := intent.Decode[struct{ A strict }](intenttest.Payload(t, `{"A":1}`))
	if wrong := (*intent.PayloadError)(nil); !errors.As(err, &wrong) || wrong.Field != "strict" || wrong.Reason != "is not what it should be" {
		t.Errorf("got error %v, want the field's own", err)
	}
}

// unasked is a store that nobody is to ask.
type unasked struct {
	intent.Store
	t *testing.T
}

func (u unasked) Load(context.Context, string) (intent.Record, error) {
	u.t.Error("the store was asked")
	return intent.Record{}, nil
}

// A key that cannot be one is not looked up.
func TestLookupOfABadKey(t *testing.T) {
	_, err := intent.Lookup(t.Context(), unasked{t: t}, intent.Key{Scope: "shop", Operation: "charge"})
	if wrong := (*intent.KeyError)(nil); !errors.As(err, &wrong) {
		t.Errorf("got error %v, want the key's", err)
	}
}

// Why an outcome is unknown is said once.
func TestUnknownIsSaidOnce(t *testing.T) {
	both(t, func(t *testing.T, c class) {
		for _, failed := range []error{errors.New("connection reset"), intent.ErrUnknown, intent.ErrWritesRejected} {
			w := newWorld(t)
			w.store.plan = on("amend completed", 1, fault{err: failed, dropped: true})
			if failed != intent.ErrWritesRejected {
				w.store.plan = nil
				w.effect = func(context.Context, intent.Attempt) (any, error) { return nil, failed }
			}
			o, err := w.deliver(c, book)
			text := errors.Join(err, o.Cause).Error()
			want := 1
			if failed == intent.ErrUnknown {
				want = 2 // the effect's own, which nobody looks into
			}
			if got := strings.Count(text, intent.ErrUnknown.Error()); got != want {
				t.Errorf("%v: %q says so %d times, want %d", failed, text, got, want)
			}
		}
	})
}
