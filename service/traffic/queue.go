package traffic

import (
	"sync"
	"sync/atomic"
)

// Queue takes what requests bring to a goroutine that works on it, so that no
// request ever waits. What there is no room for, or what comes after Close, is
// dropped and counted.
type Queue[T any] struct {
	waiting chan T
	dropped atomic.Int64
	mu      sync.RWMutex // of closed, against sends
	closed  bool
}

// NewQueue has room for size values.
func NewQueue[T any](size int) *Queue[T] { return &Queue[T]{waiting: make(chan T, size)} }

// Put never waits. It reports false when the value came to nothing.
func (q *Queue[T]) Put(v T) bool {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.Drop(1)
		return false
	}
	select {
	case q.waiting <- v:
		return true
	default:
		q.Drop(1)
		return false
	}
}

// Waiting is what was put; it ends after Close.
func (q *Queue[T]) Waiting() <-chan T { return q.waiting }

// Drop counts values that were taken and came to nothing all the same.
func (q *Queue[T]) Drop(n int64) { q.dropped.Add(n) }

// Dropped is how many values came to nothing.
func (q *Queue[T]) Dropped() int64 { return q.dropped.Load() }

// Close lets nothing more in; what waits can still be taken. It reports false
// when the queue was closed already.
func (q *Queue[T]) Close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.closed = true
	close(q.waiting)
	return true
}
