package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/singleeffect/once/shared/dynamo"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/intenttest/memdb"
	"github.com/singleeffect/once/shared/intenttest/sim"
	"github.com/singleeffect/once/shared/sqsbatch"
)

// club is a small system around the function: users, those who welcome them, and SES, which counts what leaves.
type club struct {
	*sim.World
	handler func(*club, *sim.Process) sqsbatch.Handler
	mails   map[string]int // by the tag that each carries
}

func greeters(handler func(*club, *sim.Process) sqsbatch.Handler) sim.Plan {
	return sim.Plan{
		Name:    "welcome",
		Tables:  []memdb.Table{{Name: "users", Keys: []string{userIDAttribute}}, {Name: "emails", Keys: []string{emailIDAttribute}}},
		Records: func(db *memdb.DB) intent.Store { return dynamo.New(db, sim.Records) },
		Reason:  sqsbatch.ReasonAttribute, OriginalID: sqsbatch.OriginalIDAttribute,
		Shows: []string{
			"executed", "replayed", "refused <nil>", "in_progress", "conflict <nil>", "in_doubt <nil>", "is hidden", "redriven", "is dead",
			"claimed -> released", "released -> claimed", "claimed -> in_doubt", "deadline exceeded", "ses answers 500",
		},
		New: func(w *sim.World) sim.System { return &club{World: w, handler: handler, mails: map[string]int{}} },
	}
}

// greeting is the function's own effect, as wire makes it.
func (c *club) greeting(p *sim.Process) (intent.Config, intent.Effect[greeting]) {
	m := mailer{user: usersTable{client: p.DB(), name: "users"}.user, send: c.ses(p).send, emails: "emails", now: p.Now}
	return intent.Config{
		Scope: sim.Scope, Operation: operation, LeaseMargin: 3 * time.Second, Retention: 90 * 24 * time.Hour,
		Store: dynamo.New(p.DB(), sim.Records), Now: p.Now,
	}, m.welcome
}

func blind(c *club, p *sim.Process) sqsbatch.Handler {
	config, effect := c.greeting(p)
	return &intent.Blind[greeting]{Config: config, Effect: effect}
}

// TestSystem: no intent ever has two e-mails; one that is completed has one and its row, one that is refused has none, and one in
// doubt is in quarantine.
func TestSystem(t *testing.T) { sim.Run(t, greeters(blind)) }

// Taken for one that SES knows by its key, an e-mail is sent again when nobody knows what became of the first.
func TestSystemFindsASecondMail(t *testing.T) {
	sim.Finds(t, greeters(func(c *club, p *sim.Process) sqsbatch.Handler {
		config, effect := c.greeting(p)
		return &intent.Keyed[greeting]{Config: config, Window: 24 * time.Hour, Effect: effect}
	}), 100, "took effect 2 times")
}

// Wire is the function's, but for the clients.
func (c *club) Wire(p *sim.Process) (sim.Handle, error) {
	batch, err := sqsbatch.New(sqsbatch.Config{
		Handler: p.Watch(c.handler(c, p)), Queue: p.SQS(), QueueURL: c.QueueURL(), DeadLetterURL: c.DeadLetterURL(), Log: p.Log(),
	})
	if err != nil {
		return nil, err
	}
	return batch.Handle, nil
}

