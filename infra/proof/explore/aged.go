package explore

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intent"
)

const (
	day = 24 * time.Hour

	// maxAge is how old an intent may be to run where it has no record.
	maxAge = 19 * day

	// shortest is the least retention that DESIGN allows, longer another.
	shortest, longer = 40 * day, 90 * day
)

// queued is how long the first messages lie in their queue before they are delivered.
var queued = []time.Duration{0, maxAge - day, maxAge + day}

// lates are the ways in which a message comes when all others have their answers.
var lates = []struct {
	after time.Duration // all the others
	anew  bool          // its intent is of that day; else of the first
	found finding       // what became of the record meanwhile
}{
	{maxAge + day, false, stands}, {shortest + day, false, stands}, {shortest + 20*day, false, stands}, {longer + day, false, stands},
	{maxAge + day, true, stands}, {shortest + day, true, stands}, {longer + day, true, stands},
	{shortest + day, false, deleted}, {shortest + 20*day, false, deleted}, {shortest + day, true, deleted},
	{maxAge + day, false, otherFormat}, {shortest + day, false, otherFormat}, {shortest + day, true, otherFormat}, {shortest + day, true, otherState},
}

// finding is what became of a record.
type finding int

const (
	stands      finding = iota
	deleted             // TTL has deleted it, if its time was over
	otherFormat         // a newer release has written it, in its own format
	otherState          // or in a state of its own
)

var findingNames = []string{"records stand", "TTL deletes", "records are of another format", "records are in an unknown state"}

// maxLates bounds the late messages of a history.
const maxLates = 2

// comeLate lets months pass, and messages come that were sent long ago or are sent
// again.
func (w *world) comeLate() {
	for range maxLates {
		o := w.choose(1 + len(lates))
		if o == 0 {
			return
		}
		l := lates[o-1]
		w.arriveAll()
		w.say("%v pass, %s; a message comes, sent anew: %t", l.after, findingNames[l.found], l.anew)
		time.Sleep(l.after)
		for _, s := range w.subjects {
			s.yet, s.yetCount, s.yetFrom = w.end(s), w.tally(s), len(w.workers)
		}
		w.become(l.found)
		k := w.deliver(w.messages, 0)
		w.messages++
		if k.sent = w.sent; l.anew {
			k.sent = time.Now()
		}
		w.schedule([]*worker{k})
		w.untilAnswered()
	}
}

// become makes the records into what is found.
func (w *world) become(f finding) {
	if f == deleted {
		w.db.Expire()
	}
	for _, s := range w.subjects {
		switch it := w.item(s); {
		case it == nil && s.last.State != intent.StateAbsent:
			w.expires(s)
			s.last, s.foreign = intent.Record{}, nil
		case it == nil || s.foreign != nil:
		case f == otherFormat, f == otherState:
			it = maps.Clone(it)
			it["v"] = number(intent.Version + 1)
			if f == otherState {
				it["v"], it["state"] = number(intent.Version), &types.AttributeValueMemberS{Value: "archived"}
			}
			if _, err := w.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(records), Item: it}); err != nil {
				w.fail("%v", err)
			}
			s.foreign = it
		}
	}
}

// item is the record of an intent as it lies in the table.
func (w *world) item(s *subject) map[string]types.AttributeValue {
	for _, it := range w.db.Items(records) {
		if name, ok := it["intent"].(*types.AttributeValueMemberS); ok && name.Value == s.key.String() {
			return it
		}
	}
	return nil
}

// kept looks after a record of another release: nobody may touch it.
func (w *world) kept(s *subject, what string) {
	if now := w.item(s); !reflect.DeepEqual(now, s.foreign) {
		w.fail("%s: changes a record that a newer release has written", what)
	}
}

// tally is how much has happened at the far side, and on an intent's account.
type tally struct{ far, taken, cents int64 }

func (w *world) tally(s *subject) tally {
	n := tally{far: int64(len(w.far.effects[s.key.Downstream()]))}
	if account := w.account(s.key.String()); account != nil {
		n.taken, n.cents = numberIn(account, "taken"), opening-numberIn(account, "balance")
	}
	return n
}

// expires judges what an intent came to before its record expired. What comes next has
// that behind it, and is another promise.
func (w *world) expires(s *subject) {
	if fault := s.yet.fault(); fault != "" {
		w.fail("%s %s: %s", s.key.Operation, s.key.ID, fault)
	}
	s.from, s.before = s.yetFrom, s.yetCount
}

// expired reports that a claim may replace the record, by the clock of who makes it.
func expired(r intent.Record, clock time.Time) bool {
	return !r.ExpiresAt.IsZero() && r.ExpiresAt.Before(clock)
}

// old reports that the worker's intent may not run where it has no record.
func (k *worker) old() bool { return !k.sent.IsZero() && k.clock().After(k.sent.Add(maxAge)) }

// turnedAway judges a delivery that was answered from what stands, or not run for that
// or for its age.
func (k *worker) turnedAway(t *told) {
	s := k.world.subjects[t.subject]
	unreadable := (*intent.FormatError)(nil)
	switch live, began := s.last.State != intent.StateAbsent && !expired(s.last, k.clock()), k.ends.Add(k.skew-timeout); {
	case errors.As(t.err, &unreadable) && s.foreign == nil:
		k.world.fail("a record of our own cannot be read: %v", t.err)
	case errors.As(t.err, &unreadable):
		t.away = true
	case errors.Is(t.err, intent.ErrExpired):
		if t.away = true; live && s.foreign == nil || !k.old() {
			k.world.fail("an intent of %v is turned away as too old, and its record is %q", k.clock().Sub(k.sent), s.last.State)
		}
	case t.err == nil && t.outcome.Kind != intent.Executed && expired(s.last, began):
		k.world.fail("a delivery is told %s from a record that has expired", t.outcome.Kind)
	}
}

// pause is how long a message that has no answer is not delivered again.
func (w *world) pause() {
	if w.aged && w.choose(2) == 1 {
		w.say("%v pass", maxAge+day)
		time.Sleep(w.lapse())
		synctest.Wait()
		w.arriveAll()
		time.Sleep(maxAge + day)
	}
	time.Sleep(w.lapse())
}
