package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
	"tokenmeter/record/exit"
	"tokenmeter/record/run"
)

// canaryTime bounds a canary that neither --duration nor --requests does.
const canaryTime = 10 * time.Minute

// canary measures two servers at the same time until they are told apart.
func (t *turns) canary() error {
	view := t.a.progress(t.c.Quiet, t.c.NoColor, t.c.Demo, bench.Plan{})
	ctx, end := interruptible(func() { view.say("stopping; what was measured is kept (once more: leave at once)") })
	defer end()
	plans := make([]bench.Plan, len(t.sides))
	for i := range t.sides {
		p, err := t.plan(&t.sides[i], 0)
		if err != nil {
			return err
		}
		defer closeWorkload(&p)
		if p.Requests == 0 && t.c.Duration == "" {
			p.Duration = canaryTime
		}
		if t.c.warnings() {
			p.Log = view
		}
		p.KeepGoing = true // a candidate that fails at once is worse, and no reason to stop
		plans[i] = p
	}
	c, err := compare.NewCanary(compare.CanaryOptions{Objectives: plans[0].Objectives})
	if err != nil {
		return err
	}
	w := &canaryWatch{c: c, state: compare.Continue, began: time.Now()}
	errs := make([]error, len(plans))
	var both sync.WaitGroup
	for side := range plans {
		p := plans[side]
		p.Each = func(e bench.Ended) bool { return w.see(side, e) }
		both.Go(func() {
			sum, err := bench.Run(ctx, p)
			if sum != nil && sum.Dir != "" {
				t.sides[side].runs = append(t.sides[side].runs, sum)
			}
			errs[side] = err
			if err != nil {
				w.stop()
			}
		})
	}
	both.Wait()
	view.close()
	for _, err := range errs {
		if errors.Is(err, bench.ErrInterrupted) {
			return fmt.Errorf("%w; what was measured is in %s", err, t.dir)
		}
	}
	t.a.note("saved %s", t.dir)
	r := w.result(t.sides[0].name, t.sides[1].name, report.ValidityOf(t.measured(), "run"))
	switch base, other := answeredNothing(t.sides[0].runs), answeredNothing(t.sides[1].runs); {
	case other && !base:
		r.Verdict, r.Silent = compare.CanaryWorse, true
	case base:
		errs = append(errs, &codedError{code: exitTarget, text: fmt.Sprintf("the baseline %s answered nothing, so there is nothing to compare with", r.Baseline)})
	}
	save := writeFile(filepath.Join(t.dir, "canary.json"), true, r.JSON)
	if r.Verdict == compare.CanaryWorse {
		errs = nil // a candidate that answers nothing is what was asked about
	}
	err = worse(errors.Join(errs...), save)
	err = worse(err, showCanary(t.a.stdout, r, t.c.Format))
	if r.Verdict != compare.CanaryWorse { // which is an answer, be it that every request failed
		err = worse(err, t.invalid())
	}
	return worse(err, canaryOutcome(r.Verdict, t.c.Strict))
}

// canaryWatch looks after every request of either side.
type canaryWatch struct {
	mu    sync.Mutex
	c     *compare.Canary
	state compare.CanaryState
	over  bool
	seen  [2]int64
	began time.Time
	took  time.Duration
}

// see takes an ended request; false when enough is known.
func (w *canaryWatch) see(side int, e bench.Ended) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.c.AddTimeline(side, e.Timeline)
	w.seen[side]++
	w.state, w.took = w.c.State(), time.Since(w.began)
	w.over = w.state != compare.Continue
	return !w.over
}

// stop ends the other side too.
func (w *canaryWatch) stop() {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
}

func (w *canaryWatch) result(a, b string, v report.SeveralValidity) *report.Canary {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, silentS := w.c.End()
	return &report.Canary{Schema: "tokenmeter.canary/v1", Baseline: a, Canary: b, Verdict: state, Validity: v, Requests: w.seen,
		TookS: w.took.Seconds(), Figures: w.c.Figures(), SilentS: silentS}
}

// showCanary writes it in the form that was asked for.
func showCanary(out io.Writer, r *report.Canary, format string) error {
	switch format {
	case "json":
		return r.JSON(out)
	case "csv":
		return r.CSV(out)
	case "markdown":
		return r.Markdown(out)
	}
	return r.Terminal(out)
}

// canaryOutcome is the verdict as an exit code.
func canaryOutcome(verdict compare.CanaryState, strict bool) error {
	f := exit.Facts{Strict: strict}
	switch verdict {
	case compare.CanaryWorse:
		f.Gates.Missed = 1
	case compare.Continue:
		f.Gates.Open = 1
	default:
		f.Gates.Met = 1
	}
	return decided(f)
}

// answeredNothing reports whether one side answered nothing at all of what it was sent.
func answeredNothing(runs []*run.Run) bool {
	if len(runs) == 0 {
		return false
	}
	f := exit.Facts{}
	for _, r := range runs {
		f = f.And(exit.OfRequests(&r.Requests))
	}
	_, silent := f.Silent()
	return silent
}
