package engine

import "tokenmeter/base/heap"

// queue holds the requests that wait, in the order of a discipline. Those that
// leave are skipped when they come to the front.
type queue struct {
	discipline Discipline
	ring       []*Request // FCFS: a ring; else a heap
	head, n    int
	live       int // without those that left
	tokens     int // prompt tokens of the live ones
}

func (q *queue) push(r *Request) {
	r.s.state = waiting
	q.live++
	q.tokens += r.s.total - r.s.computed
	if q.discipline != FCFS {
		q.ring = heap.Push(q.ring, r, q.before)
		q.n++
		return
	}
	q.room()
	q.ring[(q.head+q.n)%len(q.ring)] = r
	q.n++
}

// pushFront puts back a request that had its turn already.
func (q *queue) pushFront(r *Request) {
	if q.discipline != FCFS {
		q.push(r)
		return
	}
	r.s.state = waiting
	q.live++
	q.tokens += r.s.total - r.s.computed
	q.room()
	q.head = (q.head + len(q.ring) - 1) % len(q.ring)
	q.ring[q.head] = r
	q.n++
}

func (q *queue) room() {
	if q.n < len(q.ring) {
		return
	}
	bigger := make([]*Request, max(2*len(q.ring), 16))
	for i := range q.n {
		bigger[i] = q.ring[(q.head+i)%len(q.ring)]
	}
	q.ring, q.head = bigger, 0
}

// peek is the next request, or nil.
func (q *queue) peek() *Request {
	for q.n > 0 {
		r := q.ring[q.head]
		if r.s.state == waiting {
			return r
		}
		q.drop()
	}
	return nil
}

// pop takes the request that peek shows.
func (q *queue) pop() *Request {
	r := q.peek()
	if r != nil {
		q.left(r)
		q.drop()
	}
	return r
}

// left notes that a request no longer waits.
func (q *queue) left(r *Request) {
	q.live--
	q.tokens -= r.s.total - r.s.computed
}

func (q *queue) drop() {
	if q.discipline != FCFS {
		_, q.ring = heap.Pop(q.ring, q.before)
		q.n--
		return
	}
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
}

func (q *queue) before(a, b *Request) bool {
	x, y := a.Priority, b.Priority
	if q.discipline == ShortestFirst {
		x, y = a.PromptTokens+a.OutputTokens, b.PromptTokens+b.OutputTokens
	}
	if x != y {
		return x < y
	}
	return a.s.order < b.s.order
}
