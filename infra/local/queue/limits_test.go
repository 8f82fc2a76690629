package queue_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/singleeffect/once/infra/local/queue"
	engine "github.com/singleeffect/once/shared/intenttest/queue"
)

func TestCreateQueueRefusals(t *testing.T) {
	long := strings.Repeat("q", 76) // with .fifo one too many
	for name, tc := range map[string]struct {
		queue      string
		attributes map[string]string
		code, text string
	}{
		"name":                     {"a b", nil, "InvalidParameterValueException", "alphanumeric"},
		"name too long":            {strings.Repeat("q", 81), nil, "InvalidParameterValueException", "1 to 80"},
		"fifo name":                {"q", map[string]string{"FifoQueue": "true"}, "InvalidParameterValueException", ".fifo suffix"},
		"fifo name too long":       {long + ".fifo", map[string]string{"FifoQueue": "true"}, "InvalidParameterValueException", ".fifo suffix"},
		"fifo name, standard":      {"q.fifo", nil, "InvalidParameterValueException", "alphanumeric"},
		"FifoQueue false":          {"q", map[string]string{"FifoQueue": "false"}, "InvalidAttributeName", "FifoQueue"},
		"dedup, standard":          {"q", map[string]string{"ContentBasedDeduplication": "true"}, "InvalidAttributeName", "ContentBasedDeduplication"},
		"scope, standard":          {"q", map[string]string{"DeduplicationScope": "queue"}, "InvalidAttributeName", "DeduplicationScope"},
		"scope":                    {"q.fifo", map[string]string{"FifoQueue": "true", "DeduplicationScope": "group"}, "InvalidAttributeValue", `"group"`},
		"throughput":               {"q.fifo", map[string]string{"FifoQueue": "true", "FifoThroughputLimit": "high"}, "InvalidAttributeValue", `"high"`},
		"throughput without scope": {"q.fifo", map[string]string{"FifoQueue": "true", "FifoThroughputLimit": "perMessageGroupId"}, "InvalidAttributeValue", "DeduplicationScope"},
		"unknown attribute":        {"q", map[string]string{"Policy": "{}"}, "InvalidAttributeName", "Policy"},
		"visibility too high":      {"q", map[string]string{"VisibilityTimeout": "43201"}, "InvalidAttributeValue", "VisibilityTimeout"},
		"visibility no number":     {"q", map[string]string{"VisibilityTimeout": "ten"}, "InvalidAttributeValue", `"ten"`},
		"delay too high":           {"q", map[string]string{"DelaySeconds": "901"}, "InvalidAttributeValue", "DelaySeconds"},
		"retention too low":        {"q", map[string]string{"MessageRetentionPeriod": "59"}, "InvalidAttributeValue", "MessageRetentionPeriod"},
		"retention too high":       {"q", map[string]string{"MessageRetentionPeriod": "1209601"}, "InvalidAttributeValue", "MessageRetentionPeriod"},
		"redrive no JSON":          {"q", map[string]string{"RedrivePolicy": "dead"}, "InvalidParameterValueException", "not a valid JSON map"},
		"redrive no ARN":           {"q", map[string]string{"RedrivePolicy": `{"deadLetterTargetArn":"dead","maxReceiveCount":5}`}, "InvalidParameterValueException", "deadLetterTargetArn"},
		"redrive no such queue":    {"q", map[string]string{"RedrivePolicy": redrive("none", 5)}, "InvalidParameterValueException", "does not exist"},
		"redrive other type":       {"q", map[string]string{"RedrivePolicy": redrive("dead.fifo", 5)}, "InvalidParameterValueException", "same type"},
		"redrive 0 receives":       {"q", map[string]string{"RedrivePolicy": redrive("dead", 0)}, "InvalidParameterValueException", "1 to 1000"},
		"redrive 1001 receives":    {"q", map[string]string{"RedrivePolicy": redrive("dead", 1001)}, "InvalidParameterValueException", "1 to 1000"},
		"there, different":         {"dead", map[string]string{"DelaySeconds": "1"}, "QueueNameExists", "different value for attribute DelaySeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create("dead")
			w.fifo("dead.fifo")
			_, err := w.CreateQueue(queue.CreateQueueInput{QueueName: tc.queue, Attributes: tc.attributes})
			wantCode(t, err, tc.code, tc.text)
		})
	}
}

