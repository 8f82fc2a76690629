// Package queue is a small SQS that runs in this process: SQS's protocol, its validation and its error texts before the
// queues of shared/intenttest/queue, which decide what is delivered when and say what they promise.
//
// # Limits
//
// It is kinder than AWS, for nothing happens by chance here: it never delivers a message twice by itself, and a standard
// queue's messages out of order only once they have been received three times. It counts exactly where AWS says
// "Approximate", and moves a whole dead-letter queue at once. Everything lives in memory and in one account, 000000000000
// in us-east-1. A request that uses what is not here (tags, policies, encryption, pagination, message system attributes)
// is refused, not half obeyed.
//
// Time comes from one clock, Config.Now, and is read once an operation; ids come from one source, Config.Random. With
// both injected a sequence of operations always gives the same answers. Nothing runs in the background: what time
// does to a message is worked out by the next operation that looks at it.
//
// Texts of errors, and behaviour that the developer guide leaves open, follow what LocalStack's suite recorded from
// AWS itself (tests/aws/services/sqs in localstack/localstack).
package queue
