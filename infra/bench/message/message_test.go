package message

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

func TestEvents(t *testing.T) {
	keys := Keys(3)
	if len(keys) != 3*Batch || len(slices.Compact(slices.Sorted(slices.Values(append(keys, Keys(3)...))))) != 6*Batch {
		t.Fatalf("keys are not all different: %v", keys)
	}
	all, err := Events(keys)
	if err != nil || len(all) != 3 {
		t.Fatalf("got %d events, %v", len(all), err)
	}
	var got []string
	ids := map[string]bool{}
	for _, content := range all {
		var event events.SQSEvent
		if err := json.Unmarshal(content, &event); err != nil || len(event.Records) != Batch {
			t.Fatalf("got %d messages, %v", len(event.Records), err)
		}
		for _, m := range event.Records {
			var body struct {
				Key string `json:"idempotency_key"`
			}
			if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
				t.Fatal(err)
			}
			got = append(got, body.Key)
			ids[m.MessageId] = true
		}
	}
	if !slices.Equal(got, keys) || len(ids) != len(keys) {
		t.Errorf("got keys %v of %d messages, want %v", got, len(ids), keys)
	}
}

func TestHalf(t *testing.T) {
	seen, fresh := Keys(1), Keys(1)
	var known int
	for _, key := range Half(seen, fresh) {
		switch {
		case slices.Contains(seen, key):
			known++
		case !slices.Contains(fresh, key):
			t.Errorf("%s is of neither", key)
		}
	}
	if known != Batch/2 {
		t.Errorf("%d are seen ones, want %d", known, Batch/2)
	}
}
