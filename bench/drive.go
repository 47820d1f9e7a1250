package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/schedule"
	"tokenmeter/workload"
)

// items gives the i-th request of a phase.
type items func(i int64) workload.Item

// closed drives a closed loop: each stream sends its next request when the one
// before has ended. It returns when all have.
func (r *runner) closed(ph *phase, loop schedule.Closed, item items, workers int) {
	var next atomic.Int64
	var streams sync.WaitGroup
	for s := range loop.Concurrency {
		streams.Go(func() {
			for ph.ctx.Err() == nil && !r.over(ph, loop.Duration) {
				i := next.Add(1) - 1
				if loop.Requests > 0 && i >= loop.Requests {
					return
				}
				j := r.prepare(ph, item(i), s%workers)
				r.send(ph, j, r.clk.US())
			}
		})
	}
	streams.Wait()
}

// over reports whether the time to send is up.
func (r *runner) over(ph *phase, duration time.Duration) bool {
	return duration > 0 && r.clk.US()-ph.baseUS >= duration.Microseconds()
}

// slots is the cap on requests in flight; nil has none.
type slots chan struct{}

func newSlots(n int) slots {
	if n <= 0 {
		return nil
	}
	return make(slots, n)
}

// take waits for a slot; false when the phase ends first.
func (s slots) take(ph *phase) bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	default:
	}
	select {
	case s <- struct{}{}:
		return true
	case <-ph.ctx.Done():
		return false
	}
}

func (s slots) give() {
	if s != nil {
		<-s
	}
}

// open drives an open loop: every request is sent when it is due, whatever the
// server does. With a cap it may start later, and the wait is part of its
// latency. Each worker has its own share and its own thread to wait on. It
// returns when all requests have ended.
func (r *runner) open(ph *phase, loop schedule.Open, item items, workers, limit int) {
	free := newSlots(limit)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() { r.arrivals(ph, loop, item, schedule.Share{Worker: w, Of: workers}, free, &all) })
	}
	all.Wait()
}

// arrivals sends one worker's share. The next request is made while the worker
// would wait for it anyway. Requests take their slots in the order they are due.
func (r *runner) arrivals(ph *phase, loop schedule.Open, item items, share schedule.Share, free slots, all *sync.WaitGroup) {
	wait := r.sleeper()
	defer wait.Close()
	for a := range loop.Arrivals(share) {
		dueUS := ph.baseUS + a.At.Microseconds()
		if ph.ctx.Err() != nil && r.clk.US() < dueUS {
			return
		}
		j := r.prepare(ph, item(a.Index), share.Worker)
		if wait.WaitUntil(ph.ctx, dueUS) != nil && r.clk.US() < dueUS {
			r.rec.drop(j)
			return
		}
		if ph.ctx.Err() != nil || !free.take(ph) {
			r.unsent(ph, j, dueUS)
			continue
		}
		all.Go(func() {
			defer free.give()
			r.send(ph, j, dueUS)
		})
		runtime.Gosched() // the request first, then the making of the next one
	}
}
