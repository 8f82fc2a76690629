package canary

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// call is an operation of a service; one of a service without named operations is its path.
type call struct{ service, operation string }

// answer makes an error of a request's body.
type answer func(asked string) (status int, body string)

// calls watches what the function calls, and has some of it fail.
type calls struct {
	mu     sync.Mutex
	seen   []call
	failed call
	answer answer
}

func (c *calls) watch(service string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		_, operation, named := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if !named {
			operation = r.Method + " " + r.URL.Path
		}
		this := call{service, operation}
		c.mu.Lock()
		if !slices.Contains(c.seen, this) {
			c.seen = append(c.seen, this)
		}
		answer := c.answer
		if c.failed != this {
			answer = nil
		}
		c.mu.Unlock()
		if answer == nil {
			next.ServeHTTP(w, r)
			return
		}
		status, text := answer(string(body))
		w.Header().Set("X-Amzn-RequestId", "request-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}

func (c *calls) met() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.seen)
}

func (c *calls) fail(of call, with answer) { c.failed, c.answer = of, with }

// errors are those of a service, with texts that repeat what it was asked, as theirs do of single values: DynamoDB's "The parameter
// cannot be converted to a numeric value: …", SQS's "Value … for parameter … is invalid", Stripe's "No such customer: '…'" and SES's
// "Email address is not verified: …".
func (c call) errors() map[string]answer {
	page := func(asked string) (int, string) { return http.StatusBadGateway, "<html>" + asked + "</html>" }
	of := func(status int, body string) answer {
		return func(asked string) (int, string) { return status, strings.ReplaceAll(body, "ASKED", quote(asked)) }
	}
	switch c.service {
	case "dynamodb":
		const namespace = "com.amazonaws.dynamodb.v20120810#"
		return map[string]answer{
			"ValidationException": of(400, `{"__type":"com.amazon.coral.validate#ValidationException","message":ASKED}`),
			"TransactionCanceledException": of(400, `{"__type":"`+namespace+`TransactionCanceledException","Message":"Transaction cancelled, please `+
				`refer cancellation reasons for specific reasons [None, ValidationError]","CancellationReasons":[{"Code":"None"},`+
				`{"Code":"ValidationError","Message":ASKED}]}`),
			"a statement's error": of(200, `{"Responses":[{"Error":{"Code":"ValidationError","Message":ASKED}},`+
				`{"Error":{"Code":"ValidationError","Message":ASKED}}]}`),
			"a page": page,
		}
	case "sqs":
		return map[string]answer{
			"InvalidMessageContents": of(400, `{"__type":"com.amazonaws.sqs#InvalidMessageContents","message":ASKED}`),
			"InvalidParameterValue":  of(400, `{"__type":"com.amazon.coral.service#InvalidParameterValueException","message":ASKED}`),
			"a failed entry":         of(200, `{"Successful":[],"Failed":[{"Id":"0","Code":"InvalidMessageContents","Message":ASKED,"SenderFault":true}]}`),
			"a page":                 page,
		}
	}
	answers := map[string]answer{"a page": page}
	for _, status := range []int{400, 401, 402, 403, 404, 409, 429, 500, 503} {
		answers[fmt.Sprint(status)] = of(status, `{"error":{"type":"card_error","code":"card_declined","message":ASKED},"message":ASKED,"__type":"BadRequestException"}`)
		answers[fmt.Sprint(status, " of the request")] = of(status, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":ASKED},"message":ASKED,"__type":"MessageRejected"}`)
	}
	return answers
}

// queue is SQS. The reason of what is quarantined is looked at; the rest of it is the message itself.
func (w *world) queue(out http.ResponseWriter, r *http.Request) {
	var in struct {
		Entries []message
		message
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(out, err.Error(), http.StatusNotImplemented)
		return
	}
	var answers []any
	for _, m := range append(in.Entries, in.message) {
		w.reason(m)
		sum := md5.Sum([]byte(m.MessageBody))
		answers = append(answers, map[string]string{"Id": m.ID, "MessageId": "sent", "MD5OfMessageBody": hex.EncodeToString(sum[:])})
	}
	var answer any = answers[len(answers)-1]
	if len(in.Entries) > 0 {
		answer = map[string]any{"Successful": answers[:len(answers)-1], "Failed": []any{}}
	}
	out.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(out).Encode(answer)
}

type message struct {
	ID                string `json:"Id"`
	MessageBody       string
	MessageAttributes map[string]struct{ StringValue string }
}

// reasonAttribute is sqsbatch's, which this package may not import.
const reasonAttribute = "Quarantine-Reason"

func (w *world) reason(m message) {
	w.look("the reason of a quarantine", m.MessageAttributes[reasonAttribute].StringValue)
	var wrapped struct {
		Reason     string `json:"reason"`
		Attributes map[string]struct {
			StringValue string `json:"stringValue"`
		} `json:"attributes"`
	}
	if json.Unmarshal([]byte(m.MessageBody), &wrapped) == nil && wrapped.Attributes != nil {
		w.look("the reason in a wrapped message", wrapped.Reason)
		w.look("the reason in a wrapped message", wrapped.Attributes[reasonAttribute].StringValue)
	}
}

// changes are what may become of a record between two deliveries of its message.
var changes = map[string]map[string]types.AttributeValue{
	"of another release":       {"v": &types.AttributeValueMemberN{Value: "99"}},
	"in a state of nobody's":   {"state": &types.AttributeValueMemberS{Value: "paused"}},
	"in doubt":                 {"state": &types.AttributeValueMemberS{Value: "in_doubt"}},
	"claimed, and lapsed":      {"state": &types.AttributeValueMemberS{Value: "claimed"}, "lease_until": &types.AttributeValueMemberN{Value: "1"}},
	"claimed, and running":     {"state": &types.AttributeValueMemberS{Value: "claimed"}, "lease_until": &types.AttributeValueMemberN{Value: "4102444800000"}},
	"released":                 {"state": &types.AttributeValueMemberS{Value: "released"}},
	"of another payload":       {"fingerprint": &types.AttributeValueMemberS{Value: strings.Repeat("0", 64)}},
	"whose numbers are none":   {"v": &types.AttributeValueMemberS{Value: "one"}},
	"whose times are no times": {"claimed_at": &types.AttributeValueMemberS{Value: "yesterday"}},
}

// change puts other attributes into all records; a function without any has nothing to change.
func (w *world) change(t *testing.T, attributes map[string]types.AttributeValue) {
	t.Helper()
	for _, row := range w.db.Items(Records) {
		for name, value := range attributes {
			row[name] = value
		}
		table := Records
		if _, err := w.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: row}); err != nil {
			t.Fatal(err)
		}
	}
}
