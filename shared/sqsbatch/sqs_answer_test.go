package sqsbatch_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/sqsbatch"
)

// answering is a queue that answers a call that sends with what the test says.
type answering struct {
	*hider
	out *sqs.SendMessageBatchOutput
}

func (q *answering) SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	return q.out, nil
}

// What SQS answers counts for the message that it names and for no other, and the log says what it was.
func TestAnswerOfACallThatSends(t *testing.T) {
	t.Parallel()
	failed := func(id *string) types.BatchResultErrorEntry {
		return types.BatchResultErrorEntry{Id: id, Code: aws.String("InternalError")}
	}
	ok := func(id *string) types.SendMessageBatchResultEntry { return types.SendMessageBatchResultEntry{Id: id} }
	const silent = "SQS does not tell"
	for name, tt := range map[string]struct {
		out    sqs.SendMessageBatchOutput
		listed []string
		says   map[string]string // in the log, of each that is listed
	}{
		"both":            {sqs.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{ok(aws.String("0")), ok(aws.String("1"))}}, nil, nil},
		"one of each":     {sqs.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{ok(aws.String("1"))}, Failed: []types.BatchResultErrorEntry{failed(aws.String("0"))}}, []string{"0"}, map[string]string{"0": "InternalError"}},
		"one":             {sqs.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{ok(aws.String("0"))}}, []string{"1"}, map[string]string{"1": silent}},
		"of no name":      {sqs.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{ok(nil), ok(aws.String("")), ok(aws.String("x"))}}, []string{"0", "1"}, map[string]string{"0": silent, "1": silent}},
		"of others":       {sqs.SendMessageBatchOutput{Successful: []types.SendMessageBatchResultEntry{ok(aws.String("-1")), ok(aws.String("2"))}}, []string{"0", "1"}, map[string]string{"0": silent, "1": silent}},
		"failed, no name": {sqs.SendMessageBatchOutput{Failed: []types.BatchResultErrorEntry{failed(nil), failed(aws.String("-1")), failed(aws.String("2"))}}, []string{"0", "1"}, map[string]string{"0": silent, "1": silent}},
	} {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, quarantining, func(c *sqsbatch.Config) { c.Queue = &answering{c.Queue.(*hider), &tt.out} })
			listed, _ := r.within(timeout, many(2, "poison"))
			wantIDs(t, "listed", listed, tt.listed...)
			for id, says := range tt.says {
				if text, _ := r.log.about(t, id)["error"].(string); !strings.Contains(text, says) {
					t.Errorf("the log says %q of %s, want %q", text, id, says)
				}
			}
		})
	}
}

// A call that fails for what is in it is made again for each of its messages, which tells whose fault it is. One that fails
// for another reason is not: SQS is out of reach, or the role may not send at all.
func TestCallThatFailsAsAWhole(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err   error
		sends int
	}{
		"a fault of SQS":     {&smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}, 1},
		"of unknown fault":   {&smithy.GenericAPIError{Code: "Odd", Fault: smithy.FaultUnknown}, 1},
		"no right to":        {&smithy.GenericAPIError{Code: "AccessDenied", Fault: smithy.FaultClient}, 1},
		"no right, at large": {&smithy.GenericAPIError{Code: "AccessDeniedException", Fault: smithy.FaultClient}, 1},
	}
	for _, code := range []string{"InvalidMessageContents", "InvalidParameterValue", "InvalidAttributeValue", "BatchRequestTooLong", "BatchEntryIdsNotDistinct", "UnsupportedOperation",
		"AWS.SimpleQueueService.BatchRequestTooLong"} {
		failed := cases["no right to"]
		failed.err, failed.sends = &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient}, 4
		cases["what is in it: "+code] = failed
	}
	for name, tt := range cases {
		bubble(t, name, func(t *testing.T) {
			r := newRig(t, quarantining)
			r.queue.away = func(context.Context) error { return tt.err }
			listed, _ := r.within(timeout, many(3, "poison"))
			wantIDs(t, "listed", listed, "0", "1", "2")
			if r.queue.sends != tt.sends {
				t.Errorf("made %d calls, want %d", r.queue.sends, tt.sends)
			}
			if text, _ := r.log.about(t, "1")["error"].(string); !strings.Contains(text, tt.err.Error()) {
				t.Errorf("the log says %q, want %v", text, tt.err)
			}
		})
	}
}

// Where the first of them alone meets another failure, no further call is made.
func TestCallThatFailsAsAWholeLater(t *testing.T) {
	t.Parallel()
	bubble(t, "InternalError", func(t *testing.T) {
		r := newRig(t, quarantining)
		r.queue.away = func(context.Context) error {
			if r.queue.sends == 1 {
				return &smithy.GenericAPIError{Code: "InvalidMessageContents", Fault: smithy.FaultClient}
			}
			return &smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}
		}
		listed, _ := r.within(timeout, many(3, "poison"))
		wantIDs(t, "listed", listed, "0", "1", "2")
		if r.queue.sends != 2 {
			t.Errorf("made %d calls, want 2", r.queue.sends)
		}
	})
}