func TestCreateQueueAgain(t *testing.T) {
	w := newWorld(t)
	w.create("dead")
	url := w.create("q", "VisibilityTimeout", "12", "RedrivePolicy", redrive("dead", 5))
	w.send(url, "a")
	asText := strings.ReplaceAll(redrive("dead", 5), `:5}`, `: "5"}`)
	if again := w.create("q", "RedrivePolicy", asText); again != url {
		t.Fatalf("url = %s, want %s", again, url)
	}
	w.wantBodies(url, "a")
	if got := w.attribute(url, "RedrivePolicy"); got != redrive("dead", 5) {
		t.Fatalf("RedrivePolicy = %s", got)
	}
}

func TestQueueURLs(t *testing.T) {
	w := newWorld(t)
	url := w.create("ChargeQueue")
	w.create("AdjustQueue")
	const want = "http://sqs.test/000000000000/ChargeQueue"
	if url != want {
		t.Errorf("url = %s, want %s", url, want)
	}
	if got := w.attribute(url, "QueueArn"); got != arn+"ChargeQueue" {
		t.Errorf("arn = %s", got)
	}
	if out, err := w.GetQueueURL(queue.GetQueueURLInput{QueueName: "ChargeQueue"}); err != nil || out.QueueURL != want {
		t.Errorf("GetQueueURL = %v, %v", out, err)
	}
	if out, err := w.ListQueues(queue.ListQueuesInput{}); err != nil || fmt.Sprint(out.QueueURLs) != "[http://sqs.test/000000000000/AdjustQueue "+want+"]" {
		t.Errorf("ListQueues = %v, %v", out, err)
	}
	if out, err := w.ListQueues(queue.ListQueuesInput{QueueNamePrefix: "Ch"}); err != nil || fmt.Sprint(out.QueueURLs) != "["+want+"]" {
		t.Errorf("ListQueues(Ch) = %v, %v", out, err)
	}
	_, err := w.GetQueueURL(queue.GetQueueURLInput{QueueName: "Charge"})
	wantCode(t, err, "QueueDoesNotExist", "does not exist")
	_, err = w.GetQueueAttributes(queue.GetQueueAttributesInput{QueueURL: url, AttributeNames: []string{"Colour"}})
	wantCode(t, err, "InvalidAttributeName", "Colour")
	w.send("http://host.docker.internal:9324/000000000000/ChargeQueue", "another host, same queue")
	w.wantCounts(url, 1, 0, 0)
}

func TestSendMessageRefusals(t *testing.T) {
	attribute := func(name string, a queue.Attribute) queue.Outgoing {
		return queue.Outgoing{MessageBody: "a", MessageAttributes: map[string]queue.Attribute{name: a}}
	}
	text := queue.Attribute{DataType: "String", StringValue: "x"}
	eleven := map[string]queue.Attribute{}
	for i := range 11 {
		eleven[fmt.Sprint("k", i)] = text
	}
	const invalid = "InvalidParameterValueException"
	for name, tc := range map[string]struct {
		out        queue.Outgoing
		code, text string
	}{
		"no body":            {queue.Outgoing{}, "MissingRequiredParameterException", "MessageBody"},
		"control character":  {queue.Outgoing{MessageBody: "a\x00"}, "InvalidMessageContents", "Invalid characters"},
		"no UTF-8":           {queue.Outgoing{MessageBody: "a\xff"}, "InvalidMessageContents", "Invalid characters"},
		"1 MiB and a byte":   {queue.Outgoing{MessageBody: strings.Repeat("a", 1<<20+1)}, invalid, "shorter than 1048576 bytes"},
		"with attributes":    {queue.Outgoing{MessageBody: strings.Repeat("a", 1<<20-7), MessageAttributes: map[string]queue.Attribute{"k": text}}, invalid, "shorter than"},
		"eleven attributes":  {queue.Outgoing{MessageBody: "a", MessageAttributes: eleven}, invalid, "[11] exceeds the allowed maximum [10]"},
		"attribute name":     {attribute("a b", text), invalid, "'a b'"},
		"attribute of AWS":   {attribute("Aws.x", text), invalid, "'Aws.x'"},
		"attribute type":     {attribute("k", queue.Attribute{DataType: "Int", StringValue: "1"}), invalid, "type prefixes"},
		"attribute empty":    {attribute("k", queue.Attribute{DataType: "String"}), invalid, "non-empty value of type 'String'"},
		"attribute number":   {attribute("k", queue.Attribute{DataType: "Number", StringValue: "ten"}), invalid, "to a number"},
		"attribute field":    {attribute("k", queue.Attribute{DataType: "Binary", StringValue: "x"}), invalid, "must use field 'Binary'"},
		"delay too high":     {queue.Outgoing{MessageBody: "a", DelaySeconds: new(901)}, invalid, "Value 901 for parameter DelaySeconds"},
		"dedup, standard":    {queue.Outgoing{MessageBody: "a", MessageDeduplicationID: "d"}, invalid, "not valid for this queue type"},
		"group id too long":  {queue.Outgoing{MessageBody: "a", MessageGroupID: strings.Repeat("g", 129)}, invalid, "MessageGroupId"},
		"group id, no ASCII": {queue.Outgoing{MessageBody: "a", MessageGroupID: "gä"}, invalid, "MessageGroupId"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			url := w.create("q")
			_, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: tc.out})
			wantCode(t, err, tc.code, tc.text)
			w.wantCounts(url, 0, 0, 0)
		})
	}
	for name, tc := range map[string]struct {
		out        queue.Outgoing
		code, text string
	}{
		"fifo, no group": {queue.Outgoing{MessageBody: "a", MessageDeduplicationID: "d"}, "MissingRequiredParameterException", "MessageGroupId"},
		"fifo, no dedup": {queue.Outgoing{MessageBody: "a", MessageGroupID: "g"}, invalid, "ContentBasedDeduplication"},
		"fifo, delay":    {queue.Outgoing{MessageBody: "a", MessageGroupID: "g", MessageDeduplicationID: "d", DelaySeconds: new(2)}, invalid, "Value 2 for parameter DelaySeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.SendMessage(queue.SendMessageInput{QueueURL: w.fifo("q.fifo"), Outgoing: tc.out})
			wantCode(t, err, tc.code, tc.text)
		})
	}
}

