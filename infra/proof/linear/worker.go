package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
)

// Class is how a history's intent is delivered.
type Class string

// The classes.
const (
	Keyed   Class = "keyed"
	Grouped Class = "grouped" // keyed, and a batch shares its calls
	Blind   Class = "blind"
	Ledger  Class = "ledger"
)

const (
	// variable holds a worker's settings as JSON; a process that has it is one.
	variable = "LINEAR_WORKER"

	// invocations run side by side in one worker.
	invocations = 2

	scope = "linear"

	// The margins are short, so that leases lapse soon.
	leaseMargin = 300 * time.Millisecond
	skewMargin  = 300 * time.Millisecond
)

// settings are what a worker is told at its start.
type settings struct {
	Parent   string // its URL
	Next     string // its path for work
	Endpoint string // of DynamoDB
	Records  string // the tables
	Accounts string
	Seed     uint64
	Broken   breach
}

// batch is one invocation's.
type batch struct {
	Class      Class
	Deadline   int64 // in ms
	Deliveries []message
}

// message is a delivery as the worker sees it.
type message struct {
	Delivery int
	Intent   string
	Payload  int
}

// call is what the far side is asked.
type call struct {
	Delivery int
	Attempt  int
}

// reply is what it answers.
type reply struct {
	Verdict verdict
	Receipt string
}

// answer is how a delivery ended. Without a kind it does not know.
type answer struct {
	Delivery int
	Kind     intent.Kind
	Attempt  int
	Result   string
	Wait     time.Duration
}

// Work makes this process a worker if it was started as one, and does not come back
// then.
func Work() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var w worker
	if err := json.Unmarshal([]byte(text), &w.settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w.run()
}

type worker struct {
	settings
	handlers map[Class]handler
}

type handler interface {
	Deliver(context.Context, intent.Delivery) (intent.Outcome, error)
}

func (w *worker) run() {
	var api dynamo.API = dynamodb.New(dynamodb.Options{
		Region: "eu-central-1", BaseEndpoint: &w.Endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}, dynamo.Tune, func(o *dynamodb.Options) { o.HTTPClient = newNetwork(w.Seed) })
	if w.Broken != "" {
		api = broken{api, w.Broken}
	}
	config := func(c Class) intent.Config {
		return intent.Config{Scope: scope, Operation: string(c), Store: dynamo.New(api, w.Records), LeaseMargin: leaseMargin, SkewMargin: skewMargin}
	}
	w.handlers = map[Class]handler{
		Keyed:   &intent.Keyed[any]{Config: config(Keyed), Window: 24 * time.Hour, Effect: w.effect},
		Grouped: &intent.Keyed[any]{Config: config(Grouped), Window: 24 * time.Hour, Effect: w.effect},
		Blind:   &intent.Blind[any]{Config: config(Blind), Effect: w.effect},
		Ledger:  &dynamo.Ledger[any]{Config: config(Ledger), Effect: w.plan},
	}
	var running sync.WaitGroup
	for range invocations {
		running.Go(func() {
			for {
				var b batch
				if w.ask(context.Background(), w.Next, nil, &b) != nil {
					return // the parent is gone
				}
				w.invoke(b)
			}
		})
	}
	running.Wait()
	os.Exit(0)
}

// invoke delivers a batch, each message beside the others.
func (w *worker) invoke(b batch) {
	ctx, cancel := context.WithDeadline(context.Background(), time.UnixMilli(b.Deadline))
	defer cancel()
	deliver, leave := w.handlers[b.Class].Deliver, func() {}
	if b.Class == Grouped {
		deliver, leave = w.handlers[b.Class].(*intent.Keyed[any]).Group(len(b.Deliveries))
	}
	var running sync.WaitGroup
	for _, m := range b.Deliveries {
		running.Go(func() {
			a := m.deliver(ctx, deliver)
			leave()
			if err := w.ask(context.Background(), "/answer", a, nil); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1) // as when killed: the delivery is unknown
			}
		})
	}
	running.Wait()
}

func (m message) deliver(ctx context.Context, deliver func(context.Context, intent.Delivery) (intent.Outcome, error)) answer {
	a := answer{Delivery: m.Delivery}
	payload, err := intent.ParsePayload(fmt.Appendf(nil, `{"payload":%d}`, m.Payload))
	if err != nil {
		return a
	}
	o, err := deliver(ctx, intent.Delivery{Key: m.Intent, Payload: payload, Fingerprint: payload.Fingerprint(), MessageID: strconv.Itoa(m.Delivery)})
	switch {
	case err == nil:
		a.Kind, a.Attempt, a.Wait = o.Kind, o.Attempt, o.Wait
		a.Result = resultOf(o)
	case errors.Is(err, intent.ErrReleased) && !errors.Is(err, intent.ErrUnknown) && !errors.Is(err, intent.ErrLost):
		a.Kind = released
	}
	return a
}

// resultOf is the receipt in an outcome; empty where there is none.
func resultOf(o intent.Outcome) (receipt string) {
	if o.Result.JSON != nil && json.Unmarshal(o.Result.JSON, &receipt) != nil {
		receipt = string(o.Result.JSON) // what no far side gave
	}
	return receipt
}

var errFarSide = errors.New("no word of the far side")

// effect is at the parent's far side.
func (w *worker) effect(ctx context.Context, _ any, a intent.Attempt) (any, error) {
	r, err := w.call(ctx, a)
	switch {
	case err != nil:
		return nil, err
	case r.Verdict == yes:
		return r.Receipt, nil
	case r.Verdict == no:
		return nil, intent.Answered(intent.NotApplied(errFarSide))
	case r.Verdict == declined:
		return nil, intent.Answered(intent.Refuse(r.Receipt))
	}
	return nil, errFarSide
}

// plan is a ledger's effect: its row counts what happened.
func (w *worker) plan(ctx context.Context, _ any, a intent.Attempt) (dynamo.Writes, error) {
	r, err := w.call(ctx, a)
	switch {
	case err != nil:
		return dynamo.Writes{}, err
	case r.Verdict == declined:
		return dynamo.Writes{}, intent.Refuse(r.Receipt)
	}
	return dynamo.Writes{Result: r.Receipt, Items: []types.TransactWriteItem{{Update: &types.Update{
		TableName: &w.Accounts, Key: map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: a.Key.ID}},
		UpdateExpression:          aws.String("ADD effects :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	}}}}, nil
}

func (w *worker) call(ctx context.Context, a intent.Attempt) (r reply, err error) {
	delivery, err := strconv.Atoi(a.MessageID)
	if err == nil {
		err = w.ask(ctx, "/effect", call{delivery, a.Number}, &r)
	}
	return r, err
}

// ask makes a request to the parent.
func (w *worker) ask(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Parent+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, response.Status)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(out)
}
