package bench

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
)

// items gives the i-th item of a phase.
type items func(i int64) workload.Item

// arrivals is a schedule of an open loop; schedule.Open and schedule.Trace are.
type arrivals interface {
	Arrivals(schedule.Share) iter.Seq[schedule.Arrival]
}

// closed drives a closed loop: each stream sends its next item when the one
// before has ended. It returns when all have.
func (r *runner) closed(ph *phase, loop schedule.Closed, item items, workers int) {
	ph.main = newMainPart()
	d := &closedLoop{r: r, ph: ph, loop: loop, item: item, workers: workers}
	var streams sync.WaitGroup
	for s := range loop.Concurrency {
		streams.Go(func() { d.stream(s) })
	}
	streams.Wait()
	if n := d.begun.Load(); ph.name == timeline.Measure && d.loop.Requests >= int64(d.loop.Concurrency) && d.allSent() && n < int64(d.loop.Concurrency) {
		r.log.notice("too_few_requests", timeline.Some(float64(d.loop.Requests)),
			"%d requests are %d conversations or tasks, which keep at most %d of the %d streams busy: ask for more requests, so that every stream has several of them.",
			d.loop.Requests, n, n, d.loop.Concurrency)
	}
}

type closedLoop struct {
	r       *runner
	ph      *phase
	loop    schedule.Closed
	item    items
	workers int
	next    atomic.Int64 // items of the main part
	sent    atomic.Int64 // requests that they hold
	turn    turn
	begun   atomic.Int64 // of the items, those that were wanted
}

// stream sends one item after another.
func (d *closedLoop) stream(s int) {
	r, ph := d.r, d.ph
	at := ph.baseUS + d.loop.Starts(s).Microseconds()
	lost := 0 // requests on end that reached nobody
	for ph.ctx.Err() == nil {
		may, ok := d.loop.May(s, time.Duration(max(at, r.clk.US())-ph.baseUS)*time.Microsecond)
		at = max(at, ph.baseUS+may.Microseconds())
		if !ok || r.pauseUnless(ph, at, ph.main.all) != nil {
			return
		}
		now := r.clk.US()
		item, part, ok := d.take(now)
		if !ok {
			return
		}
		p := r.playing(ph, item, part, s%d.workers)
		if d.allSent() {
			ph.main.over() // streams that wait for their time need not
		}
		p.play(r.clk.US())
		p.ended()
		if at = max(now, p.lastUS()) + d.loop.Gap.Microseconds(); d.loop.Gap == 0 {
			at = 0
		}
		if lost++; p.reached() {
			lost = 0
		}
		at = max(at, r.clk.US()+retreat(lost).Microseconds())
		if p.waits.Load() { // its user is there until the end, so nobody takes the place
			at = max(at, ph.untilUS)
		}
	}
}

// allSent reports whether as many requests as were asked for are on their way.
func (d *closedLoop) allSent() bool {
	return d.loop.Requests > 0 && d.sent.Load() >= d.loop.Requests && !d.wants(d.next.Load())
}

// before counts the requests of an item and says how many those before it hold: what
// was planned before an item tells whether it is wanted. Items are counted in their
// order, whichever stream made its own first, so each run of one seed sends the same.
func (d *closedLoop) before(i, n int64) int64 {
	d.turn.wait(i)
	defer d.turn.over()
	return d.sent.Add(n) - n
}

// turn lets those that hold the numbers 0, 1, 2, … go on one after another.
type turn struct {
	mu      sync.Mutex
	now     int64
	waiting map[int64]chan struct{}
	gone    bool // somebody whose turn would come has left: nobody waits any more
}

func (t *turn) wait(i int64) {
	t.mu.Lock()
	if i == t.now || t.gone {
		t.mu.Unlock()
		return
	}
	if t.waiting == nil {
		t.waiting = map[int64]chan struct{}{}
	}
	come := make(chan struct{})
	t.waiting[i] = come
	t.mu.Unlock()
	<-come
}

func (t *turn) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now++
	if come := t.waiting[t.now]; come != nil {
		delete(t.waiting, t.now)
		close(come)
	}
}

// quit lets all go on at once.
func (t *turn) quit() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	for i, come := range t.waiting {
		delete(t.waiting, i)
		close(come)
	}
}

// wants reports whether an item is sent though the requests before are enough.
func (d *closedLoop) wants(i int64) bool {
	return d.r.plan.EveryStream && d.ph.name == timeline.Measure && i < int64(d.loop.Concurrency)
}

// retreat is how long a stream stays away after so many requests on end reached
// nobody: a server that is gone is not measured by thousands of refusals a second.
func retreat(lost int) time.Duration {
	if lost == 0 {
		return 0
	}
	return min(10*time.Millisecond<<min(lost-1, 10), time.Second)
}

// take decides what a stream sends at a moment; false when it is done.
func (d *closedLoop) take(now int64) (workload.Item, timeline.Phase, bool) {
	r, ph := d.r, d.ph
	since := time.Duration(now-ph.baseUS) * time.Microsecond
	switch {
	case since < d.loop.Ramp:
		return r.warmItem(0), timeline.Warmup, true
	case d.loop.Duration > 0 && since >= d.loop.Ramp+d.loop.Duration:
	case ph.main.isOver():
	default:
		i := d.next.Add(1) - 1
		item := d.item(i)
		if d.loop.Requests <= 0 || d.before(i, int64(item.Len())) < d.loop.Requests || d.wants(i) {
			d.begun.Add(1)
			return item, ph.name, true
		}
	}
	ph.main.over()
	if d.loop.Tail <= 0 || ph.main.ended() {
		return workload.Item{}, "", false
	}
	ph.tail(d.loop.Tail)
	return r.warmItem(0), timeline.Cooldown, true
}

