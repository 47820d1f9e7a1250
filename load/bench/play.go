package bench

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// playing is one item on its way: a request, or several that need each other.
type playing struct {
	r      *runner
	ph     *phase
	item   workload.Item
	part   timeline.Phase
	worker int
	free   slots // one of them is held when playFrom begins

	dueUS int64
	steps []played
	told  told
	waits atomic.Bool // a step is due after the time to send
}

// played is how a step went.
type played struct {
	id    string
	dueUS int64
	endUS int64
	text  string
	ok    bool
	heard bool // some response came
}

// reached reports whether somebody answered the last request of the item.
func (p *playing) reached() bool {
	for _, s := range slices.Backward(p.steps) {
		if s.id != "" {
			return s.heard
		}
	}
	return true
}

// playing begins an item; ended must be called.
func (r *runner) playing(ph *phase, item workload.Item, part timeline.Phase, worker int) *playing {
	if counted(part) {
		ph.main.begin()
	}
	if item.Err != nil {
		ph.stop(&UsageError{item.Err})
	}
	return &playing{r: r, ph: ph, item: item, part: part, worker: worker, steps: make([]played, item.Len())}
}

func (p *playing) ended() {
	if p.r.plan.Client.PerSession {
		p.r.do.EndSession(p.session())
	}
	if counted(p.part) {
		p.ph.main.end()
	}
}

// lastUS is when the last of its requests was due.
func (p *playing) lastUS() (us int64) {
	for i := range p.steps {
		us = max(us, p.steps[i].dueUS)
	}
	return us
}

// ctx is what the requests of the item live in.
func (p *playing) ctx() context.Context {
	if p.part == timeline.Cooldown {
		return p.ph.tailCtx
	}
	return p.ph.ctx
}

// play sends the item now; its first step is due at once.
func (p *playing) play(dueUS int64) {
	if p.item.Err != nil {
		return
	}
	j := p.prepare(0)
	p.playFrom(j, max(dueUS, p.r.clk.US()))
}

// playFrom sends the first step, which is ready, and then the others.
func (p *playing) playFrom(j job, dueUS int64) {
	p.dueUS = dueUS
	if p.item.Err != nil {
		p.r.rec.drop(j)
		p.free.give()
		return
	}
	chain := p.chain()
	if begins := p.begins(chain); begins > 0 {
		p.free.give()
		if dueUS += begins.Microseconds(); p.r.pause(p.ph, dueUS) != nil || !p.r.place(p.free, p.ph, p.part) {
			p.r.rec.drop(j)
			return
		}
	}
	if !chain {
		p.graph(j, dueUS)
		return
	}
	p.send(0, j, dueUS)
	for k := 1; k < p.item.Len() && p.goesOn(k); k++ {
		if !p.next(k) {
			return
		}
	}
}

// chain reports whether each step only needs the one before it.
func (p *playing) chain() bool {
	for k := 1; k < p.item.Len(); k++ {
		if after := p.item.Nth(k).After; len(after) != 1 || after[0] != k-1 {
			return false
		}
	}
	return true
}

// begins is how long after the item its first step is due: sessions that begin in the
// middle may do so in a pause.
func (p *playing) begins(chain bool) time.Duration {
	first := p.item.Nth(0)
	switch {
	case p.item.Kind == workload.Session:
		return first.Wait
	case chain && p.item.Len() > 1:
		return first.At.Or(0)
	}
	return 0
}

// goesOn reports whether step k may still be sent. A medium plays on whatever
// became of a segment.
func (p *playing) goesOn(k int) bool {
	if p.item.Kind == workload.Segments {
		return true
	}
	return !slices.ContainsFunc(p.item.Nth(k).After, func(j int) bool { return !p.steps[j].ok })
}

// next waits for step k's time and sends it; false when it is not sent.
func (p *playing) next(k int) bool {
	r, s := p.r, p.item.Nth(k)
	readyUS := p.dueUS
	for _, j := range s.After {
		readyUS = max(readyUS, p.steps[j].endUS)
	}
	readyUS += s.Wait.Microseconds()
	if p.item.Kind == workload.Conversation {
		readyUS = max(readyUS, p.steps[k-1].dueUS+r.plan.Pace.Microseconds())
	}
	dueUS := readyUS
	at, fixed := s.At.Get()
	if fixed {
		dueUS = p.dueUS + at.Microseconds()
	}
	j := p.prepare(k)
	over := counted(p.part) && p.ph.untilUS > 0 && max(dueUS, readyUS) >= p.ph.untilUS // the time to send
	if over {
		p.waits.Store(true)
	}
	if over || r.pause(p.ph, max(dueUS, readyUS)) != nil || !r.place(p.free, p.ph, p.part) {
		p.cut(j, max(dueUS, readyUS))
		return false
	}
	switch {
	case p.item.Kind == workload.Session:
		// An agent asks as soon as it can: being late is ours, not its own.
	case !fixed || p.item.Kind == workload.Conversation && readyUS > dueUS:
		// A user comes back when they do; only the server's time is measured.
		dueUS = r.clk.US()
	}
	p.send(k, j, dueUS)
	return true
}

