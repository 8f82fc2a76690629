package intenttest

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// Listed hands the sample event in a file to a batch handler and returns the
// indexes of the messages that its answer lists, in their order; -1 stands for
// an id that is not of the event.
func Listed(t testing.TB, file string, handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)) []int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var event events.SQSEvent
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatal(err)
	}
	response, err := handle(context.Background(), event)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var listed []int
	for _, failure := range response.BatchItemFailures {
		listed = append(listed, slices.IndexFunc(event.Records, func(m events.SQSMessage) bool { return m.MessageId == failure.ItemIdentifier }))
	}
	slices.Sort(listed)
	return listed
}
