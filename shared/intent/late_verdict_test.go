package intent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intent"
)

// An attempt whose claim another has taken over says that it was not applied, and that
// nothing can mend the message. The other's outcome is unknown, so the message comes
// again: what is not written down does not count.
func TestVerdictAfterALostClaim(t *testing.T) {
	for name, verdict := range map[string]error{
		"NotApplied": intent.NotApplied(errProvider),
		"Quarantine": intent.NotApplied(intent.Quarantine(errProvider)),
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			unknown := func(context.Context, intent.Attempt) (any, error) { return nil, errors.New("timeout") }
			w.effect = func(context.Context, intent.Attempt) (any, error) {
				w.effect = unknown
				time.Sleep(lapsed)
				if _, err := w.deliver(keyed, book); !errors.Is(err, intent.ErrUnknown) {
					t.Errorf("the other attempt: got %v, want ErrUnknown", err)
				}
				time.Sleep(lapsed)
				return nil, verdict
			}
			_, err := w.deliver(keyed, book)
			if errors.Is(err, intent.ErrUnprocessable) || errors.Is(err, intent.ErrReleased) || err == nil {
				t.Errorf("got %v, want an error without a verdict", err)
			}
			if err != nil && !strings.Contains(err.Error(), errProvider.Error()) {
				t.Errorf("got %v, want the effect's own error told", err)
			}
			w.wantState(intent.StateClaimed)
		})
	}
}