func TestSendMessageAtTheLimits(t *testing.T) {
	w := newWorld(t)
	url := w.create("q")
	ten := map[string]queue.Attribute{}
	size := 0
	for i := range 10 {
		ten[fmt.Sprint("k", i)] = queue.Attribute{DataType: "Number.cents", StringValue: "-1.5e3"}
		size += len("k0") + len("Number.cents") + len("-1.5e3")
	}
	body := strings.Repeat("a", 1<<20-size)
	if _, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{
		MessageBody: body, MessageAttributes: ten, DelaySeconds: new(0),
	}}); err != nil {
		t.Fatal(err)
	}
	if m := w.one(url); m.Body != body || !maps.EqualFunc(m.MessageAttributes, ten, func(a, b queue.Attribute) bool {
		return a.DataType == b.DataType && a.StringValue == b.StringValue
	}) {
		t.Fatal("message came back changed")
	}
}

func TestReceiveMessageRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		in         queue.ReceiveMessageInput
		code, text string
	}{
		"eleven":        {queue.ReceiveMessageInput{MaxNumberOfMessages: 11}, "InvalidParameterValueException", "Value 11 for parameter MaxNumberOfMessages"},
		"below one":     {queue.ReceiveMessageInput{MaxNumberOfMessages: -1}, "InvalidParameterValueException", "MaxNumberOfMessages"},
		"visibility":    {queue.ReceiveMessageInput{VisibilityTimeout: new(43201)}, "InvalidParameterValueException", "Must be between 0 and 43200"},
		"wait":          {queue.ReceiveMessageInput{WaitTimeSeconds: 21}, "InvalidParameterValueException", "Value 21 for parameter WaitTimeSeconds"},
		"no such queue": {queue.ReceiveMessageInput{QueueURL: "http://sqs.test/000000000000/none"}, "QueueDoesNotExist", "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			url := w.create("q")
			if tc.in.QueueURL == "" {
				tc.in.QueueURL = url
			}
			_, err := w.ReceiveMessage(t.Context(), tc.in)
			wantCode(t, err, tc.code, tc.text)
		})
	}
}

