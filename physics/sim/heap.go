package sim

import "tokenmeter/base/heap"

// action is what to do with a reply when a timer is due.
type action uint8

const (
	actToken   action = iota // the model's next step of a sequence
	actDeliver               // a delivery that was put off
	actPiece                 // the second half of a split write
	actPing
	actHead // the second half of a slow head
)

// timer is something that is due at a moment.
type timer struct {
	at  int64
	seq uint64 // order of setting, for equal moments
	do  action
	r   *reply
}

// timers is a heap of what is due, earliest first.
type timers struct {
	h   []timer
	seq uint64
}

func (t *timers) add(at int64, do action, r *reply) {
	t.seq++
	t.h = heap.Push(t.h, timer{at, t.seq, do, r}, timer.before)
}

func (t *timers) next() (int64, bool) {
	if len(t.h) == 0 {
		return 0, false
	}
	return t.h[0].at, true
}

func (t *timers) pop() (first timer) {
	first, t.h = heap.Pop(t.h, timer.before)
	return first
}

func (t timer) before(other timer) bool {
	return t.at < other.at || t.at == other.at && t.seq < other.seq
}
