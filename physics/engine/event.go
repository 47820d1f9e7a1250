package engine

import "time"

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
	q.h = append(q.h, e)
	for i := len(q.h) - 1; i > 0; {
		p := (i - 1) / 2
		if !q.before(i, p) {
			break
		}
		q.h[i], q.h[p] = q.h[p], q.h[i]
		i = p
	}
}

func (q *events) pop() event {
	top := q.h[0]
	last := len(q.h) - 1
	q.h[0] = q.h[last]
	q.h[last] = event{}
	q.h = q.h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && q.before(c+1, c) {
			c++
		}
		if !q.before(c, i) {
			return top
		}
		q.h[i], q.h[c] = q.h[c], q.h[i]
		i = c
	}
}

func (q *events) before(i, j int) bool {
	a, b := &q.h[i], &q.h[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.seq < b.seq
}
