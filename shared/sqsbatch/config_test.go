package sqsbatch_test

import (
	"errors"
	"testing"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		config sqsbatch.Config
		field  string // "" where it is complete
	}{
		{"OK", sqsbatch.Config{Handler: &hand{}}, ""},
		{"OKWithQueue", sqsbatch.Config{Handler: &hand{}, Queue: &hider{}, QueueURL: queueURL}, ""},
		{"OKWithDeadLetterURL", sqsbatch.Config{Handler: &hand{}, Queue: &hider{}, QueueURL: queueURL, DeadLetterURL: deadLetterURL}, ""},
		{"ErrHandlerMissing", sqsbatch.Config{}, "Handler"},
		{"ErrHandlerIncomplete", sqsbatch.Config{Handler: &intent.Blind[order]{}}, "Effect"},
		{"ErrQueueURLMissing", sqsbatch.Config{Handler: &hand{}, Queue: &hider{}}, "QueueURL"},
		{"ErrDeadLetterURLWithoutQueue", sqsbatch.Config{Handler: &hand{}, DeadLetterURL: deadLetterURL}, "DeadLetterURL"},
		{"ErrDeadLetterURLIsQueueURL", sqsbatch.Config{Handler: &hand{}, Queue: &hider{}, QueueURL: queueURL, DeadLetterURL: queueURL}, "DeadLetterURL"},
		{"ErrConcurrencyNegative", sqsbatch.Config{Handler: &hand{}, Concurrency: -1}, "Concurrency"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			batch, err := sqsbatch.New(tt.config)
			var wrong *intent.ConfigError
			switch {
			case tt.field == "" && (err != nil || batch == nil):
				t.Errorf("got %v and error %v, want a batch", batch, err)
			case tt.field != "" && (!errors.As(err, &wrong) || wrong.Field != tt.field || batch != nil):
				t.Errorf("got %v and error %v, want a ConfigError about %s", batch, err, tt.field)
			}
		})
	}
}
