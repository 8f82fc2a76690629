package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// The margins have defaults of seconds, which the clock of one machine does not need, and a schedule would wait for.
const (
	leaseMargin = 200 * time.Millisecond
	skewMargin  = 200 * time.Millisecond
	probeAfter  = 100 * time.Millisecond

	// Slack is how long after the end of an invocation's lease another may go on, be it by a probe.
	Slack = skewMargin + probeAfter
)

// once is a Blind effect, since the far side knows no keys, whose probe asks the far side. Each queue has its operation.
func once(s settings) (handler, error) {
	store := dynamo.New(dynamo.NewClient(s.aws), s.table)
	batches := map[string]*sqsbatch.Batch{}
	for _, operation := range []string{"charge", "ship"} {
		batch, err := sqsbatch.New(sqsbatch.Config{Handler: &intent.Blind[json.RawMessage]{
			Config: intent.Config{
				Scope:       "scoreboard",
				Operation:   operation,
				Store:       store,
				Retention:   s.retention,
				LeaseMargin: leaseMargin,
				SkewMargin:  skewMargin,
				Lease:       3 * time.Second, // of contexts without a deadline, of which there is none here
			},
			Effect: func(ctx context.Context, body json.RawMessage, _ intent.Attempt) (any, error) {
				return s.far.call(ctx, body)
			},
			Probe: func(ctx context.Context, body json.RawMessage, _ intent.Attempt) (intent.Verdict, any, error) {
				return probe(ctx, s.far, body)
			},
			ProbeAfter: probeAfter,
		}})
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", operation, err)
		}
		batches[operation] = batch
	}
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		return batches[queue(event)].Handle(ctx, event)
	}, nil
}

func probe(ctx context.Context, f far, body []byte) (intent.Verdict, any, error) {
	var order struct {
		Intent string `json:"intent"`
	}
	if err := json.Unmarshal(body, &order); err != nil {
		return intent.Unknown, nil, err
	}
	switch effects, err := f.effects(ctx, order.Intent); {
	case err != nil:
		return intent.Unknown, nil, err
	case effects > 0:
		return intent.Yes, nil, nil
	}
	return intent.No, nil, nil
}
