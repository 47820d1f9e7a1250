package bench

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/api"
	"tokenmeter/client"
	"tokenmeter/clock"
	"tokenmeter/machine"
	"tokenmeter/run"
	"tokenmeter/timeline"
	"tokenmeter/workload"
)

// doer sends requests; *client.Client is one.
type doer interface {
	Do(ctx context.Context, req *api.Request, tl *timeline.Timeline)
	// Preconnect opens connections until n are idle.
	Preconnect(ctx context.Context, n int) (int, error)
}

// runner is a run in progress.
type runner struct {
	plan  *Plan
	clk   *clock.Clock
	id    string
	do    doer
	work  workload.Workload
	model string
	rec   *recorder
	log   *logger

	ordinal atomic.Int64
	warm    atomic.Int64 // items of the warm-up so far
	field   lengthField
	writer  atomic.Pointer[run.Writer] // for captures
	env     *machine.Environment
}

// phase is a stretch of the run: the warm-up, or the measuring.
type phase struct {
	name   timeline.Phase
	baseUS int64 // when it began, on the run's clock

	// ctx is that of the requests; cancelling it ends them. Its cause is
	// client.ErrUser or client.ErrRunEnd.
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu  sync.Mutex
	why error // the first reason to stop early; nil while it goes on
}

// begin starts a phase. The caller's cancellation reaches the requests as the
// user's. end must be called.
func (r *runner) begin(ctx context.Context, name timeline.Phase) (ph *phase, end func()) {
	ph = &phase{name: name, baseUS: r.clk.US()}
	ph.ctx, ph.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() { ph.cancel(client.ErrUser) })
	return ph, func() {
		unhook()
		ph.cancel(client.ErrRunEnd)
	}
}

// stop ends the phase early: requests in flight are cancelled as at the run's end.
func (ph *phase) stop(why error) {
	ph.mu.Lock()
	if ph.why == nil {
		ph.why = why
	}
	ph.mu.Unlock()
	ph.cancel(client.ErrRunEnd)
}

// stopped is the reason why the phase was ended early, or nil.
func (ph *phase) stopped() error {
	ph.mu.Lock()
	defer ph.mu.Unlock()
	return ph.why
}

// expire cancels what is still in flight when the duration and the grace are
// over. Without a duration there is no such moment.
func (ph *phase) expire(duration, grace time.Duration) (disarm func()) {
	if duration <= 0 {
		return func() {}
	}
	t := time.AfterFunc(duration+grace, func() { ph.cancel(client.ErrRunEnd) })
	return func() { t.Stop() }
}

// job is a request that is ready to be sent.
type job struct {
	req  api.Request
	tl   *timeline.Timeline
	item workload.Item
}

// prepare makes a request ahead of its time, so that making it costs no latency.
func (r *runner) prepare(ph *phase, item workload.Item, worker int) job {
	n := r.ordinal.Add(1) - 1
	j := job{item: item, tl: r.rec.timeline()}
	j.req = api.Request{
		Model:          r.model,
		Messages:       item.Messages,
		MaxTokens:      item.MaxTokens,
		Stream:         !r.plan.NoStream,
		IgnoreEOS:      r.plan.IgnoreEOS,
		MaxTokensField: r.field.name(),
		Extra:          r.plan.Extra,
	}
	tl := j.tl
	tl.Request, tl.ID = n, requestID(r.id, n)
	tl.Phase, tl.Worker = ph.name, worker
	tl.API, tl.Model = r.plan.Client.API.Name, r.model
	tl.Asked, tl.Requested = j.req.Stream, item.MaxTokens
	return j
}

// requestID ties a record to the server's log: the run and the ordinal.
func requestID(run string, n int64) string {
	b := make([]byte, 0, len(run)+12)
	b = append(append(b, run...), '-')
	for limit := int64(100000); n < limit && limit > 1; limit /= 10 {
		b = append(b, '0')
	}
	return string(strconv.AppendInt(b, n, 10))
}

// send does a request that was due at dueUS and records how it went.
func (r *runner) send(ph *phase, j job, dueUS int64) {
	j.tl.DueUS = dueUS
	j.tl.StartUS = max(r.clk.US(), dueUS)
	r.rec.began()
	r.do.Do(ph.ctx, &j.req, j.tl)
	r.rec.inFlight.Add(-1)
	r.field.learn(j.req.MaxTokensField, j.tl, r.log)
	r.rec.ended(ph, j)
}

// unsent records a request that was due but found no free slot before the end.
func (r *runner) unsent(ph *phase, j job, dueUS int64) {
	j.tl.DueUS = dueUS
	j.tl.StartUS = max(r.clk.US(), dueUS)
	class := timeline.CancelledRunEnd
	if context.Cause(ph.ctx) == client.ErrUser {
		class = timeline.CancelledUser
	}
	j.tl.Fail(class, "not sent: no slot was free before the end (--concurrency is the cap)")
	r.rec.ended(ph, j)
}

// sleeper waits for due times.
func (r *runner) sleeper() *clock.Sleeper {
	if r.plan.Timers {
		return r.clk.Timers()
	}
	return r.clk.Precise()
}