// TestInFlightLimit: a short poll of a standard queue is told of it, a long one and a FIFO queue's are not.
func TestInFlightLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, Service: queue.New(queue.Config{})}
		url, fifo := w.create("q", "VisibilityTimeout", "600"), w.fifo("q.fifo", "VisibilityTimeout", "600")
		send := func(url, body, group string) {
			out := queue.Outgoing{MessageBody: body, MessageGroupID: group}
			if group != "" {
				out.MessageDeduplicationID = body
			}
			if _, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: out}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range engine.MaxInFlight {
			send(url, "a", "")
			send(fifo, strconv.Itoa(i), "A")
		}
		send(url, "more", "")
		send(fifo, "more", "B")
		for range engine.MaxInFlight / 10 {
			w.receive(url)
			w.receive(fifo)
		}
		_, err := w.ReceiveMessage(t.Context(), queue.ReceiveMessageInput{QueueURL: url})
		wantCode(t, err, "OverLimit", "120000")
		w.wantBodies(fifo)
		out, err := w.ReceiveMessage(t.Context(), queue.ReceiveMessageInput{QueueURL: url, WaitTimeSeconds: 1})
		if err != nil || len(out.Messages) > 0 {
			t.Errorf("long poll: got %v, %v, want nothing", out, err)
		}
	})
}

func TestBatchRefusals(t *testing.T) {
	entries := func(ids ...string) []queue.SendMessageBatchEntry {
		var out []queue.SendMessageBatchEntry
		for _, id := range ids {
			out = append(out, queue.SendMessageBatchEntry{ID: id, Outgoing: queue.Outgoing{MessageBody: "a"}})
		}
		return out
	}
	big := entries("1", "2")
	big[0].MessageBody = strings.Repeat("a", 1<<20)
	for name, tc := range map[string]struct {
		entries    []queue.SendMessageBatchEntry
		code, text string
	}{
		"empty":    {nil, "EmptyBatchRequest", "at least one"},
		"eleven":   {entries(strings.Split("0123456789a", "")...), "TooManyEntriesInBatchRequest", "You have sent 11."},
		"id":       {entries("a:b"), "InvalidBatchEntryId", "hyphens and underscores"},
		"same id":  {entries("a", "a"), "BatchEntryIdsNotDistinct", "Id a repeated"},
		"too long": {big, "BatchRequestTooLong", "You have sent 1048577 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			url := w.create("q")
			_, err := w.SendMessageBatch(queue.SendMessageBatchInput{QueueURL: url, Entries: tc.entries})
			wantCode(t, err, tc.code, tc.text)
			w.wantCounts(url, 0, 0, 0)
		})
	}
}

// TestAttributeDigests has digests that AWS gave, as recorded by LocalStack's suite.
func TestAttributeDigests(t *testing.T) {
	text := func(v string) queue.Attribute { return queue.Attribute{DataType: "String", StringValue: v} }
	starWars := map[string]queue.Attribute{"Hello": text("There"), "General": text("Kenobi"), "Help.Me": text("Me")}
	for name, tc := range map[string]struct {
		sent   map[string]queue.Attribute
		wanted []string
		digest string
	}{
		"none asked for":  {starWars, nil, ""},
		"All":             {starWars, []string{"All"}, "4c360f3fdafd970e05fae2f149d997f5"},
		".*":              {starWars, []string{".*"}, "4c360f3fdafd970e05fae2f149d997f5"},
		"two names":       {starWars, []string{"Hello", "General"}, "fca026605781cb4126a1e9044df24232"},
		"one is not here": {starWars, []string{"Hello", "Hi"}, "a311262e065454b75da111d535b8dacd"},
		"prefix":          {starWars, []string{"Hel.*"}, "83fee93c1bcd8b9a5a923ffacdc636c7"},
		"no such name":    {starWars, []string{"Foo"}, ""},
		"binary": {map[string]queue.Attribute{"attr1": {DataType: "Binary",
			BinaryValue: []byte("traceparent\x1e00-774062d6c37081a5a0b9b5b88e30627c-2d2482211f6489da-01")}},
			[]string{"attr1"}, "8cbe4db156db8a94db8b801b7addb984"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			url := w.create("q")
			sent, err := w.SendMessage(queue.SendMessageInput{QueueURL: url, Outgoing: queue.Outgoing{MessageBody: "msg", MessageAttributes: tc.sent}})
			if err != nil || sent.MD5OfMessageBody != "6e2baaf3b97dbeef01c0043275f9a0e7" {
				t.Fatalf("send = %+v, %v", sent, err)
			}
			out, err := w.ReceiveMessage(t.Context(), queue.ReceiveMessageInput{QueueURL: url, MessageAttributeNames: tc.wanted})
			if err != nil || len(out.Messages) != 1 || out.Messages[0].MD5OfMessageAttributes != tc.digest {
				t.Fatalf("receive = %+v, %v, want digest %q", out, err, tc.digest)
			}
		})
	}
}
