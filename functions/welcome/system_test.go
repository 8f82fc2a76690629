package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/arrival"
	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/intenttest/sim"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// welcomeSystem is a small system around the function: users, those who welcome them, and SES, which counts what leaves.
type welcomeSystem struct {
	*sim.World
	handler func(*welcomeSystem, *sim.Process) sqsbatch.Handler
	mails   map[string]int // by the tag that each carries
}

func simPlan(handler func(*welcomeSystem, *sim.Process) sqsbatch.Handler) sim.Plan {
	return sim.Plan{
		Name:    "welcome",
		Tables:  []memdb.Table{{Name: "users", Keys: []string{userIDAttribute}}, {Name: "emails", Keys: []string{emailIDAttribute}}},
		Records: func(db *memdb.DB) intent.Store { return dynamo.New(db, sim.Records) },
		Reason:  sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{
			"executed", "replayed", "refused <nil>", "in_progress", "conflict <nil>", "in_doubt <nil>", "is hidden", "redriven", "is dead",
			"claimed -> released", "released -> claimed", "claimed -> in_doubt", "deadline exceeded", "ses answers 500",
		},
		New: func(w *sim.World) sim.System {
			return &welcomeSystem{World: w, handler: handler, mails: map[string]int{}}
		},
	}
}

// greeting is the function's own effect, as wire makes it.
func (s *welcomeSystem) greeting(p *sim.Process) (intent.Config, intent.Effect[greeting]) {
	m := mailer{user: usersTable{client: p.DB(), name: "users"}.user, send: s.ses(p).send, emails: "emails", now: p.Now}
	return intent.Config{
		Scope: sim.Scope, Operation: operation, LeaseMargin: 3 * time.Second, Retention: 90 * 24 * time.Hour,
		Store: dynamo.New(p.DB(), sim.Records), Now: p.Now,
	}, m.welcome
}

func blind(c *welcomeSystem, p *sim.Process) sqsbatch.Handler {
	config, effect := c.greeting(p)
	return &intent.Blind[greeting]{Config: config, Effect: effect}
}

// TestSystem: no intent ever has two e-mails; one that is completed has one and its row, one that is refused has none, and one in
// doubt is in quarantine.
func TestSystem(t *testing.T) { sim.Run(t, simPlan(blind)) }

// Taken for one that SES knows by its key, an e-mail is sent again when nobody knows what became of the first.
func TestSystemFindsASecondMail(t *testing.T) {
	sim.Finds(t, simPlan(func(c *welcomeSystem, p *sim.Process) sqsbatch.Handler {
		config, effect := c.greeting(p)
		return &intent.Keyed[greeting]{Config: config, Window: 24 * time.Hour, Effect: effect}
	}), 100, "took effect 2 times")
}

// Wire is the function's, but for the clients.
func (s *welcomeSystem) Wire(p *sim.Process) (sim.Handle, error) {
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(s.handler(s, p)), Queue: p.SQS(), QueueURL: s.QueueURL(), DeadLetterURL: s.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return batch.Handle, nil
}

// Outside has a few users, of whom one has no address, and welcomes them; sometimes under a key that was there before.
func (s *welcomeSystem) Outside() {
	users := 1 + s.Rand.IntN(4)
	for n := range users {
		row := map[string]types.AttributeValue{userIDAttribute: &types.AttributeValueMemberS{Value: fmt.Sprint("user-", n)}}
		if n != 1 {
			row[addressAttribute] = &types.AttributeValueMemberS{Value: fmt.Sprintf("user-%d@example.com", n)}
		}
		if _, err := s.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: row}); err != nil {
			s.Fail("sign up: %v", err)
		}
	}
	for n := range 1 + s.Rand.IntN(12) {
		id, user := fmt.Sprint("k", n), fmt.Sprint("user-", s.Rand.IntN(users+1))
		s.At(s.Soon(), "welcome "+id, func() { s.ask(id, user, signup) })
		if s.Rand.IntN(8) == 0 {
			s.At(s.Soon(), "welcome "+id+" otherwise", func() { s.ask(id, user, winBack) })
		}
	}
	for _, p := range []struct{ body, want string }{
		{`{"user_id":"user-0","kind":"signup"}`, "no_key"},
		{`{"user_id":"user-0","kind":"farewell","idempotency_key":"unknown"}`, "unreadable"},
		{`"signup"`, "unreadable"},
	} {
		if s.Rand.IntN(6) == 0 {
			s.At(s.Soon(), "poison", func() { s.Send(sim.Sent{Want: p.want}, &sqs.SendMessageInput{MessageBody: &p.body}) })
		}
	}
}

