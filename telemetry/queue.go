package telemetry

import (
	"sync"
	"sync/atomic"

	"tokenmeter/live"
)

// Queue is a sink that works in a goroutine of its own, so that no request ever
// waits for telemetry. What it has no room for is dropped and counted.
type Queue struct {
	work    func(*live.Request)
	waiting chan *live.Request
	done    chan struct{}
	dropped atomic.Int64
	mu      sync.RWMutex // of closed, against sends
	closed  bool
}

// QueueSize is how many finished requests may wait.
const QueueSize = 1024

// NewQueue begins to work. It must be closed.
func NewQueue(size int, work func(*live.Request)) *Queue {
	q := &Queue{work: work, waiting: make(chan *live.Request, size), done: make(chan struct{})}
	go func() {
		defer close(q.done)
		for r := range q.waiting {
			q.work(r)
		}
	}()
	return q
}

// Done implements live.Sink.
func (q *Queue) Done(r *live.Request) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.dropped.Add(1)
		return
	}
	select {
	case q.waiting <- r:
	default:
		q.dropped.Add(1)
	}
}

// Dropped is how many requests were dropped.
func (q *Queue) Dropped() int64 { return q.dropped.Load() }

// Close works off what waits.
func (q *Queue) Close() {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.waiting)
	}
	q.mu.Unlock()
	<-q.done
}
