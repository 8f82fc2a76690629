package queue

// Choice is something that SQS leaves open. Its text says of a message what was chosen.
type Choice string

// The choices, each with the answer 0 where nothing is unusual.
const (
	// Next is which of the messages that are ready a receive takes next, of a FIFO queue which group; 0 is the oldest, the rest in no
	// order. A standard queue's order is best-effort, and a FIFO queue has none between groups (guide: "standard queues", "FIFO
	// queue delivery logic").
	Next Choice = "is next"

	// Fewer is how many fewer messages than it asks for a receive is given at most (API: ReceiveMessage, MaxNumberOfMessages).
	Fewer Choice = "is left for a later receive"

	// StaysVisible, 1: a standard queue's message is delivered and not hidden from other receives (guide: "visibility timeout":
	// it is no guarantee).
	StaysVisible Choice = "is delivered, and stays visible"

	// Twice, 1: a standard queue's message is there twice in one answer (guide: "At-least-once delivery").
	Twice Choice = "is twice in the batch"

	// ByOldHandle, 1: a standard queue's message is deleted by a receipt handle that is not its latest (API: DeleteMessage: it
	// "might not be deleted").
	ByOldHandle Choice = "is deleted by an old receipt handle"

	// ComesBack, 1: a server that had a copy of a standard queue's message did not hear of its deletion, so that it is visible
	// again when its visibility timeout is over (API: DeleteMessage).
	ComesBack Choice = "is deleted, and comes back"
)

// Chooser answers a choice with one of n, from 0 to n-1. The id is of the message that it is about; empty: of none. A choice of one
// is not asked.
type Chooser func(c Choice, id string, n int) int

func (q *Queue[B]) choose(c Choice, id string, n int) int {
	if q.config.Choose == nil || n <= 1 {
		return 0
	}
	return q.config.Choose(c, id, n)
}
