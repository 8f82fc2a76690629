package sim

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Handle is a function's handler, as Lambda calls it.
type Handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// worker runs one process after the other, and hands its process one batch after the other.
type worker struct {
	world   *World
	process *Process // nil: the next invocation starts one
	handle  Handle
	batch   []delivery // of the invocation that runs; nil if none does
	ended   *ending    // guarded by World.mu: what it ended with
}

type ending struct {
	response events.SQSEventResponse
	err      error
}

func (k *worker) busy() bool { return k.batch != nil }

// start makes a process with a clock of its own.
func (k *worker) start() {
	w := k.world
	k.process = &Process{
		world: w, name: w.id("p"), skew: w.Within(2*maxSkew) - maxSkew, held: map[string]time.Time{},
	}
	handle, err := w.system.Wire(k.process)
	if err != nil {
		panic(err) // a mistake of the test's
	}
	k.handle = handle
	w.say("%s starts, clock %v ahead", k.process.name, k.process.skew)
}

// invoke receives a batch and runs it.
func (k *worker) invoke() {
	w := k.world
	got := w.queue.receive()
	if len(got) == 0 {
		return
	}
	if k.process == nil {
		k.start()
	}
	event := events.SQSEvent{}
	k.batch = got
	names := []string{}
	for _, d := range got {
		names = append(names, d.ID)
		event.Records = append(event.Records, w.queue.record(d))
	}
	w.mu.Lock()
	k.process.batch, k.process.told = got, map[asked]told{}
	w.mu.Unlock()
	w.say("%s is given %v", k.process.name, names)
	p, handle := k.process, k.handle
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), w.timeout)
		defer cancel()
		response, err := handle(ctx, event)
		w.mu.Lock()
		if !p.dead {
			k.ended = &ending{response, err}
		}
		w.mu.Unlock()
		w.stir()
	}()
}

// record is a message as Lambda sees it.
func (q *queues) record(d delivery) events.SQSMessage {
	attributes := map[string]events.SQSMessageAttribute{}
	for name, a := range d.Body.attributes {
		attributes[name] = events.SQSMessageAttribute{DataType: *a.DataType, StringValue: a.StringValue, BinaryValue: a.BinaryValue}
	}
	system := map[string]string{
		"SentTimestamp":                    strconv.FormatInt(d.Sent.UnixMilli(), 10),
		"ApproximateReceiveCount":          strconv.Itoa(d.Receives),
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(d.FirstReceived.UnixMilli(), 10),
	}
	if q.fifo {
		system["MessageGroupId"], system["MessageDeduplicationId"] = d.Group, d.Dedup
	}
	return events.SQSMessage{
		MessageId: d.ID, ReceiptHandle: d.Handle, Body: d.Body.text, Attributes: system, MessageAttributes: attributes,
		EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:" + q.name,
	}
}

// reap acknowledges what an invocation has answered, or forgets a process that is dead.
func (k *worker) reap() {
	w := k.world
	if k.process == nil {
		return
	}
	w.mu.Lock()
	ended := k.ended
	k.ended = nil
	w.mu.Unlock()
	switch {
	case k.process.dead:
		w.say("%s is dead", k.process.name)
		k.process, k.batch = nil, nil
		return
	case ended == nil:
		return
	}
	batch := k.batch
	k.batch = nil
	if ended.err != nil {
		w.Fail("%s: the batch as a whole fails: %v", k.process.name, ended.err)
		return
	}
	listed := w.listed(k.process.name, batch, ended.response)
	w.say("%s lists %d of %d", k.process.name, len(listed), len(batch))
	if w.Unusual() {
		w.say("the acknowledgements are lost")
		return
	}
	for _, d := range batch {
		if !listed[d.ID] {
			w.acknowledged(d.Message)
			w.queue.delete(d)
		}
	}
}

// listed reads an answer: each id is of the batch and there once, and of a FIFO queue's group nothing overtakes what is listed. A
// duplicate does not: it asks for the same.
func (w *World) listed(process string, batch []delivery, response events.SQSEventResponse) map[string]bool {
	listed := map[string]bool{}
	for _, f := range response.BatchItemFailures {
		id := f.ItemIdentifier
		if listed[id] || !slices.ContainsFunc(batch, func(d delivery) bool { return d.ID == id }) {
			w.Fail("%s lists %q, which is not of its batch or listed twice", process, id)
		}
		listed[id] = true
	}
	stopped := map[string]*letter{} // by group: at which
	for _, d := range batch {
		switch at := stopped[d.Group]; {
		case at == nil && listed[d.ID]:
			stopped[d.Group] = &d.Body
		case w.queue.fifo && at != nil && !listed[d.ID] && (d.Body.of.Key != at.of.Key || d.Body.text != at.text):
			w.Fail("%s acknowledges %s, which is behind a failure in its group", process, d.ID)
		}
	}
	return listed
}