// slots is the cap on requests in flight; nil has none.
type slots chan struct{}

func newSlots(n int) slots {
	if n <= 0 {
		return nil
	}
	return make(slots, n)
}

// take waits for a slot; false when the context ends first.
func (s slots) take(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
		return true
	default:
	}
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s slots) give() {
	if s != nil {
		<-s
	}
}

// place waits for a slot for a request of a part; false when the end comes first.
// What is measured gets none once the time to send is over: the grace is for
// answers.
func (r *runner) place(free slots, ph *phase, part timeline.Phase) bool {
	if free == nil {
		return true
	}
	if !counted(part) {
		return free.take(ph.ctx)
	}
	if !free.take(ph.sends) {
		return false
	}
	if ph.untilUS > 0 && r.clk.US() >= ph.untilUS {
		free.give()
		return false
	}
	return true
}

// open drives an open loop: every item starts when it is due, whatever the
// server does. With a cap its requests may start later, and the wait is part of
// their latency. Each worker has its own share and its own thread to wait on.
// It returns when all requests have ended.
func (r *runner) open(ph *phase, loop arrivals, item items, workers, limit int, requests int64) {
	d := &openLoop{r: r, ph: ph, loop: loop, item: item, requests: requests, free: newSlots(limit)}
	if many, ok := r.work.(workload.Repeating); requests > 0 && workers > 1 && ok && many.Several() {
		for a := range loop.Arrivals(schedule.Share{}) {
			d.turns = &turn{now: a.Index}
			break
		}
	}
	for w := range workers {
		d.all.Go(func() {
			if !d.arrivals(schedule.Share{Worker: w, Of: workers}) && d.turns != nil {
				d.turns.quit()
			}
		})
	}
	d.all.Wait()
}

type openLoop struct {
	r        *runner
	ph       *phase
	loop     arrivals
	item     items
	requests int64        // bound of the main part, over all items; 0: none
	sent     atomic.Int64 // requests that its items hold so far
	turns    *turn        // of counting them, where workers could count otherwise; nil: none
	free     slots
	all      sync.WaitGroup
}

// wanted reports whether an item still belongs to the main part: as in a closed
// loop, what was planned before it tells. Items are counted in their order, whichever
// worker made its own first: else those that are sent would leave gaps in the schedule.
func (d *openLoop) wanted(a schedule.Arrival, item *workload.Item) bool {
	if d.turns != nil {
		d.turns.wait(a.Index)
		defer d.turns.over()
	}
	if a.Part != schedule.Main {
		return true
	}
	n := int64(item.Len())
	return d.requests <= 0 || d.sent.Add(n)-n < d.requests
}

// arrivals sends one worker's share. The next request is made while the worker
// would wait for it anyway. Requests take their slots in the order they are due.
// False when it ends before the schedule does.
func (d *openLoop) arrivals(share schedule.Share) bool {
	r, ph := d.r, d.ph
	wait := r.sleeper()
	defer wait.Close()
	if wait.Exact() {
		defer clock.First()()
	}
	for a := range d.loop.Arrivals(share) {
		dueUS := ph.baseUS + a.At.Microseconds()
		if ph.ctx.Err() != nil && r.clk.US() < dueUS {
			return false
		}
		item, part := d.item(a.Index), ph.name
		if !d.wanted(a, &item) {
			a.Part = schedule.Tail
			ph.main.over()
			if r.plan.Cooldown <= 0 {
				return false
			}
		}
		switch a.Part {
		case schedule.Lead:
			part = timeline.Warmup
		case schedule.Tail:
			part = timeline.Cooldown
			if ph.main.ended() || ph.tailCtx.Err() != nil {
				return false
			}
		}
		p := r.playing(ph, item, part, share.Worker)
		j := p.prepare(0)
		alone := p.make(&j)
		if wait.WaitUntil(ph.ctx, dueUS) != nil && r.clk.US() < dueUS {
			r.rec.drop(j)
			p.ended()
			return false
		}
		if a.Part == schedule.Tail {
			ph.main.over()
			ph.tail(r.plan.Cooldown)
		}
		if counted(part) {
			r.offer.add(dueUS - ph.baseUS)
		}
		if ph.ctx.Err() != nil || !r.place(d.free, ph, part) {
			r.unsent(ph, j, dueUS)
			p.ended()
			continue
		}
		p.free = d.free
		if alone {
			d.all.Add(1)
			p.start(j, dueUS, d.all.Done)
			continue
		}
		d.all.Go(func() {
			p.playFrom(j, dueUS)
			p.ended()
		})
		runtime.Gosched() // the request first, then the making of the next one
	}
	return true
}

// pause waits until a moment of the run's clock, on an ordinary timer.
func (r *runner) pause(ph *phase, us int64) error { return r.pauseUnless(ph, us, nil) }

// pauseUnless is a pause that is given up when over is closed.
func (r *runner) pauseUnless(ph *phase, us int64, over <-chan struct{}) error {
	left := time.Duration(us-r.clk.US()) * time.Microsecond
	if left <= 0 {
		return ph.ctx.Err()
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-over:
		return context.Canceled
	case <-ph.ctx.Done():
		return ph.ctx.Err()
	}
}

// sleeper waits for due times.
func (r *runner) sleeper() *clock.Sleeper {
	if r.plan.Timers {
		return r.clk.Timers()
	}
	return r.clk.Precise()
}

// offer is what the schedule asked for so far.
type offer struct {
	mu          sync.Mutex
	n           int64
	first, last int64 // due times, µs since the phase began
}

func (o *offer) add(us int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 || us < o.first {
		o.first = us
	}
	o.n, o.last = o.n+1, max(o.last, us)
}
