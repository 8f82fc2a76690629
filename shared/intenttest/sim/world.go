package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// Records is the table of the intents' records.
const Records = "records"

// Plan is a function's system.
type Plan struct {
	// Name is the function's, and its queue's. A FIFO queue's ends in ".fifo".
	Name string

	// Tables are there beside Records.
	Tables []memdb.Table

	// Records reads the records that the function leaves; nil if it leaves none.
	Records func(*memdb.DB) intent.Store

	// Attributes are the names of message attributes by which what is in quarantine is known: of the reason, and of the id
	// that the message had at first.
	Reason, OriginalID string

	// Shows is what the stories of some hundred histories must tell of: where they do not, little was explored.
	Shows []string

	// New makes the part of a world that is the function's own.
	New func(*World) System

	wrong bool // broken on purpose, so that its calls are not the function's
}

// System is the function's part of one world. Its methods run on the driver's goroutine, Wire's result on others. If it has a
// method Changed, that is called after each write to a table.
type System interface {
	// Wire makes the handler of a process, as the function does at a cold start.
	Wire(p *Process) (Handle, error)

	// Outside says what happens outside, by World.At: what is sent, and how the world moves on.
	Outside()

	// Judge counts at the far side when all is quiet, and reports by World.Fail.
	Judge()
}

// World is one history.
type World struct {
	// Rand is drawn from by the driver alone: in what System's methods and World.At run, and in what a Process reaches.
	Rand *rand.Rand

	// DB is the table's side of the gate: calls here have no faults.
	DB *memdb.DB

	plan    Plan
	system  System
	records intent.Store
	queue   *queues
	sent    []*Sent
	workers []*worker
	timeout time.Duration // of an invocation
	span    time.Duration // within which producers send
	pace    time.Duration // bounds the time between two steps

	faults int     // that may still happen
	odds   float64 // of one, at each call
	calm   bool    // nothing unusual happens any more

	mu      sync.Mutex // guards what handlers' goroutines touch
	waiting []*call
	notes   []string      // of the handlers, since the last look
	arrived chan struct{} // somebody waits, or has ended

	events []event
	parts  map[any]map[string]error // of calls under way, by their input: what becomes of one record's part
	last   map[string]intent.Record // as they stand, by their key
	number int                      // of processes and messages
	story  []string
	fault  string
}

// event happens at its time, on the driver's goroutine.
type event struct {
	at     time.Time
	name   string
	happen func()
}

func newWorld(plan Plan, seed uint64) *World {
	// A bubble's clock begins in 2000, when no handler of ours takes a time for one of today's.
	time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	w := &World{
		Rand: rand.New(rand.NewPCG(seed, 1)), plan: plan, arrived: make(chan struct{}, 1),
		parts: map[any]map[string]error{}, last: map[string]intent.Record{},
	}
	w.DB = memdb.New(memdb.Config{Tables: append([]memdb.Table{{Name: Records, Keys: []string{"intent"}, TTL: "expires_at"}}, plan.Tables...), Plan: w.partly})
	if plan.Records != nil {
		w.records = plan.Records(w.DB)
	}
	w.timeout = []time.Duration{30 * time.Second, 30 * time.Second, 5 * time.Second, 2 * time.Second}[w.Rand.IntN(4)]
	w.span = []time.Duration{time.Second, time.Minute, 10 * time.Minute}[w.Rand.IntN(3)]
	w.pace = []time.Duration{30 * time.Millisecond, 30 * time.Millisecond, 300 * time.Millisecond}[w.Rand.IntN(3)]
	w.odds = []float64{0, 0.03, 0.1, 0.3}[w.Rand.IntN(4)]
	w.faults = 4 + w.Rand.IntN(40)
	w.queue = newQueues(w, plan.Name, 6*w.timeout)
	for range 1 + w.Rand.IntN(4) {
		w.workers = append(w.workers, &worker{world: w})
	}
	w.system = plan.New(w)
	return w
}

// run is the history.
func (w *World) run() {
	w.system.Outside()
	for range w.Rand.IntN(3) {
		w.At(w.Within([]time.Duration{20 * time.Minute, time.Hour, 30 * time.Hour}[w.Rand.IntN(3)]), "redrive", w.queue.redrive)
	}
	for range w.Rand.IntN(3) {
		w.At(w.Within(w.span), "freeze", w.freeze)
	}
	w.settle()
	w.say("all faults cease")
	w.calm = true
	for _, pause := range []time.Duration{0, pastWindows} {
		time.Sleep(pause)
		w.queue.redrive()
		w.settle()
	}
	time.Sleep(drain)
	w.judge()
}

const (
	// pastWindows is when a provider has forgotten every key that it was given before.
	pastWindows = 25 * time.Hour

	// drain is when everything has ended that waits in what was killed.
	drain = 2 * time.Minute
)

// Now is the world's time, of which every process has its own idea.
func (w *World) Now() time.Time { return time.Now() }

// At plans something for the time from now on.
func (w *World) At(from time.Duration, name string, happen func()) {
	w.events = append(w.events, event{time.Now().Add(from), name, happen})
	slices.SortStableFunc(w.events, func(a, b event) int { return a.at.Compare(b.at) })
}

// Unusual draws whether something unusual happens, while it may.
func (w *World) Unusual() bool {
	if w.calm || w.faults == 0 || w.Rand.Float64() >= w.odds {
		return false
	}
	w.faults--
	return true
}

// Say adds a line to the story.
func (w *World) Say(format string, args ...any) { w.say(format, args...) }

func (w *World) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if strings.Contains(line, "deadline exceeded") {
		line = whoseTime.ReplaceAllString(line, "")
	}
	w.story = append(w.story, time.Now().Format("02 15:04:05.000  ")+line)
}

// whoseTime is where an error tells who noticed first that time was over: a try or the pause after it, net/http or its caller; or what
// came too late at that moment. That is their own chance, and the same to everybody else.
var whoseTime = regexp.MustCompile(`( in| after) try \d+| \(Client\.Timeout exceeded while awaiting headers\)| messages=\d+`)

// Fail says that something is wrong. The history goes on.
func (w *World) Fail(format string, args ...any) {
	w.say("FAULT: "+format, args...)
	w.fault = cmp.Or(w.fault, fmt.Sprintf(format, args...))
}

// Within draws a time, of nanoseconds, so that no two things happen at the same one.
func (w *World) Within(d time.Duration) time.Duration {
	return 1 + time.Duration(w.Rand.Int64N(int64(d)))
}

// Soon draws when a producer sends: in some histories all do at once, in others one after the other.
func (w *World) Soon() time.Duration { return w.Within(w.span) }

// Again draws when a producer sends once more: soon after, or much later.
func (w *World) Again() time.Duration {
	return w.Within([]time.Duration{time.Second, time.Minute, 24 * time.Hour}[w.Rand.IntN(3)])
}

// Record is the record of an intent as it stands.
func (w *World) Record(key string) intent.Record {
	r, err := w.records.Load(context.Background(), key)
	if err != nil {
		w.Fail("the record of %s cannot be read: %v", key, err)
	}
	return r
}
