package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/base/secret"
	"tokenmeter/load/machine"
	"tokenmeter/load/workload"
	"tokenmeter/record/exit"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// Run carries out a plan: it looks at the target, warms up, measures, and
// returns the run as it stands in its folder. Cancelling ctx stops it early;
// what was measured is kept.
//
// The run is returned beside an error whenever something was recorded. Errors
// are *UsageError, *TargetError, ErrInterrupted, or those of package run.
func Run(ctx context.Context, plan Plan) (*run.Run, error) {
	r, cl, err := start(&plan)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	defer r.slow.close()
	ready, err := r.preflight(ctx, r.lookup(cl))
	if err != nil {
		return nil, shown(err, r.log.red)
	}
	r.model, r.speaks = ready.model, ready.speaks
	if err := r.checkLimits(machine.This()); err != nil {
		return nil, err
	}
	if plan.Preflight == "probe" {
		if err := r.probe(ctx); err != nil {
			return nil, shown(err, r.log.red)
		}
	}
	return r.record(ctx, ready)
}

// start checks the plan and makes the parts of a run.
func start(plan *Plan) (*runner, *client.Client, error) {
	plan.settle()
	if err := plan.check(); err != nil {
		return nil, nil, err
	}
	work, err := plan.work()
	if err != nil {
		return nil, nil, err
	}
	if plan.Trace != nil {
		if _, _, _, err := plan.trace().Preview(0); err != nil {
			return nil, nil, &UsageError{err}
		}
	}
	if plan.open() && plan.Trace == nil && plan.Warmup == (Warmup{}) && toFit(work) {
		plan.Warmup.Requests = 1 // lengths are learned from it, as in a closed loop
	}
	clk := clock.Start()
	r := &runner{plan: plan, clk: clk, id: randomHex(6), work: work,
		log:      &logger{out: plan.Log, red: redactor(plan)},
		prefills: newSlots(plan.Prefills), keepText: plan.Client.Stream.KeepText,
		judging: judging{seats: make(chan struct{}, judgesAtOnce)}}
	if n := plan.Requests; !plan.open() && n > 0 && n < plan.Concurrency && !plan.EveryStream {
		r.log.notice("too_few_requests", timeline.Some(float64(n)),
			"With %s at most %d of the %d streams are busy: raise --requests to several times --concurrency.", metric.Plural(int64(n), "request"), n, plan.Concurrency)
	}
	if plan.Salt != "" && work.Info().UniquePrompts {
		r.log.notice("prompt_reuse_across_runs", timeline.Opt[float64]{},
			"The salt was given: a run with the same seed and salt sends the same prompts, which the server may still have cached.")
	}
	cfg := plan.Client
	cfg.Clock = clk
	if plan.Capture {
		cfg.Capture = r.capture
	}
	r.reads = r.keepText || plan.Norm != nil || plan.Tokenizer != nil || plan.ReadsAnswers || echoes(plan.Extra)
	cfg.Stream.KeepText = r.reads
	r.room = api.NewRoom(roomFor(machine.This()), replyInHand)
	cfg.Stream.Room = r.room
	cl, err := client.New(cfg)
	if err != nil {
		return nil, nil, &UsageError{err}
	}
	r.do, r.slow.cfg = cl, cfg
	if cfg.TLS != nil && cfg.TLS.InsecureSkipVerify {
		w := metric.UnverifiedTLS()
		r.log.notice(w.Name, w.Value, "%s", w.Says)
	}
	return r, cl, nil
}

func redactor(plan *Plan) *secret.Redactor {
	return plan.Client.Redactor()
}

// lookup turns the client's GET into what the pre-flight wants.
func (r *runner) lookup(cl *client.Client) getter {
	return func(ctx context.Context, path string) (engines.Answer, error) {
		a, err := cl.Get(ctx, path)
		if err != nil {
			return engines.Answer{}, unanswered(ctx, r.plan.below(path), err)
		}
		return a.Answer, nil
	}
}

// unanswered says what became of a GET. Those that reached nobody name the
// address themselves.
func unanswered(ctx context.Context, path string, err error) error {
	e := &TargetError{What: err.Error()}
	var known *client.Error
	if errors.As(err, &known) {
		e.Class, e.Own = known.Class, known.Class == timeline.ClientResource
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.What = fmt.Sprintf("the server did not answer GET %s within %v", path, getTimeout)
		e.Hint = "look whether it is a model server and is ready; --preflight none with --model does not ask it"
	case answers(e):
		e.What = fmt.Sprintf("GET %s: %s", path, e.What)
	}
	return e
}

