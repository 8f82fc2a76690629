package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

const (
	records, accounts = "records", "accounts"

	// lapsed is when every lease that was taken before is over, by any clock.
	lapsed = timeout + 3*time.Second + 2*time.Second + 2*maxSkew

	// maxSkew is how far a worker's clock may be off.
	maxSkew = 5 * time.Second

	// settled is when a probe's "no" counts, too.
	settled = lapsed + time.Minute

	// maxDeliveries ends a history: by then its faults are over.
	maxDeliveries = 12
)

// Class is what is explored.
type Class string

// The classes, Blind without a probe and with one.
const (
	Keyed  Class = "keyed"
	Blind  Class = "blind"
	Probed Class = "probed"
	Ledger Class = "ledger"

	// Grouped is Keyed in a batch with another intent, whose calls it shares.
	Grouped Class = "grouped"
)

type payload struct {
	Cents int64 `json:"cents"`
}

// event happens at some time after what caused it.
type event struct {
	name   string
	worker int  // whose doing it was
	doubt  bool // it may also never happen: its call was cut off before it was let through
	happen func()
}

// underwayEffect is an effect whose caller heard nothing.
const underwayEffect = "effect under way"

// world is one history.
type world struct {
	class   Class
	chooser chooser
	db      *memdb.DB
	api     dynamo.API
	store   *dynamo.Store // of those who look on
	far     farSide
	workers []*worker
	mu      sync.Mutex
	pending []event       // guarded, since several callers may be cut off at once
	last    intent.Record // as it stands
	story   []string
	fault   string // the first that was found
}

const body = `{"cents":10}`

var fingerprint, _ = intent.FingerprintOf([]byte(body))

var (
	key       = intent.Key{Scope: "proof", Operation: "charge", ID: "k"}
	companion = intent.Key{Scope: "proof", Operation: "charge", ID: "other"}
)

func (w *world) delivery(k intent.Key, n int) intent.Delivery {
	return intent.Delivery{Key: k.ID, Fingerprint: fingerprint, Payload: []byte(body), MessageID: fmt.Sprint("message-", n)}
}

func (w *world) choose(options int) int { return w.chooser.choose(options) }

func (w *world) say(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf("%6.1fs  ", time.Since(start()).Seconds())+fmt.Sprintf(format, args...))
}

// start is when the clock of a bubble begins.
func start() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (w *world) fail(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
	w.say("FAULT: "+format, args...)
}

// handler is a process's.
func (w *world) handler(k *worker) deliverer {
	store := dynamo.New(&gate{db: w.api, w: k}, records)
	c := intent.Config{Scope: key.Scope, Operation: key.Operation, Store: store, Now: k.now}
	switch w.class {
	case Keyed, Grouped:
		return &intent.Keyed[payload]{Config: c, Window: 24 * time.Hour, Effect: k.effect}
	case Ledger:
		return &dynamo.Ledger[payload]{Config: c, Effect: k.ledger}
	case Probed:
		return &intent.Blind[payload]{Config: c, Effect: k.effect, Probe: k.probe}
	}
	return &intent.Blind[payload]{Config: c, Effect: k.effect}
}

// ledger takes the cents from an account that has enough for one.
func (k *worker) ledger(_ context.Context, p payload, _ intent.Attempt) (dynamo.Writes, error) {
	cents := func(n int64) types.AttributeValue { return &types.AttributeValueMemberN{Value: fmt.Sprint(n)} }
	return dynamo.Writes{
		Items: []types.TransactWriteItem{{Update: &types.Update{
			TableName: aws.String(accounts), Key: map[string]types.AttributeValue{"account": &types.AttributeValueMemberS{Value: "a"}},
			UpdateExpression: aws.String("SET balance = balance + :d"), ConditionExpression: aws.String("balance >= :n"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":d": cents(-p.Cents), ":n": cents(p.Cents)},
		}}},
		Result: "r",
		Failed: func([]types.CancellationReason) error { return intent.Refuse("insufficient funds") },
	}, nil
}

// run is the history.
func (w *world) run(sideBySide int) {
	w.last = w.read()
	for n := range sideBySide {
		w.workers = append(w.workers, &worker{world: w, number: n})
	}
	w.schedule(w.workers)
	// Redelivery, until it is decided or reported.
	for range maxDeliveries {
		if w.quiet() {
			break
		}
		if w.class == Probed {
			time.Sleep(settled)
		} else {
			time.Sleep(lapsed)
		}
		w.operate()
		k := &worker{world: w, number: len(w.workers)}
		w.workers = append(w.workers, k)
		w.schedule([]*worker{k})
	}
	for _, e := range w.onTheirWay() {
		if e.doubt && w.choose(2) == 0 {
			continue
		}
		w.say("%s arrives at last", e.name)
		e.happen()
	}
	w.judge()
}

