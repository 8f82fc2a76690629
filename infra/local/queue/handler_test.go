package queue_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/infra/local/queue"
)

// sdk is AWS's own client. It checks every digest, and its retries are off so that a refusal is seen as it came.
func sdk(endpoint string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region:       "us-east-1",
		BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
		Retryer: aws.NopRetryer{},
	})
}

// serve starts a service behind its HTTP face.
func serve(t *testing.T) *sqs.Client {
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = queue.New(queue.Config{BaseURL: "http://" + server.Listener.Addr().String()}).Handler()
	server.Start()
	t.Cleanup(server.Close)
	return sdk(server.URL)
}

func must[O any](out O, err error) func(*testing.T) O {
	return func(t *testing.T) O {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

func TestSDKRoundTrip(t *testing.T) {
	ctx, c := t.Context(), serve(t)
	url := *must(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q"), Attributes: map[string]string{"VisibilityTimeout": "60"}}))(t).QueueUrl
	if !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/000000000000/q") {
		t.Fatalf("url = %s", url)
	}
	if got := must(c.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: new("q")}))(t); *got.QueueUrl != url {
		t.Errorf("GetQueueUrl = %s", *got.QueueUrl)
	}
	if got := must(c.ListQueues(ctx, &sqs.ListQueuesInput{}))(t); !reflect.DeepEqual(got.QueueUrls, []string{url}) {
		t.Errorf("ListQueues = %v", got.QueueUrls)
	}
	const body = "<é> \"quoted\" & \U0001F600\n"
	attributes := map[string]types.MessageAttributeValue{
		"Idempotency-Key": {DataType: new("String"), StringValue: new("order-8821-charge")},
		"Cents":           {DataType: new("Number.cents"), StringValue: new("4999")},
		"Trace":           {DataType: new("Binary"), BinaryValue: []byte{0, 1, 254, 255}},
	}
	sent := must(c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: new(body), MessageAttributes: attributes}))(t)
	got := must(c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, WaitTimeSeconds: 1, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
	}))(t).Messages
	if len(got) != 1 {
		t.Fatalf("received %d messages", len(got))
	}
	m := got[0]
	if *m.Body != body || *m.MessageId != *sent.MessageId || *m.MD5OfMessageAttributes != *sent.MD5OfMessageAttributes {
		t.Errorf("received %+v of %+v", m, sent)
	}
	if !reflect.DeepEqual(m.MessageAttributes, attributes) {
		t.Errorf("attributes = %v, want %v", m.MessageAttributes, attributes)
	}
	if m.Attributes["ApproximateReceiveCount"] != "1" || len(m.Attributes) != 4 {
		t.Errorf("system attributes = %v", m.Attributes)
	}
	must(c.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 0}))(t)
	m = must(c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, VisibilityTimeout: 30}))(t).Messages[0]
	must(c.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}))(t)
	count := must(c.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"}}))(t)
	if count.Attributes["QueueArn"] != arn+"q" || count.Attributes["ApproximateNumberOfMessagesNotVisible"] != "0" {
		t.Errorf("attributes = %v", count.Attributes)
	}
	must(c.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url}))(t)
}

func TestSDKBatches(t *testing.T) {
	ctx, c := t.Context(), serve(t)
	url := *must(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q")}))(t).QueueUrl
	sent := must(c.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{
		{Id: new("a"), MessageBody: new("a")},
		{Id: new("bad"), MessageBody: new("b"), DelaySeconds: 901},
		{Id: new("c"), MessageBody: new("c"), MessageAttributes: map[string]types.MessageAttributeValue{"k": {DataType: new("String"), StringValue: new("v")}}},
	}}))(t)
	if len(sent.Successful) != 2 || len(sent.Failed) != 1 || *sent.Failed[0].Id != "bad" || !sent.Failed[0].SenderFault || *sent.Failed[0].Code != "InvalidParameterValue" {
		t.Fatalf("sent %+v", sent)
	}
	messages := must(c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10}))(t).Messages
	if len(messages) != 2 {
		t.Fatalf("received %d messages", len(messages))
	}
	changed := must(c.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
		{Id: new("0"), ReceiptHandle: messages[0].ReceiptHandle, VisibilityTimeout: 0},
		{Id: new("1"), ReceiptHandle: messages[1].ReceiptHandle, VisibilityTimeout: 43201},
	}}))(t)
	if len(changed.Successful) != 1 || *changed.Successful[0].Id != "0" || len(changed.Failed) != 1 || *changed.Failed[0].Id != "1" {
		t.Fatalf("changed %+v", changed)
	}
	deleted := must(c.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
		{Id: new("0"), ReceiptHandle: messages[0].ReceiptHandle}, {Id: new("1"), ReceiptHandle: messages[1].ReceiptHandle},
	}}))(t)
	if len(deleted.Successful) != 2 || len(deleted.Failed) != 0 {
		t.Fatalf("deleted %+v", deleted)
	}
}

