package telemetry

import "tokenmeter/service/traffic"

// Queue is a sink that works in a goroutine of its own, so that no request ever
// waits for telemetry. What it has no room for is dropped and counted.
type Queue struct {
	queue *traffic.Queue[*traffic.Request]
	done  chan struct{}
}

// QueueSize is how many finished requests may wait.
const QueueSize = 1024

// NewQueue begins to work. It must be closed.
func NewQueue(size int, work func(*traffic.Request)) *Queue {
	q := &Queue{queue: traffic.NewQueue[*traffic.Request](size), done: make(chan struct{})}
	go func() {
		defer close(q.done)
		for r := range q.queue.Waiting() {
			work(r)
		}
	}()
	return q
}

// Done implements traffic.Sink.
func (q *Queue) Done(r *traffic.Request) { q.queue.Put(r) }

// Dropped is how many requests were dropped.
func (q *Queue) Dropped() int64 { return q.queue.Dropped() }

// Close works off what waits.
func (q *Queue) Close() {
	q.queue.Close()
	<-q.done
}
