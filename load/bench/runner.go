package bench

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/machine"
	"tokenmeter/load/workload"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// doer sends requests; *client.Client is one.
type doer interface {
	Do(ctx context.Context, req *api.Request, tl *timeline.Timeline)
	// Preconnect opens connections until n are idle, and tells the shortest connect in µs.
	Preconnect(ctx context.Context, n int) (int, timeline.Opt[int64], error)
	// EndSession is told that a session or task sends nothing more.
	EndSession(id string)
}

// preparer makes requests ahead of their time; *client.Client is one.
type preparer interface {
	Prepare(req *api.Request, tl *timeline.Timeline) *client.Prepared
}

// runner is a run in progress.
type runner struct {
	plan  *Plan
	clk   *clock.Clock
	id    string
	do    doer
	work  workload.Workload
	model string
	// others are models that requests are for beside it.
	others otherModels
	// speaks are the APIs that the server's model list is a sign of.
	speaks []string
	rec    *recorder
	room   *api.Room // of the replies in flight
	log    *logger

	ordinal  atomic.Int64
	warm     atomic.Int64 // items of the warm-up so far
	endless  atomic.Int64 // requests without a length, which are not asked to ignore their end
	field    lengthField
	lengths  lengths
	offer    offer
	prefills slots // cap on requests without a first token; nil: none
	slow     slowDoers
	judging  judging
	keepText bool                       // the user wants the answers in the record
	reads    bool                       // their text is kept until a request has ended
	writer   atomic.Pointer[run.Writer] // for captures
	env      *machine.Environment

	connectMS timeline.Opt[float64] // the shortest connect ahead of the requests
}

// phase is a stretch of the run: the warm-up, or the measuring.
type phase struct {
	name    timeline.Phase
	baseUS  int64 // when it began, on the run's clock
	untilUS int64 // from then on nothing that counts is sent; 0: no such moment
	first   int64 // ordinal of its first request

	// ctx is that of the requests; cancelling it ends them. Its cause is
	// client.ErrUser or client.ErrRunEnd.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// sends is over when nothing that counts is sent any more: at the latest with ctx.
	sends context.Context

	main     *mainPart
	tailCtx  context.Context // of requests after the main part
	stopTail context.CancelCauseFunc
	tailOnce sync.Once

	mu  sync.Mutex
	why error // the first reason to stop early; nil while it goes on
}

// begin starts a phase. The caller's cancellation reaches the requests as the
// user's. end must be called.
func (r *runner) begin(ctx context.Context, name timeline.Phase) (ph *phase, end func()) {
	ph = &phase{name: name, baseUS: r.clk.US(), first: r.ordinal.Load(), main: newMainPart()}
	ph.ctx, ph.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	ph.sends = ph.ctx
	ph.tailCtx, ph.stopTail = context.WithCancelCause(ph.ctx)
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

// closes ends the time to send after so long.
func (ph *phase) closes(after time.Duration, clk *clock.Clock) (disarm func()) {
	ph.untilUS = ph.baseUS + after.Microseconds()
	sends, over := context.WithCancel(ph.ctx)
	ph.sends = sends
	t := time.AfterFunc(time.Duration(ph.untilUS-clk.US())*time.Microsecond, over)
	return func() { t.Stop(); over() }
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
	step *workload.Step
	made *client.Prepared // the same, ready for the wire; nil: it is not made ahead
}

// extra are the further fields of a request: the step's, and over them the run's.
func (p *Plan) extra(s *workload.Step) map[string]any {
	switch {
	case len(s.Extra) == 0:
		return p.Extra
	case len(p.Extra) == 0:
		return s.Extra
	}
	out := maps.Clone(s.Extra)
	maps.Copy(out, p.Extra)
	return out
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
func (r *runner) send(ctx context.Context, ph *phase, j job, dueUS int64) played {
	if !r.place(r.prefills, ph, j.tl.Phase) {
		if r.plan.open() || j.tl.Task != "" {
			r.unsent(ph, j, dueUS)
		} else {
			r.rec.drop(j) // in a closed loop nothing is due before it can be sent
		}
		return played{}
	}
	if r.prefills != nil {
		var once sync.Once
		release := func() { once.Do(r.prefills.give) }
		defer release()
		j.req.FirstToken = release
	}
	j.tl.DueUS = dueUS
	j.tl.StartUS = max(r.clk.US(), dueUS)
	r.rec.began()
	r.doerFor(j.step).Do(ctx, &j.req, j.tl)
	return r.completed(ph, j)
}

// completed records how a request went.
func (r *runner) completed(ph *phase, j job) played {
	r.rec.inFlight.Add(-1)
	r.field.learn(j.req.MaxTokensField, j.tl, r.log)
	unecho(&j.req, j.tl)
	out := played{id: j.tl.ID, endUS: max(r.clk.US(), j.tl.DueUS), text: j.tl.Text, ok: j.tl.Outcome == timeline.OK, heard: j.tl.HTTPStatus != 0}
	r.finish(&j)
	if !r.asked(ph, j, out.text) {
		r.rec.ended(ph, j)
	}
	return out
}

// unsent records a request that was due but found no free slot before the end.
func (r *runner) unsent(ph *phase, j job, dueUS int64) {
	j.tl.DueUS = dueUS
	j.tl.StartUS = max(r.clk.US(), dueUS)
	class := timeline.CancelledRunEnd
	if context.Cause(ph.ctx) == client.ErrUser {
		class = timeline.CancelledUser
	}
	j.tl.Fail(class, "not sent: the end came before its time, or before a slot was free")
	r.rec.ended(ph, j)
}