func TestSDKRedrive(t *testing.T) {
	ctx, c := t.Context(), serve(t)
	must(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("dead")}))(t)
	url := *must(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q"), Attributes: map[string]string{
		"VisibilityTimeout": "0", "RedrivePolicy": redrive("dead", 1),
	}}))(t).QueueUrl
	must(c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: new("a")}))(t)
	receive := func() int {
		return len(must(c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url}))(t).Messages)
	}
	if n, m := receive(), receive(); n != 1 || m != 0 {
		t.Fatalf("received %d, then %d", n, m)
	}
	if got := must(c.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: new(arn + "dead")}))(t); *got.TaskHandle == "" {
		t.Error("no task handle")
	}
	tasks := must(c.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: new(arn + "dead"), MaxResults: new(int32(10))}))(t).Results
	if len(tasks) != 1 || *tasks[0].Status != "COMPLETED" || tasks[0].ApproximateNumberOfMessagesMoved != 1 || time.Since(time.UnixMilli(tasks[0].StartedTimestamp)) > time.Minute {
		t.Errorf("tasks = %+v", tasks)
	}
	if receive() != 1 {
		t.Error("not back in the queue")
	}
}

// TestSDKErrors has the types that a caller's errors.As looks for, and the codes of the query protocol that the SDK
// reports beside them.
func TestSDKErrors(t *testing.T) {
	ctx, c := t.Context(), serve(t)
	url := *must(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q")}))(t).QueueUrl
	none := url + "2"
	entry := types.SendMessageBatchRequestEntry{Id: new("a"), MessageBody: new("a")}
	batch := func(entries ...types.SendMessageBatchRequestEntry) error {
		_, err := c.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
		return err
	}
	drop := func(_ any, err error) error { return err }
	must(c.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url}))(t)
	for name, tc := range map[string]struct {
		err    error
		target any
		code   string
	}{
		"QueueDoesNotExist": {drop(c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &none, MessageBody: new("a")})),
			new(*types.QueueDoesNotExist), "AWS.SimpleQueueService.NonExistentQueue"},
		"QueueNameExists": {drop(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("q"), Attributes: map[string]string{"DelaySeconds": "1"}})),
			new(*types.QueueNameExists), "QueueAlreadyExists"},
		"ReceiptHandleIsInvalid": {drop(c.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: new("x")})),
			new(*types.ReceiptHandleIsInvalid), "ReceiptHandleIsInvalid"},
		"InvalidMessageContents": {drop(c.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: new("\x01")})),
			new(*types.InvalidMessageContents), "InvalidMessageContents"},
		"InvalidAttributeName": {drop(c.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"x"}})),
			new(*types.InvalidAttributeName), "InvalidAttributeName"},
		"InvalidAttributeValue": {drop(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("r"), Attributes: map[string]string{"DelaySeconds": "x"}})),
			new(*types.InvalidAttributeValue), "InvalidAttributeValue"},
		"PurgeQueueInProgress": {drop(c.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url})),
			new(*types.PurgeQueueInProgress), "AWS.SimpleQueueService.PurgeQueueInProgress"},
		"ResourceNotFoundException": {drop(c.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: new(arn + "none")})),
			new(*types.ResourceNotFoundException), "ResourceNotFoundException"},
		"EmptyBatchRequest": {batch([]types.SendMessageBatchRequestEntry{}...),
			new(*types.EmptyBatchRequest), "AWS.SimpleQueueService.EmptyBatchRequest"},
		"BatchEntryIdsNotDistinct": {batch(entry, entry),
			new(*types.BatchEntryIdsNotDistinct), "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"},
		"TooManyEntriesInBatchRequest": {batch(entry, entry, entry, entry, entry, entry, entry, entry, entry, entry, entry),
			new(*types.TooManyEntriesInBatchRequest), "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"},
		"UnsupportedOperation": {drop(c.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: new("r"), Tags: map[string]string{"a": "b"}})),
			new(*types.UnsupportedOperation), "AWS.SimpleQueueService.UnsupportedOperation"},
		"InvalidParameterValue": {drop(c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 11})),
			new(*smithy.GenericAPIError), "InvalidParameterValue"},
		"unknown operation": {drop(c.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url})),
			new(*smithy.GenericAPIError), "UnknownOperationException"},
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.As(tc.err, tc.target) {
				t.Fatalf("error = %v, want a %T", tc.err, tc.target)
			}
			var api smithy.APIError
			if !errors.As(tc.err, &api) || api.ErrorCode() != tc.code {
				t.Errorf("code = %v, want %s", api.ErrorCode(), tc.code)
			}
		})
	}
}

func TestHandlerRefusesWhatItCannotRead(t *testing.T) {
	handler := queue.New(queue.Config{}).Handler()
	for name, tc := range map[string]struct{ target, body, want string }{
		"no target":      {"", `{}`, "UnknownOperationException"},
		"other service":  {"DynamoDB_20120810.ListTables", `{}`, "UnknownOperationException"},
		"no JSON":        {"AmazonSQS.ListQueues", `queues!`, "UnsupportedOperation"},
		"unknown field":  {"AmazonSQS.ListQueues", `{"MaxResults":1}`, "MaxResults"},
		"too many bytes": {"AmazonSQS.SendMessage", `{"MessageBody":"` + strings.Repeat("a", 8<<20) + `"}`, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(tc.body))
			r.Header.Set("X-Amz-Target", tc.target)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), tc.want) {
				t.Fatalf("%d %s, want 400 with %s", w.Code, w.Body, tc.want)
			}
		})
	}
}
