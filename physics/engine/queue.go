package engine

// queue holds the requests that wait: first come, first served. Those that
// leave are skipped when they come to the front.
type queue struct {
	again  []*Request // had their turn already and go before all others, the last first
	line   []*Request // the others, from head on
	head   int
	live   int // without those that left
	tokens int // prompt tokens of the live ones
}

func (q *queue) push(r *Request) {
	q.waits(r)
	q.line = append(q.line, r)
}

// pushFront puts back a request that had its turn already.
func (q *queue) pushFront(r *Request) {
	q.waits(r)
	q.again = append(q.again, r)
}

func (q *queue) waits(r *Request) {
	r.s.state = waiting
	q.live++
	q.tokens += r.s.total - r.s.computed
}

// left notes that a request no longer waits.
func (q *queue) left(r *Request) {
	q.live--
	q.tokens -= r.s.total - r.s.computed
}

// peek is the next request, or nil.
func (q *queue) peek() *Request {
	for ; len(q.again) > 0; q.drop() {
		if r := q.again[len(q.again)-1]; r.s.state == waiting {
			return r
		}
	}
	for ; q.head < len(q.line); q.drop() {
		if r := q.line[q.head]; r.s.state == waiting {
			return r
		}
	}
	return nil
}

// pop takes the request that peek showed.
func (q *queue) pop(r *Request) {
	q.left(r)
	q.drop()
}

func (q *queue) drop() {
	if n := len(q.again); n > 0 {
		q.again = q.again[:n-1]
		return
	}
	q.line[q.head] = nil
	if q.head++; q.head == len(q.line) {
		q.line, q.head = q.line[:0], 0
	}
}