// record makes the folder, warms up, measures and finishes.
func (r *runner) record(ctx context.Context, ready found) (*run.Run, error) {
	if ahead := r.plan.Ready; ahead != nil {
		if err := ahead(); err != nil {
			return nil, err
		}
	}
	var w *run.Writer
	w, err := run.Create(r.plan.Out, r.manifest(ready), run.Options{Force: r.plan.Force})
	if err != nil {
		return nil, err
	}
	r.rec = newRecorder(w, r.plan.Progress != nil || r.plan.UntilPrecision > 0)
	if r.plan.Progress != nil {
		r.rec.standings = newStandings(r.plan.Objectives)
	}
	r.rec.precision, r.rec.room = newPrecision(r.plan), r.room
	r.rec.each, r.rec.pricing = r.plan.Each, r.plan.Pricing
	r.rec.maxFailures, r.rec.patient = r.plan.MaxFailures, r.plan.KeepGoing
	r.writer.Store(w)
	facts := machineFacts{machine: machine.This()}
	facts.begin()
	control := r.control()
	cause := control.before(ctx, r, ready)
	beside := r.beside()
	if cause == nil {
		cause = r.warmup(ctx)
	}
	if work, ok := r.work.(workload.Primed); ok && cause == nil {
		cause = r.prime(ctx, work)
	}
	if cause == nil {
		cause = control.measure(ctx, r)
	}
	if cause == nil {
		r.checkTimer()
		r.preconnect(ctx)
		beside.Measure()
		cause = r.measure(ctx, &facts)
	}
	cause = control.measured(ctx, cause)
	r.rise()
	final := r.manifest(ready)
	r.complete(&final, &facts, cause)
	r.aside(&final, beside, w)
	cause = control.after(ctx, r, &final, cause)
	final.Noticed = r.log.warnings()
	told := make(chan struct{})
	tell := time.AfterFunc(longWrite, func() {
		defer close(told)
		r.log.info("the load has ended; its figures are being written to %s", w.Dir())
	})
	done, err := w.Finish(final)
	if !tell.Stop() {
		<-told // nothing is said once this has returned
	}
	r.writer.Store(nil)
	if err != nil {
		return &done, err
	}
	return &done, r.verdict(cause, &done)
}

// longWrite is how long the writing of a run's figures may take before somebody who waits
// is told; replies of a million events each need it.
const longWrite = 2 * time.Second

// preconnect opens the connections that the load will need, where they are not
// the point: after a warm-up, and before an open loop, in which every new
// connection would be a latency that no schedule asked for.
func (r *runner) preconnect(ctx context.Context) {
	p := r.plan
	n := p.Concurrency
	switch {
	case p.Client.NoKeepAlive, p.Client.PerSession, !p.open() && p.Warmup == (Warmup{Off: true}):
		return
	case n == 0:
		n = int(math.Ceil(max(p.Rate, p.Stages.Max(), 1)))
	}
	if p.Requests > 0 {
		n = min(n, p.Requests)
	}
	some, stop := context.WithTimeout(ctx, preconnectTime)
	defer stop()
	ask := r.plan.RTT != nil && !r.plan.RTT.GivenMS.OK()
	if ask {
		n++ // so that one is opened, though calibration has left one for each stream
	}
	_, us, _ := r.do.Preconnect(some, min(n, preconnectMost)) // the run will show what is wrong
	if shortest, ok := us.Get(); ok && ask {
		r.connectMS = timeline.Some(float64(shortest) / 1e3)
	}
}

const (
	preconnectTime = 5 * time.Second
	preconnectMost = 1024
)

