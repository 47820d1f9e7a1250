package engine

import (
	"cmp"
	"time"

	"tokenmeter/base/heap"
)

type eventKind uint8

// In the order in which they happen at one moment: a step's end frees what
// arrivals may then use, and planning comes when everything has arrived.
const (
	stepEnd eventKind = iota
	moved
	arrival
	planStep
)

type event struct {
	at   time.Duration
	kind eventKind
	seq  int
	in   *instance
	r    *Request
}

// events is a heap of what will happen.
type events struct {
	h   []event
	seq int
}

func (q *events) push(e event) {
	q.seq++
	e.seq = q.seq
	q.h = heap.Push(q.h, e, event.before)
}

func (q *events) pop() (first event) {
	first, q.h = heap.Pop(q.h, event.before)
	return first
}

func (e event) before(other event) bool {
	return cmp.Or(cmp.Compare(e.at, other.at), cmp.Compare(e.kind, other.kind), cmp.Compare(e.seq, other.seq)) < 0
}