// Outside has a few users, of whom one has no address, and welcomes them; sometimes under a key that was there before.
func (c *club) Outside() {
	users := 1 + c.Rand.IntN(4)
	for n := range users {
		row := map[string]types.AttributeValue{userIDAttribute: &types.AttributeValueMemberS{Value: fmt.Sprint("user-", n)}}
		if n != 1 {
			row[addressAttribute] = &types.AttributeValueMemberS{Value: fmt.Sprintf("user-%d@example.com", n)}
		}
		if _, err := c.DB.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String("users"), Item: row}); err != nil {
			c.Fail("sign up: %v", err)
		}
	}
	for n := range 1 + c.Rand.IntN(12) {
		id, user := fmt.Sprint("k", n), fmt.Sprint("user-", c.Rand.IntN(users+1))
		c.At(c.Soon(), "welcome "+id, func() { c.ask(id, user, signup) })
		if c.Rand.IntN(8) == 0 {
			c.At(c.Soon(), "welcome "+id+" otherwise", func() { c.ask(id, user, winBack) })
		}
	}
	for _, p := range []struct{ body, want string }{
		{`{"user_id":"user-0","kind":"signup"}`, "no_key"},
		{`{"user_id":"user-0","kind":"farewell","idempotency_key":"unknown"}`, "unreadable"},
		{`"signup"`, "unreadable"},
	} {
		if c.Rand.IntN(6) == 0 {
			c.At(c.Soon(), "poison", func() { c.Send(sim.Sent{Want: p.want}, &sqs.SendMessageInput{MessageBody: &p.body}) })
		}
	}
}

// ask sends a welcome, once or more often.
func (c *club) ask(id, user string, k kind) {
	m := sqsbatch.Message{
		Key:  intent.Key{Scope: sim.Scope, Operation: operation, ID: id},
		Time: c.Now(), Body: fmt.Appendf(nil, `{"user_id":%q,"kind":%q}`, user, k),
	}
	in, err := m.Input(c.QueueURL())
	if err != nil {
		c.Fail("send: %v", err)
	}
	c.Produce(sim.Sent{Key: m.Key}, in)
}

// Judge compares the records with what left, and with the rows.
func (c *club) Judge() {
	c.JudgeEffects(func(k intent.Key) int { return c.mails[k.Downstream()] })
	rows := map[string]bool{}
	for _, row := range c.DB.Items("emails") {
		rows[row[emailIDAttribute].(*types.AttributeValueMemberS).Value] = true
	}
	c.Intents(func(k intent.Key, r intent.Record) {
		if rows[k.Downstream()] != (r.State == intent.StateCompleted) {
			c.Fail("%s is %s, and whether it has a row: %t", k, r.State, rows[k.Downstream()])
		}
		delete(c.mails, k.Downstream())
	})
	if len(c.mails) > 0 {
		c.Fail("e-mails that nobody asked for: %v", c.mails)
	}
}

// ses is newSES's client as a process has it, but for the way to SES.
func (c *club) ses(p *sim.Process) sesAPI {
	return sesAPI{from: "once@example.com", client: sesv2.NewFromConfig(sesConfig("http://ses"), func(o *sesv2.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = road{c, p}
	})}
}

// road is a process's way to SES.
type road struct {
	club    *club
	process *sim.Process
}

func (r road) Do(request *http.Request) (*http.Response, error) {
	var letter struct {
		EmailTags []struct{ Name, Value string }
	}
	if err := json.NewDecoder(request.Body).Decode(&letter); err != nil {
		return nil, err
	}
	var status int
	var code, text string
	err := r.process.Reach(request.Context(), "SendEmail "+letter.EmailTags[0].Value, func() {
		status, code, text = r.club.take(letter.EmailTags[0].Value)
		r.club.Say("  ses answers %d %s", status, code)
	})
	if trace := httptrace.ContextClientTrace(request.Context()); !sim.Unreached(err) {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"MessageId":"ses-of-%s","message":%q}`, letter.EmailTags[0].Value, text)
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"X-Amzn-Errortype": {code}, "Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

// take is SES: it sends each letter that it accepts, and sometimes one that it says it did not.
func (c *club) take(tag string) (status int, code, text string) {
	if c.Unusual() {
		switch c.Rand.IntN(5) {
		case 0:
			return http.StatusTooManyRequests, "TooManyRequestsException", "slow down"
		case 1:
			return http.StatusBadRequest, "MessageRejected", "a virus"
		case 2:
			return http.StatusBadRequest, "MessageRejected", "Email address is not verified"
		case 3:
			return http.StatusInternalServerError, "InternalFailure", "oh"
		case 4:
			c.mails[tag]++
			return http.StatusInternalServerError, "InternalFailure", "oh"
		}
	}
	c.mails[tag]++
	return http.StatusOK, "", ""
}