// measure is the phase that counts.
func (r *runner) measure(ctx context.Context, facts *machineFacts) error {
	ph, end := r.begin(ctx, timeline.Measure)
	defer end()
	facts.begin()
	defer facts.end()
	defer r.watch(ph)()
	defer r.untilPrecise(ph)()
	if end := r.plan.mainEnd(); end > 0 {
		defer ph.closes(end, r.clk)()
		defer ph.expire(end, max(r.plan.Grace, r.plan.Cooldown))()
	}
	switch {
	case r.plan.Trace != nil:
		t := r.plan.trace()
		t.Failed = func(err error) { ph.stop(&UsageError{err}) }
		r.open(ph, t, r.work.Item, r.plan.Workers, r.plan.Concurrency, t.Requests)
	case r.plan.open():
		r.open(ph, r.plan.openLoop(), r.work.Item, r.plan.Workers, r.plan.Concurrency, int64(r.plan.Requests))
	default:
		r.closed(ph, r.plan.closedLoop(), r.work.Item, r.plan.Workers)
	}
	err := r.ended(ctx, ph)
	r.precise(err)
	if err != errPrecise && err != errEnough {
		return err
	}
	return nil
}

// verdict turns the reason of the end into the error of Run. What makes a target
// that answered nothing is the rule of package exit, for every command.
func (r *runner) verdict(cause error, done *run.Run) error {
	c := r.rec.of(timeline.Measure)
	var limit *failuresError
	switch {
	case errors.As(cause, &limit):
	case cause != nil:
		return cause
	case c.failed == 0:
		return nil // a probe of a sweep may end before an answer could come: commands judge that
	}
	v := exit.Of(exit.OfRequests(&done.Requests))
	switch {
	case v.Code == exit.Target || v.Code == exit.Usage:
		return r.targetFailed(c, v.Says)
	case limit != nil:
		e := r.targetFailed(c, limit.Error())
		e.Limit, e.Own = true, false // others were answered: something is known of the server
		return e
	}
	return nil
}

// failuresError is a cause of the end of the load: a larger share failed than Load.MaxFailures.
type failuresError struct{ failed, of int64 }

func (e *failuresError) Error() string {
	return fmt.Sprintf("%d of %s failed, more than --max-failures allows", e.failed, metric.Plural(e.of, "request"))
}

// watch sends snapshots until the returned function is called.
func (r *runner) watch(ph *phase) (stop func()) {
	if r.plan.Progress == nil {
		return func() {}
	}
	judge := newTrust()
	look := func() {
		s := r.snapshot(ph)
		s.Trust = judge.look(r)
		r.plan.Progress(s)
	}
	halt := every(snapshotEvery, func() bool { look(); return true })
	return func() {
		halt()
		look()
	}
}

// every does something again and again while it returns true, until stop is called.
func every(interval time.Duration, do func() (goOn bool)) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if !do() {
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

const snapshotEvery = 250 * time.Millisecond

func (r *runner) snapshot(ph *phase) Snapshot {
	elapsed := time.Duration(r.clk.US()-ph.baseUS) * time.Microsecond
	planned, duration := int64(r.plan.Requests), r.plan.mainEnd()
	if many, ok := r.work.(workload.Repeating); r.plan.open() && r.plan.Trace == nil && !(ok && many.Several()) {
		planned = r.plan.openLoop().Planned() // else the schedule's items may hold several requests
	}
	if ph.name == timeline.Warmup {
		planned, duration = int64(r.plan.Warmup.Requests), r.plan.Warmup.Duration
	}
	counted := elapsed // what the requests that are counted had
	if ph.name == timeline.Measure {
		if counted = max(elapsed-r.plan.Ramp, 0); duration > 0 && r.plan.Cooldown > 0 {
			counted = min(counted, duration-r.plan.Ramp)
		}
	}
	s := r.rec.snapshot(ph.name, counted, planned)
	s.Elapsed, s.Left = elapsed, left(s, elapsed, counted, duration)
	if elapsed < r.plan.Ramp {
		s.Phase = timeline.Warmup // so are its requests
	}
	return s
}

// left guesses the time to the end: the bound that comes first.
func left(s Snapshot, elapsed, counted, duration time.Duration) timeline.Opt[time.Duration] {
	var out timeline.Opt[time.Duration]
	if duration > 0 {
		out = timeline.Some(max(duration-elapsed, 0))
	}
	if s.Planned > 0 && s.Done > 0 {
		byCount := time.Duration(float64(counted) * float64(s.Planned-s.Done) / float64(s.Done))
		out = timeline.Some(max(min(byCount, out.Or(byCount)), 0))
	}
	return out
}