// schedule lets the workers go, one call at a time, until all have ended.
func (w *world) schedule(workers []*worker) {
	var current *worker
	started := 0
	for {
		w.settle(workers[:started])
		var ready []*arrival
		for _, k := range workers[:started] {
			calls, _, _ := k.calls()
			slices.SortFunc(calls, func(a, b *arrival) int { return strings.Compare(a.operation, b.operation) })
			if k == current { // it goes on, if nothing unusual happens
				ready = append(calls, ready...)
			} else {
				ready = append(ready, calls...)
			}
		}
		if len(ready) == 0 && started == len(workers) {
			return
		}
		// Who goes on: one of the ready, a delivery that begins, time, or an event.
		options := len(ready)
		begin, pass, events := -1, -1, -1
		if started < len(workers) {
			begin = options
			options++
		}
		if len(ready) > 0 {
			pass = options
			options++
			events = options
			options += len(w.onTheirWay())
		}
		switch o := w.choose(options); {
		case o < len(ready):
			current = ready[o].worker
			w.step(ready[o])
		case o == begin:
			current = workers[started]
			current.skew = []time.Duration{0, maxSkew, -maxSkew}[w.choose(3)]
			started++
			w.say("delivery %d begins, clock %v ahead", current.number, current.skew)
			current.run(w.handler(current))
		case o == pass:
			w.say("all leases lapse")
			time.Sleep(lapsed)
		default:
			e := w.onTheirWay()[o-events]
			w.pending = slices.Delete(w.pending, o-events, o-events+1)
			w.say("%s arrives", e.name)
			e.happen()
		}
	}
}

// settle waits until every process waits for leave with a call. Time passes only
// where one does not: who backs off, or waits for company, goes on then.
func (w *world) settle(workers []*worker) {
	synctest.Wait()
	for range 60 {
		busy := false
		for _, k := range workers {
			calls, running, dead := k.calls()
			for _, a := range calls {
				if dead { // with its process
					a.proceed <- crashBefore
				}
			}
			busy = busy || running && (len(calls) == 0 || dead)
		}
		if !busy {
			return
		}
		time.Sleep(time.Second)
		synctest.Wait()
	}
}

// step lets one call through.
func (w *world) step(a *arrival) {
	k := a.worker
	f := a.fates[w.choose(len(a.fates))]
	w.say("delivery %d: %s: %v", k.number, a.operation, f)
	a.proceed <- f
	synctest.Wait()
	if _, running, _ := k.calls(); !running {
		w.say("delivery %d ends: dead %t, %s, wait %v, %v", k.number, k.dead, k.outcome.Kind, k.outcome.Wait, k.err)
	}
}

// quiet: the intent is decided or in doubt with nobody left to ask, and the message
// has its answer.
func (w *world) quiet() bool {
	k := w.workers[len(w.workers)-1]
	if k.dead || k.err != nil {
		return false
	}
	return k.outcome.Done() || k.outcome.Kind == intent.InDoubt && k.outcome.Wait == 0
}

// operate is an operator who may settle a doubt, by what the far side shows.
func (w *world) operate() {
	if w.last.State != intent.StateInDoubt || w.choose(2) == 0 {
		return
	}
	next := w.last
	if w.far.effects[key.Downstream()] > 0 {
		next = next.Finish(intent.StateCompleted, "r", time.Now(), 90*24*time.Hour)
	} else {
		w.forget(underwayEffect)
		next.State, next.Owner, next.ClaimedAt, next.Reason = intent.StateReleased, intent.NewOwner(), time.Time{}, "operator"
	}
	w.say("an operator settles: %s", next.State)
	if _, err := w.store.Replace(context.Background(), w.last, next); err != nil {
		w.fail("settle: %v", err)
	}
	w.changed("settle")
}

// later puts an event on its way.
func (w *world) later(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, e)
}

// onTheirWay are the events to come, in an order that is the same in every run.
func (w *world) onTheirWay() []event {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.pending, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), strings.Compare(a.name, b.name))
	})
	return w.pending
}

// forget drops what is on its way.
func (w *world) forget(name string) {
	w.pending = slices.DeleteFunc(w.pending, func(e event) bool { return e.name == name })
}
