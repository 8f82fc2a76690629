package queue

import (
	"cmp"
	base "container/heap"
)

// heap has messages with the least first. A message is in one heap at most, and knows its place there.
type heap[B any] struct {
	items []*entry[B]
	less  func(a, b *entry[B]) bool
}

func (h *heap[B]) add(e *entry[B]) { base.Push(h, e) }

// leave takes a message out of the heap that it is in.
func (e *entry[B]) leave() {
	if e.heap != nil {
		base.Remove(e.heap, e.index)
	}
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (h *heap[B]) Len() int           { return len(h.items) }
func (h *heap[B]) Less(i, j int) bool { return h.less(h.items[i], h.items[j]) }

func (h *heap[B]) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].index, h.items[j].index = i, j
}

func (h *heap[B]) Push(x any) {
	e := x.(*entry[B])
	e.heap, e.index = h, len(h.items)
	h.items = append(h.items, e)
}

func (h *heap[B]) Pop() any {
	last := len(h.items) - 1
	e := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	e.heap = nil
	return e
}

func inOrder[B any](a, b *entry[B]) int { return cmp.Compare(a.Sequence, b.Sequence) }
