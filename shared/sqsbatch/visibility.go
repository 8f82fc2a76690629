package sqsbatch

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intent"
)

const (
	// hideJitter spreads duplicates that wait for one intent.
	hideJitter = 5 * time.Second

	// maxVisibility is SQS's own limit (Amazon SQS quotas, "Message visibility
	// timeout"), counted from the receive; half an hour is left for that.
	maxVisibility = 11*time.Hour + 30*time.Minute
)

// Queue is what this package calls of SQS: ChangeMessageVisibility on the queue of
// the messages, and SendMessage to the dead-letter queue and nowhere else.
type Queue interface {
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// hide keeps a message away for as long as its intent may be in progress
// elsewhere. It is never sent back to its queue: a copy would have another id and
// a fresh receive count. If hiding fails the message comes back by itself.
func (b *Batch) hide(ctx context.Context, m events.SQSMessage, wait time.Duration) {
	if b.Queue == nil || !strings.HasSuffix(b.QueueURL, queueName(m)) {
		return
	}
	ctx, cancel := intent.StoreContext(ctx)
	defer cancel()
	wait = min(wait+rand.N(hideJitter), maxVisibility)
	_, err := b.Queue.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl:          &b.QueueURL,
		ReceiptHandle:     aws.String(m.ReceiptHandle),
		VisibilityTimeout: int32((wait + time.Second - 1) / time.Second), // whole seconds, up
	})
	if err == nil || denied(err) && b.denied.Swap(true) {
		return
	}
	b.Log.WarnContext(ctx, "cannot hide a message in progress elsewhere, it costs its receives", "error", err.Error())
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
