package sqsbatch

import (
	"sync"
	"time"
)

const (
	// maxEntries is what one batched call to SQS takes (Amazon SQS API reference,
	// SendMessageBatch and ChangeMessageVisibilityBatch).
	maxEntries = 10

	// linger is how long the first of several entries waits for others to share its
	// call.
	linger = 50 * time.Millisecond
)

// relay makes one call at a time for entries that come in one by one. A call is made
// when ten entries wait, when one has lingered, or when somebody is in a hurry; what
// comes in while a call is under way goes with the next.
type relay[T any] struct {
	send func([]T)
	size func(T) int // bytes; nil: they do not count

	mu      sync.Mutex
	waiting []T
	urgent  bool // no other entries are waited for
	closed  bool
	calling bool
	timer   *time.Timer
	calls   sync.WaitGroup
}

func newRelay[T any](send func([]T), size func(T) int) *relay[T] {
	return &relay[T]{send: send, size: size}
}

func (r *relay[T]) add(entry T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, entry)
	if len(r.waiting) == 1 && !r.calling {
		r.timer = time.AfterFunc(linger, r.hurry)
	}
	r.start()
}

// hurry has a call made of what waits.
func (r *relay[T]) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.urgent = true
	r.start()
}

// close waits until all is sent. Nothing may be added after it.
func (r *relay[T]) close() {
	r.mu.Lock()
	r.closed = true
	r.start()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.mu.Unlock()
	r.calls.Wait()
}

// start makes a call, if it is time to. It holds the lock.
func (r *relay[T]) start() {
	if len(r.waiting) == 0 {
		r.urgent = false
		return
	}
	if r.calling || len(r.waiting) < maxEntries && !r.urgent && !r.closed {
		return
	}
	group := r.next()
	r.calling = true
	r.calls.Go(func() {
		defer r.again() // also where send ends its goroutine
		r.send(group)
	})
}

// again goes on after a call.
func (r *relay[T]) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calling, r.urgent = false, true
	r.start()
}

// next takes the entries of the next call.
func (r *relay[T]) next() []T {
	n, bytes := 0, 0
	for n < min(len(r.waiting), maxEntries) {
		if r.size != nil {
			if bytes += r.size(r.waiting[n]); n > 0 && bytes > maxMessageBytes {
				break
			}
		}
		n++
	}
	group := r.waiting[:n:n]
	r.waiting = r.waiting[n:]
	return group
}
