package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/singleeffect/once/infra/bench/message"
	"github.com/singleeffect/once/infra/proof/scoreboard/board"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// bare sends nothing but the requests of new batches, one after the other, with the SDK as it is: what no guard that makes them can be
// faster than. They are ours to the letter, taken down where our own handler makes them, on the in-memory API.
type bare struct {
	batch    *sqsbatch.Batch
	recorder *recorder
	client   *dynamodb.Client // in front of it the delay
}

// recorder takes down the requests.
type recorder struct {
	*memdb.DB
	requests []*dynamodb.BatchExecuteStatementInput
}

func (r *recorder) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	r.requests = append(r.requests, in) // a batch makes them one after the other
	return r.DB.BatchExecuteStatement(ctx, in, options...)
}

func (b *bench) bare(ctx context.Context, endpoint string) (*bare, error) {
	table, err := b.createTable(ctx, "intent")
	if err != nil {
		return nil, err
	}
	r := &recorder{DB: memdb.New(memdb.Config{Tables: []memdb.Table{{Name: table, Keys: []string{"intent"}}}})}
	batch, err := keyed(dynamo.New(r, table))
	if err != nil {
		return nil, err
	}
	return &bare{batch, r, board.Engine{Endpoint: endpoint}.Client()}, nil
}

// keyed is our contender in this process.
func keyed(store intent.Store) (*sqsbatch.Batch, error) {
	return sqsbatch.New(sqsbatch.Config{Handler: keyedHandler(intent.Config{Scope: "bench", Operation: "charge", Store: store})})
}

// handle runs one event in this process.
func handle(ctx context.Context, batch *sqsbatch.Batch, keys ...string) error {
	content, err := message.Event(keys...)
	if err != nil {
		return err
	}
	var event events.SQSEvent
	if err := json.Unmarshal(content, &event); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	response, err := batch.Handle(ctx, event)
	if err == nil && len(response.BatchItemFailures) > 0 {
		err = fmt.Errorf("%d messages listed", len(response.BatchItemFailures))
	}
	return err
}

var errRefused = errors.New("a statement was refused")

// run takes down the requests of new batches, and then sends them.
func (f *bare) run(ctx context.Context, batches int) (s sample, err error) {
	keys := message.Keys(batches)
	f.recorder.requests = nil
	for i := range batches {
		if err := handle(ctx, f.batch, keys[i*message.Batch:(i+1)*message.Batch]...); err != nil {
			return s, err
		}
	}
	if got := len(f.recorder.requests); got != 2*batches {
		return s, fmt.Errorf("%d requests for %d batches, want two each", got, batches)
	}
	s.messages = len(keys)
	begin := time.Now()
	for i := range batches {
		start := time.Now()
		for _, in := range f.recorder.requests[2*i : 2*i+2] {
			out, err := f.client.BatchExecuteStatement(ctx, in)
			if err != nil {
				return s, err
			}
			for _, response := range out.Responses {
				if response.Error != nil {
					return s, fmt.Errorf("%w: %s", errRefused, response.Error.Code)
				}
			}
		}
		s.batches = append(s.batches, time.Since(start))
	}
	s.wall = time.Since(begin)
	return s, nil
}