// ask sends a welcome, once or more often.
func (s *welcomeSystem) ask(id, user string, k kind) {
	m := sqsbatch.Message{
		Key:  intent.Key{Scope: sim.Scope, Operation: operation, ID: id},
		Time: s.Now(), Body: fmt.Appendf(nil, `{"user_id":%q,"kind":%q}`, user, k),
	}
	in, err := m.Input(s.QueueURL())
	if err != nil {
		s.Fail("send: %v", err)
	}
	s.Produce(sim.Sent{Key: m.Key}, in)
}

// Judge compares the records with what left, and with the rows.
func (s *welcomeSystem) Judge() {
	s.JudgeEffects(func(k intent.Key) int { return s.mails[k.Downstream()] })
	rows := map[string]bool{}
	for _, row := range s.DB.Items("emails") {
		rows[row[emailIDAttribute].(*types.AttributeValueMemberS).Value] = true
	}
	s.Intents(func(k intent.Key, r intent.Record) {
		if rows[k.Downstream()] != (r.State == intent.StateCompleted) {
			s.Fail("%s is %s, and whether it has a row: %t", k, r.State, rows[k.Downstream()])
		}
		delete(s.mails, k.Downstream())
	})
	if len(s.mails) > 0 {
		s.Fail("e-mails that nobody asked for: %v", s.mails)
	}
}

// ses is newSES's client as a process has it, but for the way to SES.
func (s *welcomeSystem) ses(p *sim.Process) sesAPI {
	return sesAPI{from: "once@example.com", client: sesv2.NewFromConfig(sesConfig("http://ses"), func(o *sesv2.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = arrival.Client(simSES{s, p}.Do)
	})}
}

// simSES is a process's way to SES.
type simSES struct {
	system  *welcomeSystem
	process *sim.Process
}

func (r simSES) Do(request *http.Request) (*http.Response, error) {
	// The body leaves when it is read: see package arrival.
	tag := sync.OnceValue(func() string {
		var letter struct {
			EmailTags []struct{ Name, Value string }
		}
		body, _ := io.ReadAll(request.Body) // it is in memory
		if err := json.Unmarshal(body, &letter); err != nil {
			panic(err) // not an e-mail of ours
		}
		return letter.EmailTags[0].Value
	})
	var status int
	var code, text string
	err := r.process.Reach(request.Context(), "SendEmail", func() {
		status, code, text = r.system.take(tag())
		r.system.Say("  ses answers %d %s", status, code)
	})
	if !sim.Unreached(err) { // so it has left, also where it arrives later
		tag()
	}
	if err != nil {
		return nil, err
	}
	answer := fmt.Sprintf(`{"MessageId":"ses-of-%s","message":%q}`, tag(), text)
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Amzn-Errortype": {code}, "Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: request,
	}, nil
}

// take is SES: it sends each letter that it accepts, and sometimes one that it says it did not.
func (s *welcomeSystem) take(tag string) (status int, code, text string) {
	if s.Unusual() {
		switch s.Rand.IntN(6) {
		case 0:
			return http.StatusTooManyRequests, "TooManyRequestsException", "slow down"
		case 1:
			return http.StatusBadRequest, "MessageRejected", "a virus"
		case 2:
			return http.StatusBadRequest, "MessageRejected", "Email address is not verified"
		case 3:
			return http.StatusInternalServerError, "InternalFailure", "oh"
		case 4:
			return http.StatusBadRequest, "BadRequestException", "Domain contains illegal character"
		case 5:
			s.mails[tag]++
			return http.StatusInternalServerError, "InternalFailure", "oh"
		}
	}
	s.mails[tag]++
	return http.StatusOK, "", ""
}
