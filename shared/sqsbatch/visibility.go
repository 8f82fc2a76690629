package sqsbatch

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

const (
	// hideJitter spreads duplicates that wait for one intent.
	hideJitter = 5 * time.Second

	// maxVisibility is SQS's own limit (Amazon SQS quotas, "Message visibility
	// timeout"), counted from the receive; half an hour is left for that.
	maxVisibility = 11*time.Hour + 30*time.Minute
)

// Queue is what this package calls of SQS: ChangeMessageVisibilityBatch on the queue of
// the messages, and SendMessageBatch to the dead-letter queue and nowhere else. IAM
// knows them as sqs:ChangeMessageVisibility and sqs:SendMessage.
type Queue interface {
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// mayHide reports a message of the queue that the batch knows.
func (b *Batch) mayHide(m letter) bool {
	return b.Queue != nil && strings.HasSuffix(b.QueueURL, queueName(m.SQSMessage))
}

// hide keeps messages away for a while. They are never sent back to their queue: a copy
// would have another id and a fresh receive count. What cannot be hidden comes back by
// itself. The error is of a call that failed as a whole.
func (b *Batch) hide(ctx context.Context, messages []hidden) error {
	input := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &b.QueueURL}
	for i, m := range messages {
		wait := min(m.wait, maxVisibility)
		input.Entries = append(input.Entries, types.ChangeMessageVisibilityBatchRequestEntry{
			Id:                aws.String(strconv.Itoa(i)),
			ReceiptHandle:     aws.String(m.ReceiptHandle),
			VisibilityTimeout: int32((wait + time.Second - 1) / time.Second), // whole seconds, up
		})
	}
	out, err := (*sqs.ChangeMessageVisibilityBatchOutput)(nil), ctx.Err() // no call is begun that the answer would have to wait for
	if err == nil {
		out, err = b.Queue.ChangeMessageVisibilityBatch(ctx, input)
	}
	const said = "cannot hide messages, they come back when their visibility timeout ends"
	switch {
	case err == nil && len(out.Failed) == 0:
	case err == nil:
		b.Log.WarnContext(ctx, said, "messages", len(out.Failed), "error", aws.ToString(out.Failed[0].Code))
	case !denied(err) || !b.denied.Swap(true):
		b.Log.WarnContext(ctx, said, "messages", len(messages), "error", err.Error())
	}
	return err
}

// denied reports that the role may not change visibility: said once, since it
// will not pass by itself.
func denied(err error) bool {
	var answer smithy.APIError
	return errors.As(err, &answer) && strings.HasPrefix(answer.ErrorCode(), "AccessDenied")
}

// queueName is the end of a queue's URL, out of its ARN.
func queueName(m events.SQSMessage) string {
	return "/" + m.EventSourceARN[strings.LastIndex(m.EventSourceARN, ":")+1:]
}
