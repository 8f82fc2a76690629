package canary

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intenttest/memdb"
)

// Records is the table of the records.
const Records = "records"

// Function is one that is to keep what it is told to itself. It is wired as it is deployed, by its environment, and meets services
// of this process: a database, a queue and whatever it calls besides.
type Function struct {
	// Name begins the names of its sample events.
	Name string

	// Keep are the fields of its messages whose form is read, so that a canary in them is poison: they are planted in variants only.
	Keep []string

	// Tables are its own, and Rows what is in them; a canary there stands for what a message says as it does in the message.
	Tables []memdb.Table
	Rows   func(*Set) map[string][]map[string]types.AttributeValue

	// Environment is what it reads besides what all functions do.
	Environment func(*Set) map[string]string

	// Services are what it calls besides, by the variable with the address.
	Services map[string]http.HandlerFunc

	// Wire makes the function of its environment, as its main does.
	Wire func(lookup func(string) (string, bool)) (lambda.Handler, error)
}

// samples is where the sample events lie, seen from a function's folder.
const samples = "../../events/"

// budget is the time of an invocation: what waits for better times ends with it.
const budget = 3 * time.Second

// Test runs the function on each of its samples, on variants of the first delivery, on records that others have changed meanwhile,
// and on services that answer errors which repeat what they were asked.
func (f Function) Test(t *testing.T) {
	r := f.run(t)
	t.Run("samples", r.samples)
	t.Run("variants", r.variants)
	t.Run("records", r.records)
	t.Run("errors", r.errors)
}

// TestSamples runs it on its samples alone: for rows that only some functions meet.
func (f Function) TestSamples(t *testing.T) { f.run(t).samples(t) }

// run is one test of a function.
type run struct {
	function Function
	canaries *Set
	out      *output
	events   map[string][]record // the planted samples, by their names
	first    []record            // that of the first delivery, and a message of another intent
	met      []call              // what the function has called so far
}

func (f Function) run(t *testing.T) *run {
	t.Helper()
	files, err := filepath.Glob(samples + f.Name + "-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("got samples %v and error %v", files, err)
	}
	r := &run{function: f, canaries: &Set{}, out: capture(t), events: map[string][]record{}}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), f.Name+"-"), ".json")
		r.events[name] = r.canaries.plant(decode(content), f.Keep)
		if name == "first-delivery" {
			other := r.canaries.plant(decode(content), f.Keep)[0]
			other["messageId"] = "of-another-intent"
			other["body"] = keyed.ReplaceAllString(other["body"].(string), `"idempotency_key":"`+r.canaries.Text("another intent")+`"`)
			r.first = append(slices.Clone(r.events[name]), other)
		}
	}
	if r.first == nil {
		t.Fatal("there is no sample of a first delivery")
	}
	return r
}

var keyed = regexp.MustCompile(`"idempotency_key":"[^"]*"`)

// on runs one case in a world of its own.
func (r *run) on(t *testing.T, name string, in func(*world)) {
	t.Run(name, func(t *testing.T) {
		w := r.function.world(t, r.canaries, r.out)
		in(w)
		for _, c := range w.calls.met() {
			if !slices.Contains(r.met, c) {
				r.met = append(r.met, c)
			}
		}
	})
}

func (r *run) samples(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(r.events)) {
		r.on(t, name, func(w *world) { w.deliver(encode(r.events[name]...)) })
	}
}

func (r *run) variants(t *testing.T) {
	for _, v := range r.canaries.variants(r.first) {
		r.on(t, v.name, func(w *world) { w.deliver(v.event) })
	}
}

func (r *run) records(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		r.on(t, name, func(w *world) {
			w.deliver(encode(r.first...))
			w.change(t, changes[name])
			w.deliver(encode(r.first...))
			w.deliver(encode(r.first[0])) // alone, which makes other calls
		})
	}
}

// errors has each call fail that was met before, of both messages and of one.
func (r *run) errors(t *testing.T) {
	if len(r.met) == 0 {
		t.Error("the function calls nothing")
	}
	broken := maps.Clone(r.first[0])
	broken["body"] = broken["body"].(string) + "}"
	for _, c := range slices.Clone(r.met) {
		answers := c.errors()
		for _, name := range slices.Sorted(maps.Keys(answers)) {
			r.on(t, fmt.Sprintf("%s %s answers %s", c.service, c.operation, name), func(w *world) {
				w.calls.fail(c, answers[name])
				w.invoke(encode(r.first...))
				w.invoke(encode(r.first[0]))
				w.invoke(encode(broken)) // which goes to the dead-letter queue
			})
		}
	}
}

// world is the function among its services, with nothing done yet.
type world struct {
	t        testing.TB
	canaries *Set
	out      *output
	calls    *calls
	db       *memdb.DB
	handler  lambda.Handler

	mu   sync.Mutex
	told map[string]bool // what was complained of
}

func (f Function) world(t *testing.T, canaries *Set, out *output) *world {
	t.Helper()
	w := &world{t: t, canaries: canaries, out: out, calls: &calls{}, told: map[string]bool{}, db: memdb.New(memdb.Config{
		Tables: append([]memdb.Table{{Name: Records, Keys: []string{"intent"}, TTL: "expires_at"}}, f.Tables...),
	})}
	if f.Rows != nil {
		for table, rows := range f.Rows(canaries) {
			for _, row := range rows {
				if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	serve := func(name string, h http.Handler) string {
		server := httptest.NewServer(w.calls.watch(name, h))
		t.Cleanup(server.Close)
		return server.URL
	}
	queue := serve("sqs", http.HandlerFunc(w.queue))
	environment := map[string]string{
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": canaries.Text("an access key id"),
		"AWS_SECRET_ACCESS_KEY": canaries.Text("a secret access key"), "AWS_SESSION_TOKEN": canaries.Text("a session token"),
		"SCOPE": "123456789012/us-east-1/once", "INTENT_TABLE": Records,
		"LEASE_MARGIN_SECONDS": "3", "RETENTION_DAYS": "90",
		"QUEUE_URL": queue + "/123456789012/once-" + f.Name, "DEAD_LETTER_QUEUE_URL": queue + "/123456789012/once-" + f.Name + "-dead",
		"AWS_ENDPOINT_URL_DYNAMODB": serve("dynamodb", w.db), "AWS_ENDPOINT_URL_SQS": queue,
	}
	if f.Environment != nil {
		for name, value := range f.Environment(canaries) {
			environment[name] = value
		}
	}
	for name, h := range f.Services {
		environment[name] = serve(name, h)
	}
	var err error
	w.handler, err = f.Wire(func(name string) (string, bool) { value, ok := environment[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// deliver is an event and its redelivery.
func (w *world) deliver(event []byte) {
	w.t.Helper()
	w.invoke(event)
	w.invoke(event)
}

// invoke is one invocation, after which nothing that was told may have a canary.
func (w *world) invoke(event []byte) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	if _, err := w.handler.Invoke(ctx, event); err != nil {
		w.look("Lambda logs the error", err.Error())
	}
	for line := range strings.Lines(w.out.next(w.t)) {
		w.look("the output", line)
	}
	for _, row := range w.db.Items(Records) {
		if reason, ok := row["reason"].(*types.AttributeValueMemberS); ok {
			w.look("a record's reason", reason.Value)
		}
	}
}

func (w *world) look(where, text string) {
	w.t.Helper()
	text = moment.ReplaceAllString(text, "")
	found := w.canaries.In(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(found) == 0 || w.told[text] {
		return
	}
	w.told[text] = true
	w.t.Errorf("%s tells %q: %.500s", where, found, text)
}
