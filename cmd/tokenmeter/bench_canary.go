package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/load/bench"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report"
	"tokenmeter/reader/typeset"
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
	save := writeFile(filepath.Join(t.dir, "canary.json"), true, r.json)
	if r.Verdict == compare.CanaryWorse {
		errs = nil // a candidate that answers nothing is what was asked about
	}
	err = worse(errors.Join(errs...), save)
	err = worse(err, r.show(t.a.stdout, t.c.Format))
	if r.Verdict != compare.CanaryWorse { // which is an answer, be it that every request failed
		err = worse(err, t.invalid())
	}
	return worse(err, r.outcome(t.c.Strict))
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

// canaryResult is what a canary prints as JSON.
type canaryResult struct {
	Schema   string                 `json:"schema"`
	Baseline string                 `json:"baseline"`
	Canary   string                 `json:"canary"`
	Verdict  compare.CanaryState    `json:"verdict"`
	Validity report.SeveralValidity `json:"validity"`
	Requests [2]int64               `json:"requests"`
	TookS    float64                `json:"took_s"`
	Figures  []compare.CanaryFigure `json:"figures"`
	// Silent: the canary answered nothing of what it was sent, which is worse
	// whatever the figures of answered requests leave open.
	Silent bool `json:"silent"`
	// SilentS is for how many seconds the side that is worse had answered nothing at the
	// end, where that decided; else 0.
	SilentS float64 `json:"silent_s"`
}

func (w *canaryWatch) result(a, b string, v report.SeveralValidity) *canaryResult {
	w.mu.Lock()
	defer w.mu.Unlock()
	state, silentS := w.c.End()
	return &canaryResult{"tokenmeter.canary/v1", a, b, state, v, w.seen, w.took.Seconds(), w.c.Figures(), false, silentS}
}

func (r *canaryResult) json(out io.Writer) error { return typeset.JSON(out, r) }

func (r *canaryResult) show(out io.Writer, format string) error {
	if format == "json" {
		return r.json(out)
	}
	var b strings.Builder
	separator := map[string]string{"csv": ","}[format]
	if separator == "" {
		if v := r.Validity; v.Verdict != "" && v.Verdict != "valid" {
			fmt.Fprintf(&b, "%s\n\n", printable.Text(v.Says))
		}
		fmt.Fprintf(&b, "%s\n\n", printable.Text(r.sentence()))
		if format == "markdown" {
			b.WriteString("| figure | difference | at any time 95 % sure | verdict | n |\n|---|---:|---|---|---:|\n")
		}
	} else {
		b.WriteString("metric,diff,lo,hi,verdict,n_a,n_b\n")
	}
	for _, f := range r.Figures {
		diff, lo, hi, unit := "–", "", "", " %"
		if f.Metric == "good" {
			unit = " pp"
		}
		if x, ok := f.Diff.Get(); ok {
			if f.Metric == "good" {
				x *= 100
			}
			diff = fmt.Sprintf("%+.1f%s", x, unit)
		}
		if f.CI != nil {
			lo, hi = fmt.Sprintf("%+.1f", f.CI[0]), fmt.Sprintf("%+.1f", f.CI[1])
		}
		within := "–"
		if lo != "" {
			within = "[" + lo + ", " + hi + "]"
		}
		switch format {
		case "csv":
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%d,%d\n", f.Metric, strings.TrimSuffix(strings.Replace(diff, "–", "", 1), unit), lo, hi, f.State, f.N[0], f.N[1])
		case "markdown":
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %d + %d |\n", f.Metric, diff, within, canaryWord(f.State), f.N[0], f.N[1])
		default:
			fmt.Fprintf(&b, "%-8s %10s  %-18s %-12s n %d + %d\n", f.Metric, diff, within, canaryWord(f.State), f.N[0], f.N[1])
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func canaryWord(s compare.CanaryState) string {
	if s == compare.Continue {
		return "not settled"
	}
	return string(s)
}

func (r *canaryResult) sentence() string {
	after := fmt.Sprintf("after %d and %d requests, %.0f s", r.Requests[0], r.Requests[1], r.TookS)
	if r.SilentS > 0 {
		after += fmt.Sprintf(": that one answered nothing in the last %.0f s", r.SilentS)
		if r.Verdict == compare.CanaryWorse {
			after = strings.Replace(after, "that one", "it", 1)
		}
	}
	switch r.Verdict {
	case compare.CanaryWorse:
		if r.Silent {
			return fmt.Sprintf("The canary %s is WORSE than %s: it answered none of its requests.", r.Canary, r.Baseline)
		}
		return fmt.Sprintf("The canary %s is WORSE than %s, %s.", r.Canary, r.Baseline, after)
	case compare.CanaryBetter:
		return fmt.Sprintf("The canary %s is better than %s, %s.", r.Canary, r.Baseline, after)
	case compare.CanarySame:
		return fmt.Sprintf("The canary %s is the same as %s within the margin, %s.", r.Canary, r.Baseline, after)
	}
	return fmt.Sprintf("Not settled: %s could be better, worse or the same as %s, %s.%s", r.Canary, r.Baseline, after, r.tooFew())
}

// tooFew says which figures wanted more requests before they could be judged.
func (r *canaryResult) tooFew() string {
	var names []string
	needs := int64(0)
	for _, f := range r.Figures {
		if f.Needs > 0 {
			names, needs = append(names, f.Metric), max(needs, f.Needs)
		}
	}
	if needs == 0 {
		return ""
	}
	return fmt.Sprintf(" Before %d answered requests a side nothing can be said of %s.", needs, strings.Join(names, " and "))
}

// outcome is the verdict as an exit code.
func (r *canaryResult) outcome(strict bool) error {
	f := exit.Facts{Strict: strict}
	switch r.Verdict {
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