// cut takes back a step that the end of the time to send kept from being sent.
// It stays in the record, so that what it belongs to does not look complete; only a
// medium has no end of its own.
func (p *playing) cut(j job, dueUS int64) {
	if p.item.Kind == workload.Segments {
		p.r.rec.drop(j)
		return
	}
	p.r.unsent(p.ph, j, dueUS)
}

// graph sends steps as soon as those that they need have ended, side by side
// where they may. The first step is ready, and due at a moment.
func (p *playing) graph(first job, firstUS int64) {
	n := p.item.Len()
	waits := make([]int, n)
	next := make([][]int, n) // steps that wait for each
	var mu sync.Mutex
	var all sync.WaitGroup
	var start func(k int)
	finished := func(k int) {
		for _, c := range next[k] {
			mu.Lock()
			waits[c]--
			ready := waits[c] == 0
			mu.Unlock()
			if ready && p.goesOn(c) {
				start(c)
			}
		}
	}
	start = func(k int) {
		all.Go(func() {
			if p.next(k) {
				finished(k)
			}
		})
	}
	for k := range n {
		waits[k] = len(p.item.Nth(k).After)
		for _, j := range p.item.Nth(k).After {
			next[j] = append(next[j], k)
		}
	}
	all.Go(func() {
		p.send(0, first, firstUS)
		finished(0)
	})
	for k := 1; k < n; k++ {
		if len(p.item.Nth(k).After) == 0 {
			start(k)
		}
	}
	all.Wait()
}

// prepare makes step k's request ahead of its time, so that making it costs no
// latency.
func (p *playing) prepare(k int) job {
	r, s := p.r, p.item.Nth(k)
	n := r.ordinal.Add(1) - 1
	j := job{step: s, tl: r.rec.timeline()}
	j.req = api.Request{
		Model:          r.model,
		Messages:       p.item.Conversation(k, func(j int) string { return p.steps[j].text }),
		MaxTokens:      s.MaxTokens,
		Stream:         !r.plan.NoStream,
		IgnoreEOS:      r.plan.IgnoreEOS && s.MaxTokens.OK(),
		MaxTokensField: r.field.name(),
		Extra:          r.plan.extra(s),
		LeaveTokens:    s.LeaveTokens,
	}
	if s.Model != "" {
		j.req.Model = s.Model
		r.others.see(s.Model, r.model)
	}
	if r.plan.IgnoreEOS && !s.MaxTokens.OK() {
		r.endless.Add(1)
	}
	if r.plan.product().Lengthless() {
		j.req.IgnoreEOS, j.req.MaxTokens = false, timeline.Opt[int64]{}
	}
	j.req.Stream = j.req.Stream && !r.plan.product().Wordless()
	r.plan.Session.identify(&j.req, r.id, &p.item, k)
	p.told.echo(&r.plan.Session, &j.req, &p.item, k)
	tl := j.tl
	tl.Request, tl.ID = n, requestID(r.id, n)
	tl.Phase, tl.Worker, tl.Class = p.part, p.worker, p.item.Class
	tl.API, tl.Model = r.plan.Client.API.Name, j.req.Model
	tl.Asked, tl.Requested = j.req.Stream, j.req.MaxTokens
	r.plan.Client.API.Describe(&j.req, tl)
	p.place(tl, k)
	return j
}

// session is the item's name where its requests need each other.
func (p *playing) session() string { return strconv.FormatInt(p.item.Index, 10) }

// place says where in a conversation or task a request stands.
func (p *playing) place(tl *timeline.Timeline, k int) {
	s := p.item.Nth(k)
	switch p.item.Kind {
	case workload.Conversation, workload.Segments:
		tl.Session = p.session()
		tl.Turn = timeline.Some(int64(k))
	case workload.Task:
		tl.Task = p.session()
		tl.Step = timeline.Some(int64(k))
	case workload.Session:
		tl.Session = p.session()
		tl.Turn = timeline.Some(int64(s.Turn))
		tl.Task, tl.Step = tl.Session, timeline.Some(int64(k))
		tl.Agent, tl.Reusable = s.Agent, s.Reusable
	}
	// The parent is the one that ended last: it decided when this was due.
	last := int64(-1)
	for _, j := range s.After {
		if p.steps[j].endUS > last {
			last, tl.Parent = p.steps[j].endUS, p.steps[j].id
		}
	}
}

// send does step k, for which a slot is held, and gives the slot back.
func (p *playing) send(k int, j job, dueUS int64) {
	ctx := p.ctx()
	if s := j.step; s.LeaveAfter > 0 {
		leaves, cancel := context.WithCancelCause(ctx)
		defer cancel(client.ErrRunEnd)
		left := time.Duration(dueUS+s.LeaveAfter.Microseconds()-p.r.clk.US()) * time.Microsecond
		t := time.AfterFunc(left, func() { cancel(client.ErrUser) })
		defer t.Stop()
		ctx = leaves
	}
	p.steps[k] = p.r.send(ctx, p.ph, j, dueUS)
	p.steps[k].dueUS = dueUS
	p.free.give()
}
