// Package naivetest tells what the twins are for: the handler of the tutorials is
// right while nothing dies, and works twice when something does.
package naivetest

import (
	"context"
	"runtime"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/infra/naive"
	"github.com/singleeffect/once/shared/intenttest"
)

// Twin is what is tested. Message gives a body with that key; Effects counts,
// where they happen, the effects of all messages so far.
type Twin struct {
	DB      *dynamodb.Client
	Effect  naive.Effect
	Message func(key string) string
	Effects func() int
}

// Deliveries delivers messages to the twin, and lets it die between its effect
// and its mark.
func Deliveries(t *testing.T, twin Twin) {
	marks := intenttest.Table(t, twin.DB, "intent")
	whole := naive.Handler{DB: twin.DB, Marks: marks, Effect: twin.Effect}
	dying := whole
	dying.Effect = func(ctx context.Context, body []byte) error {
		err := twin.Effect(ctx, body)
		if err == nil {
			runtime.Goexit() // nothing that the handler does comes after this
		}
		return err
	}
	steps := []struct {
		name    string
		handler naive.Handler
		key     string
		answers bool
		effects int // by this delivery
		marked  bool
	}{
		{"first delivery", whole, "order-1", true, 1, true},
		{"redelivery", whole, "order-1", true, 0, true},
		{"killed between effect and mark", dying, "order-2", false, 1, false},
		{"redelivery after the kill", whole, "order-2", true, 1, true}, // the second effect of one intent
		{"one more", whole, "order-2", true, 0, true},
	}
	for _, step := range steps {
		before := twin.Effects()
		answered := deliver(t, step.handler, twin.Message(step.key))
		if answered != step.answers {
			t.Errorf("%s: answered is %t, want %t", step.name, answered, step.answers)
		}
		if got := twin.Effects() - before; got != step.effects {
			t.Errorf("%s: got %d effects, want %d", step.name, got, step.effects)
		}
		if got := marked(t, twin.DB, marks, step.key); got != step.marked {
			t.Errorf("%s: marked is %t, want %t", step.name, got, step.marked)
		}
	}
}

// deliver hands over one message and tells whether the handler lived to answer.
func deliver(t *testing.T, h naive.Handler, body string) (answered bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		response, err := h.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body}}})
		if err != nil || len(response.BatchItemFailures) > 0 {
			t.Errorf("got response %+v and error %v, want the message done", response, err)
		}
		answered = true
	}()
	<-done
	return answered
}

func marked(t *testing.T, db *dynamodb.Client, marks, key string) bool {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &marks, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"intent": &types.AttributeValueMemberS{Value: key}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item != nil
}
