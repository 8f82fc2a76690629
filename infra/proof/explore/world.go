package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

const (
	records, accounts = "records", "accounts"

	// maxRounds ends a history: by then its faults are over.
	maxRounds = 16
)

// world is one history.
type world struct {
	setting
	chooser  chooser
	db       *memdb.DB
	store    *dynamo.Store // of those who look on
	far      farSide
	subjects []*subject // the intents
	workers  []*worker
	off      time.Duration // how far the clocks that are off are ahead
	mu       sync.Mutex
	pending  []event // guarded, since several callers may be cut off at once
	serving  fate    // of the call that the table serves, where it is the table's doing
	story    []line
	fault    string // the first that was found
}

// line is a part of a history's story. It is put into words only where it is read.
type line struct {
	at     time.Duration
	format string
	args   []any
}

// history runs one in a bubble, on whose clock it takes hours.
func (s setting) history(t *testing.T, c chooser) *world {
	w := &world{setting: s, chooser: c}
	synctest.Test(t, func(t *testing.T) {
		w.db = memdb.New(memdb.Config{Plan: w.planned, Tables: []memdb.Table{
			{Name: records, Keys: []string{"intent"}, TTL: "expires_at"}, {Name: accounts, Keys: []string{"account"}},
		}})
		w.store = dynamo.New(w.db, records)
		w.far = farSide{memory: s.memory(), effects: map[string][]taken{}, answers: map[string]answer{}}
		w.subjects = []*subject{{key: key}}
		if s.class == Grouped {
			w.subjects = append(w.subjects, &subject{key: companion})
		}
		if _, err := w.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(accounts), Item: map[string]types.AttributeValue{
			"account": &types.AttributeValueMemberS{Value: "a"}, "balance": number(opening), "taken": number(0),
		}}); err != nil {
			t.Fatal(err)
		}
		w.run()
	})
	return w
}

// reach is the table as a worker reaches it.
func (w *world) reach(k *worker) dynamo.API {
	if w.sdk {
		return newWire(w.db, k)
	}
	return &gate{db: w.db, w: k}
}

// told is the history in words.
func (w *world) told() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d side by side, %s\n", w.class, w.side, w.chooser)
	for _, l := range w.story {
		fmt.Fprintf(&b, "%6.1fs  %s\n", l.at.Seconds(), fmt.Sprintf(l.format, l.args...))
	}
	return b.String()
}

// start is when the clock of a bubble begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) say(format string, args ...any) {
	w.story = append(w.story, line{time.Since(start), format, args})
}

func (w *world) fail(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
	w.say("FAULT: "+format, args...)
}

func (w *world) choose(options int) int { return w.chooser.choose(options) }

// run is the history: some deliveries side by side, and then redelivery of each
// message until it has its answer. After that an operator may settle a doubt and
// redrive what was told of it.
func (w *world) run() {
	for n := range w.side {
		w.deliver(n, 0)
	}
	w.schedule(w.workers)
	for range maxRounds {
		open := w.last(func(t told) bool { return !t.final() })
		if len(open) > 0 {
			time.Sleep(w.lapse())
		} else if open = w.last(func(t told) bool { return t.outcome.Kind == intent.InDoubt }); len(open) == 0 || !w.operate() {
			break
		}
		var next []*worker
		for _, k := range open {
			next = append(next, w.deliver(k.message, k.body))
		}
		w.schedule(next)
	}
	w.arriveAll()
	for i, s := range w.subjects {
		if fault := w.end(i).fault(); fault != "" {
			w.fail("%s: %s", s.key.ID, fault)
		}
	}
}

func (w *world) deliver(message int, b body) *worker {
	k := &worker{world: w, number: len(w.workers), message: message, body: b, held: map[intent.Key]bool{}}
	w.workers = append(w.workers, k)
	return k
}

// last are the last deliveries of the messages for which that was told such a thing
// of one of its intents.
func (w *world) last(such func(told) bool) (some []*worker) {
	for m := range w.side {
		for _, k := range slices.Backward(w.workers) {
			if k.message == m {
				if slices.ContainsFunc(k.told, such) {
					some = append(some, k)
				}
				break
			}
		}
	}
	return some
}

// operate is an operator who may settle a doubt, by what the far side shows.
func (w *world) operate() bool {
	s := w.subjects[0]
	if s.last.State != intent.StateInDoubt || w.choose(2) == 0 {
		return false
	}
	next := s.last
	if done := w.effects(s); len(done) > 0 {
		next = next.Finish(intent.StateCompleted, done[0].receipt, time.Now(), 90*24*time.Hour)
	} else {
		w.ruleOut()
		next.State, next.Owner, next.ClaimedAt, next.Reason = intent.StateReleased, intent.NewOwner(), time.Time{}, "operator"
	}
	w.say("an operator settles: %s", next.State)
	if _, err := w.store.Replace(context.Background(), s.last, next); err != nil {
		w.fail("settle: %v", err)
	}
	w.changed("settle", nil)
	return true
}
