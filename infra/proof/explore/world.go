package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
	traits
	chooser  chooser
	db       *memdb.DB
	store    *dynamo.Store // of those who look on
	far      farSide
	subjects []*subject // the intents
	workers  []*worker
	messages int
	inBatch  []int         // the intents of a batch's members
	off      time.Duration // how far the clocks that are off are ahead

	retention time.Duration // of records that are written now
	sent      time.Time     // when the first messages were
	current   Class         // of effects, where that changes
	unkept    bool          // a result could not be kept
	judging   sync.Mutex    // deliveries of a batch may end while a call of theirs changes records
	mu        sync.Mutex
	pending   []event // guarded, since several callers may be cut off at once
	serving   fate    // of the call that the table serves, where it is the table's doing
	story     []line
	fault     string // the first that was found
}

// line is a part of a history's story. It is put into words only where it is read.
type line struct {
	at     time.Duration
	format string
	args   []any
}

// history runs one in a bubble, on whose clock it takes hours.
func (s setting) history(t *testing.T, c chooser) *world {
	w := &world{setting: s, traits: s.class.traits(), chooser: c, messages: s.side, retention: longer}
	synctest.Test(t, func(t *testing.T) {
		// A bubble's clock begins in 2000, and times from outside are read within bounds.
		time.Sleep(time.Until(start))
		w.db = memdb.New(memdb.Config{Plan: w.planned, Tables: []memdb.Table{
			{Name: records, Keys: []string{"intent"}, TTL: "expires_at"}, {Name: accounts, Keys: []string{"account"}},
		}})
		w.store = dynamo.New(w.db, records)
		w.far = farSide{padded: w.padded, effects: map[string][]taken{}, answers: map[string]answer{}}
		w.newSubjects()
		if err := w.open(); err != nil {
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

// start is when a history begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, line{time.Since(start), format, args})
}

func (w *world) fail(format string, args ...any) {
	w.say("FAULT: "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
}

func (w *world) choose(options int) int { return w.chooser.choose(options) }

// newSubjects makes the intents, and chooses what is the same throughout a history.
func (w *world) newSubjects() {
	w.subjects, w.inBatch, w.current = []*subject{{key: key, kind: w.kind}}, []int{0}, w.kind
	for n := 1; n < w.members; n++ {
		w.subjects = append(w.subjects, &subject{key: []intent.Key{key, companion, third}[n], kind: w.kind})
		w.inBatch = append(w.inBatch, n)
	}
	switch {
	case w.members == 3 && w.choose(2) == 1:
		w.inBatch[2], w.subjects = 0, w.subjects[:2]
		w.say("the third of a batch is another message of the first intent")
	case w.nested:
		inner := inners[w.choose(len(inners))]
		w.subjects = append(w.subjects, &subject{key: intent.Key{Scope: key.Scope, Operation: "receipt", ID: inner.id}, kind: inner.kind})
		w.say("the inner intent is %s of %s", inner.kind, inner.id)
	case w.changes:
		w.current = []Class{Keyed, Blind, Ledger}[w.choose(3)]
	case w.aged:
		w.retention = shortest
	}
}

// batch are the intents that a worker delivers. Where effects deliver an intent of
// their own, the second message asks for that one.
func (w *world) batch(k *worker) []int {
	if w.nested && k.message == 1 {
		return []int{1}
	}
	return w.inBatch
}

// subject is the intent with that key.
func (w *world) subject(k intent.Key) *subject {
	for _, s := range w.subjects {
		if s.key == k {
			return s
		}
	}
	panic("no such intent: " + k.String())
}

// run is the history: some deliveries side by side, and then redelivery of each
// message until it has its answer. After that some may come late.
func (w *world) run() {
	if w.aged {
		w.sent = time.Now()
		time.Sleep(queued[w.choose(len(queued))])
	}
	for n := range w.side {
		w.deliver(n, 0).sent = w.sent
	}
	w.schedule(w.workers)
	w.untilAnswered()
	if w.aged {
		w.comeLate()
	}
	w.arriveAll()
	for _, s := range w.subjects {
		if fault := w.end(s).fault(); fault != "" {
			w.fail("%s %s: %s", s.key.Operation, s.key.ID, fault)
		}
	}
}

// untilAnswered redelivers each message until it has its answer. After that an
// operator may settle a doubt and redrive what was told of it.
func (w *world) untilAnswered() {
	for range maxRounds {
		open := w.last(func(t *told) bool { return !t.final() && !t.nested })
		if len(open) > 0 {
			w.pause()
			w.takeBack(open)
			if w.nested && w.subjects[1].last.State == intent.StateInDoubt { // for which the outer one waits
				w.settleDoubt(w.subjects[1])
				open = w.last(func(t *told) bool { return !t.nested && (!t.final() || t.outcome.Kind == intent.InDoubt) })
			}
		} else if open = w.last(func(t *told) bool { return t.outcome.Kind == intent.InDoubt && !t.nested }); len(open) == 0 || !w.operate() {
			return
		}
		var next []*worker
		for _, k := range open {
			again := w.deliver(k.message, k.body)
			again.sent = k.sent
			next = append(next, again)
		}
		w.schedule(next)
	}
}

// takeBack goes back to the class that has claimed, where a release with another one
// cannot go on.
func (w *world) takeBack(open []*worker) {
	if s := w.subjects[0]; w.changes && slices.ContainsFunc(open, func(k *worker) bool { return errors.Is(k.told[0].err, intent.ErrOtherClass) }) {
		if w.current = Keyed; s.blindly {
			w.current = Blind
		}
		w.say("the release is taken back")
	}
}

func (w *world) deliver(message int, b body) *worker {
	k := &worker{world: w, number: len(w.workers), message: message, body: b, held: map[intent.Key]bool{}}
	w.workers = append(w.workers, k)
	return k
}

// last are the last deliveries of the messages for which that was told such a thing
// of one of its intents.
func (w *world) last(such func(*told) bool) (some []*worker) {
	for m := range w.messages {
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

// operate is an operator who may settle a doubt.
func (w *world) operate() bool {
	s := w.subjects[0]
	if s.last.State != intent.StateInDoubt || s.foreign != nil || w.choose(2) == 0 {
		return false
	}
	w.settleDoubt(s)
	return true
}

// settleDoubt ends a doubt by what the far side shows.
func (w *world) settleDoubt(s *subject) {
	next := s.last
	if done := w.effects(s); len(done) > 0 {
		next = next.Finish(intent.StateCompleted, w.completion(s, done[0].receipt), time.Now(), w.retention)
	} else {
		w.ruleOut()
		next.State, next.Owner, next.ClaimedAt, next.Reason = intent.StateReleased, intent.NewOwner(), time.Time{}, "operator"
	}
	w.say("an operator settles: %s", next.State)
	if _, err := w.store.Replace(context.Background(), s.last, next); err != nil {
		w.fail("settle: %v", err)
	}
	w.changed("settle", nil)
}
