package doctor

import (
	"slices"

	"github.com/singleeffect/once/infra/template"
)

func effectClass(s Stack, found report) {
	classes := []string{keyed, ledger, natural, blind}
	for _, f := range s.Functions {
		if class := f.Tags[classTag]; !slices.Contains(classes, class) {
			found(f.LogicalID, "has the tag %s %q, and the classes are %q", classTag, class, classes)
		}
	}
}

// users are the functions that a queue, or a dead-letter queue, serves, by its logical id.
func (s Stack) users() map[string][]string {
	users := map[string][]string{}
	for _, f := range s.feeds() {
		users[f.queue.LogicalID] = append(users[f.queue.LogicalID], f.LogicalID)
		if f.dead != nil {
			users[f.dead.LogicalID] = append(users[f.dead.LogicalID], f.LogicalID)
		}
	}
	return users
}

func oneQueue(s Stack, found report) {
	for _, f := range s.Functions {
		if n := len(f.Events); n != 1 {
			found(f.LogicalID, "takes from %d queues, and not from 1", n)
		}
	}
	users := s.users()
	for _, q := range s.Queues {
		if of := users[q.LogicalID]; len(of) > 1 {
			found(q.LogicalID, "serves %d functions, and not 1: %q", len(of), of)
		}
	}
}

// ownQueues leaves out what several functions share: that is nobody's own, and another rule's.
func ownQueues(s Stack, found report) {
	users := s.users()
	own := func(f template.Function, variable string, q template.Queue) {
		if url := f.Environment[variable]; url != q.URL && len(users[q.LogicalID]) == 1 {
			found(f.LogicalID, "has %s %q, and its own %s is %q", variable, url, q.LogicalID, q.URL)
		}
	}
	for _, f := range s.feeds() {
		own(f.Function, "QUEUE_URL", f.queue)
		if f.dead != nil {
			own(f.Function, "DEAD_LETTER_QUEUE_URL", *f.dead)
		}
	}
}

func deadLetterQueue(s Stack, found report) {
	for _, f := range s.feeds() {
		if f.dead == nil {
			found(f.queue.LogicalID, "has no dead-letter queue, and after its %s a message is gone", span(f.queue.Retention))
		}
	}
}

func deadLetterKind(s Stack, found report) {
	kind := map[bool]string{true: "FIFO", false: "standard"}
	for _, f := range s.feeds() {
		if f.dead != nil && f.dead.FIFO != f.queue.FIFO {
			found(f.dead.LogicalID, "is a %s queue, and %s is a %s queue", kind[f.dead.FIFO], f.queue.LogicalID, kind[f.queue.FIFO])
		}
	}
}

func batchItemFailures(s Stack, found report) {
	const need = "ReportBatchItemFailures"
	for _, f := range s.feeds() {
		if !slices.Contains(f.event.FunctionResponseTypes, need) {
			found(f.LogicalID, "has an event %s with response types %q, and not %s", f.event.Name, f.event.FunctionResponseTypes, need)
		}
	}
}

func concurrency(s Stack, found report) {
	for _, f := range s.feeds() {
		switch most, reserved := f.event.MaximumConcurrency, f.ReservedConcurrency; {
		case reserved == 0:
		case most == 0:
			found(f.LogicalID, "has %d invocations reserved, and its event %s may start any number", reserved, f.event.Name)
		case most > reserved:
			found(f.LogicalID, "has %d invocations reserved, and its event %s may start %d", reserved, f.event.Name, most)
		}
	}
}

// longestName is what SQS takes, a FIFO queue's suffix included (Amazon SQS developer guide, "Amazon SQS standard queue quotas").
const longestName = 80

// queueName counts what no function of CloudFormation can: names are made of the stack's.
func queueName(s Stack, found report) {
	for _, q := range s.Queues {
		if n := len(q.Name); n > longestName {
			found(q.LogicalID, "has a name of %d characters, %q, and SQS takes %d", n, q.Name, longestName)
		}
	}
}
