package sqsbatch_test

import "github.com/singleeffect/once/shared/sqsbatch"

const deadLetterURL = "https://sqs.eu-west-1.amazonaws.com/123456789012/once-charge-dead"

// quarantining gives a batch a dead-letter queue to send to.
func quarantining(c *sqsbatch.Config) { c.DeadLetterURL = deadLetterURL }
