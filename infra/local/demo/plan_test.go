package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/singleeffect/once/infra/local/stack"
)

var planned = time.Date(2026, 11, 29, 13, 0, 0, 5e8, time.UTC)

func plan(t *testing.T, n int) []action {
	t.Helper()
	all, err := crowd(n, planned)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Effects are counted by user, account and order, so no two intents of an
// operation may share one, and the crowd none with the lesson.
func TestActionsShareNothing(t *testing.T) {
	const n = 12
	taught, err := lessons(planned)
	if err != nil {
		t.Fatal(err)
	}
	byOperation := map[string]int{}
	seen := map[string]bool{}
	for _, a := range append(plan(t, n), taught...) {
		byOperation[a.operation.name]++
		for _, name := range []string{"user " + a.user, "order " + a.order, "body " + a.body, "key " + a.key().ID} {
			if name == "key " { // natural
				continue
			}
			if seen[a.operation.name+" "+name] {
				t.Errorf("two intents of %s have %s", a.operation.name, name)
			}
			seen[a.operation.name+" "+name] = true
		}
	}
	want := map[string]int{"charge": n + 1, "adjust": n + 1, "ship": n + 1, "clearcart": n + 1, "welcome": n + 1}
	if !maps.Equal(byOperation, want) {
		t.Errorf("got %v intents, want %v", byOperation, want)
	}
}

// The lesson's values are those of the sample events. (The clock stands at the
// hour after the checkout.)
func TestLessonIsOfTheSampleEvents(t *testing.T) {
	taught, err := lessons(planned)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range taught {
		if got, want := fields(t, a.body), fields(t, sample(t, a.operation).Body); !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", a.operation.name, got, want)
		}
	}
}

// The functions' own tests hold the sample events to be acceptable.
func TestActionsAreLikeTheSampleEvents(t *testing.T) {
	for _, a := range plan(t, 1) {
		if got, want := shape(t, a.body), shape(t, sample(t, a.operation).Body); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", a.operation.name, got, want)
		}
	}
}

// sample is the message of an operation's first event.
func sample(t *testing.T, o *operation) events.SQSMessage {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "events", o.name+"-first-delivery.json"))
	if err != nil {
		t.Fatal(err)
	}
	var event events.SQSEvent
	if err := json.Unmarshal(content, &event); err != nil {
		t.Fatal(err)
	}
	return event.Records[0]
}

func fields(t *testing.T, body string) map[string]any {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	return all
}

// shape is a JSON object's fields with the Go types that they decode to.
func shape(t *testing.T, body string) []string {
	t.Helper()
	var all []string
	for name, value := range fields(t, body) {
		all = append(all, fmt.Sprintf("%s %T", name, value))
	}
	slices.Sort(all)
	return all
}

// What the producer says of an intent is the same each time, but that a FIFO queue
// has forgotten it when a retry is late.
func TestInput(t *testing.T) {
	for _, a := range plan(t, 1) {
		t.Run(a.operation.name, func(t *testing.T) {
			url := "http://sqs.local/000000000000/once-" + a.operation.name
			if a.operation == &adjust {
				url += ".fifo"
			}
			first, err := send{action: a}.input(url)
			if err != nil {
				t.Fatal(err)
			}
			if *first.QueueUrl != url || *first.MessageBody != a.body {
				t.Errorf("got %s to %s, want %s to %s", *first.MessageBody, *first.QueueUrl, a.body, url)
			}
			said := map[string]string{}
			for name, attribute := range first.MessageAttributes {
				said[name] = *attribute.StringValue
			}
			want := map[string]string{"Idempotency-Key": a.key().ID, "Intent-Time": strconv.FormatInt(planned.UnixMilli(), 10)}
			if a.operation.natural() {
				want = map[string]string{}
			}
			if !maps.Equal(said, want) {
				t.Errorf("attributes: got %v, want %v", said, want)
			}
			group, id := aws.ToString(first.MessageGroupId), aws.ToString(first.MessageDeduplicationId)
			if a.operation == &adjust && (group != a.user || id != a.key().DeduplicationID()) || a.operation != &adjust && group+id != "" {
				t.Errorf("got group %q and deduplication id %q", group, id)
			}
			for _, late := range []bool{false, true} {
				again, err := send{action: a, late: late}.input(url)
				if err != nil {
					t.Fatal(err)
				}
				same := aws.ToString(again.MessageDeduplicationId) == id
				if want := !late || a.operation != &adjust; same != want {
					t.Errorf("late %t: the deduplication id is the same: %t, want %t", late, same, want)
				}
				again.MessageDeduplicationId = first.MessageDeduplicationId
				if !reflect.DeepEqual(again, first) {
					t.Errorf("late %t: got %+v, want %+v", late, again, first)
				}
			}
		})
	}
}

func TestSends(t *testing.T) {
	all := plan(t, 50)
	sent := sends(all, rand.New(rand.NewPCG(1, 1)))
	times, late, first := map[string]int{}, 0, 0
	for _, s := range sent {
		times[s.body]++
		if s.late {
			late++
		} else {
			first++
		}
	}
	seen := map[int]int{}
	for _, a := range all {
		seen[times[a.body]]++
	}
	if len(times) != len(all) || seen[1] == 0 || seen[2] == 0 || seen[3] == 0 || seen[1]+seen[2]+seen[3] != len(all) {
		t.Errorf("intents by times sent: got %v, want all %d at 1, 2 and 3", seen, len(all))
	}
	if late == 0 || first <= len(all) {
		t.Errorf("got %d late retries and %d of all others, want some late, and some that are not", late, first)
	}
	if again := sends(all, rand.New(rand.NewPCG(1, 1))); !slices.Equal(again, sent) {
		t.Error("one seed makes two orders")
	}
	if other := sends(all, rand.New(rand.NewPCG(2, 1))); slices.Equal(other, sent) {
		t.Error("two seeds make one order")
	}
	if slices.IsSortedFunc(sent, func(a, b send) int { return strings.Compare(a.user, b.user) }) {
		t.Error("the messages are not mixed")
	}
}
