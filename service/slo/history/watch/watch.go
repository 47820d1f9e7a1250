// Package watch judges finished live requests by objectives, keeps the counts,
// follows alerts and tells whoever is to be told. A daemon gives it its
// requests as a traffic.Sink and calls Run.
package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/kept"
	"tokenmeter/service/slo/notify"
	"tokenmeter/service/traffic"
)

// EvaluateEvery is how often objectives are judged and alerts followed.
const EvaluateEvery = 10 * time.Second

// alertsState is the name under which alerts that fire outlive a restart.
const alertsState = "slo.alerts"

// Watch is what watches. Safe for concurrent use, but for Step, Set and Run,
// which belong to one goroutine: while Run runs, use Change.
type Watch struct {
	store     history.Store
	recorder  *history.Recorder
	now       func() time.Time
	tracker   slo.Tracker
	evaluated time.Time
	compacted time.Time
	told      time.Time // of tasks that were left out
	toldOf    int64
	couriers  []*notify.Courier
	start     func(*notify.Courier) // nil: Run does not run
	changes   chan change
	asked     atomic.Pointer[Plan]
	words     []error // to be told with the next Step
	unwritten *slo.Firing

	failures atomic.Int64
	failing  atomic.Int64 // since when nothing was written, Unix ns; 0: it is

	mu      sync.Mutex
	results []slo.Result
	billed  time.Time // GPU hours are counted up to then
	tasks   map[taskKey]*task
	leftOut int64 // requests of tasks for which there was no room
}

// Plan is what is watched, and who is told.
type Plan struct {
	Objectives []*slo.Objective
	Receivers  []*notify.Notifier
	// Good are the objectives that make a request good, for goodput_per_s.
	Good []objective.Objective
	// Pricing is what requests, or the GPUs, cost; nil: not known.
	Pricing *cost.Pricing

	lists bool
	raws  []*slo.Objective // one of each Raw: several objectives may share their slices
}

type change struct {
	plan Plan
	done chan struct{}
}

var _ traffic.Sink = (*Watch)(nil)

// New returns a watch that goes on where the store ended. The store is not
// closed by it.
func New(ctx context.Context, s history.Store, plan Plan, now func() time.Time) (*Watch, error) {
	r, err := history.NewRecorder(ctx, s, nil, now(), slo.Live, slo.Probe)
	if err != nil {
		return nil, err
	}
	w := &Watch{store: s, recorder: r, now: now, compacted: now(), billed: now(), changes: make(chan change)}
	firing, err := w.savedAlerts(ctx)
	if err != nil {
		return nil, err
	}
	w.tracker.Restore(firing)
	w.Set(ctx, plan)
	return w, nil
}

// savedAlerts are those that fired when the process before ended. What nobody can
// read is kept under another name and said with the first Step: alerts that still
// fire begin anew.
func (w *Watch) savedAlerts(ctx context.Context) (firing []slo.Firing, err error) {
	firing, _, err = kept.Read[[]slo.Firing](ctx, w.store, alertsState, w.now(), nil)
	if damaged := (*kept.Damaged)(nil); errors.As(err, &damaged) {
		w.words = append(w.words, fmt.Errorf("alerts that still fire begin anew: %w", err))
		return nil, nil
	}
	return firing, err
}

// Set takes a plan in place of the one before. Objectives that were there
// already, as their hashes say, go on counting, with their slices and alerts;
// receivers go on with what they were told, after a restart too.
func (w *Watch) Set(ctx context.Context, plan Plan) {
	plan.lists = slo.NeedLists(plan.Objectives)
	for _, o := range plan.Objectives {
		if o.Figure != nil && !slices.ContainsFunc(plan.raws, func(b *slo.Objective) bool { return b.Raw == o.Raw }) {
			plan.raws = append(plan.raws, o)
		}
	}
	w.recorder.Set(plan.Objectives, w.now())
	w.asked.Store(&plan)
	w.evaluated = time.Time{} // judge at once
	w.setReceivers(ctx, plan.Receivers)
}

// setReceivers lets those that stay go on, and the others begin only when their
// predecessors have ended: they may go on with the same ledger.
func (w *Watch) setReceivers(ctx context.Context, list []*notify.Notifier) {
	same := func(n *notify.Notifier) func(*notify.Courier) bool {
		return func(c *notify.Courier) bool { return c.Notifier.Same(n) }
	}
	before := w.couriers
	all := make([]*notify.Courier, len(list))
	for i, n := range list {
		if k := slices.IndexFunc(before, same(n)); k >= 0 {
			all[i] = before[k]
			before = slices.Delete(slices.Clone(before), k, k+1)
		}
	}
	for _, c := range before {
		c.Stop()
	}
	for i, n := range list {
		if all[i] != nil {
			continue
		}
		name := n.StateName(0)
		for nth := 1; slices.ContainsFunc(all, func(c *notify.Courier) bool { return c != nil && c.Name == name }); nth++ {
			name = n.StateName(nth)
		}
		all[i] = notify.NewCourier(ctx, w.store, name, n, w.now)
		if w.start != nil {
			w.start(all[i])
		}
	}
	w.couriers = all
}

// Change is Set while Run runs. It returns when the plan is taken.
func (w *Watch) Change(ctx context.Context, plan Plan) {
	c := change{plan, make(chan struct{})}
	select {
	case w.changes <- c:
		<-c.done
	case <-ctx.Done():
	}
}

// Done implements traffic.Sink: a request counts when it ends.
func (w *Watch) Done(r *traffic.Request) {
	plan := w.asked.Load()
	record := r.Record
	if plan.lists && r.Timeline != nil {
		record = metric.Of(r.Timeline)
	}
	at, source, labels := w.now(), r.Labels.Source, history.LabelsOf(&r.Labels)
	plan.complete(&record, r)
	judges, others := plan.judges(r)
	w.recorder.Count(slo.Increments(judges, source, labels, at, &record)...)
	for _, i := range slo.Increments(others, source, labels, at, &record) {
		i.Counts = slo.Counts{Excluded: 1}
		w.recorder.Count(i)
	}
	for _, o := range plan.raws {
		if !o.Applies(labels) {
			continue
		}
		if over, under, ok := o.FigureOf(&record); ok {
			w.recorder.Figure(o.Raw, source, o.Group(labels), at, over, under)
		}
	}
	if r.Unmeasured == "" {
		w.recorder.Request(source, labels, at, &record)
	}
	w.noteTask(plan, source, labels, r.At, at, &record)
}

// judges are the objectives that a request may be judged by, and the others.
func (p *Plan) judges(r *traffic.Request) (judges, others []*slo.Objective) {
	if r.Unmeasured == "" {
		return p.Objectives, nil
	}
	for _, o := range p.Objectives {
		if r.JudgedBy(o.Promises...) {
			judges = append(judges, o)
		} else {
			others = append(others, o)
		}
	}
	return judges, others
}

// complete adds what the proxy does not know: what a request cost, and whether
// it was good.
func (p *Plan) complete(record *metric.Record, r *traffic.Request) {
	switch {
	case p.Pricing == nil || record.CostUSD.OK():
	case !p.Pricing.Priced():
		record.CostUSD = timeline.Some(0.0) // the GPUs are billed by time
	case r.Timeline != nil:
		record.CostUSD = p.Pricing.Of(r.Timeline)
	}
	if len(p.Good) > 0 && !record.Good.OK() && r.JudgedBy(p.Good...) {
		record.Good = objective.GoodOf(p.Good, record)
	}
}

// Reading adds a scraped value to the slices of the objectives on a figure, such
// as gpu_utilization (0 to 1).
func (w *Watch) Reading(figure string, source slo.Source, labels slo.Labels, v float64) {
	for _, o := range w.asked.Load().raws {
		if o.Figure.Name == figure && o.Applies(labels) {
			w.recorder.Figure(o.Raw, source, o.Group(labels), w.now(), v, 1)
		}
	}
}

// bill adds what the GPUs have cost since the last time to the slices that are
// judged by dollars. A time in which nobody watched is left out.
func (w *Watch) bill(now time.Time) {
	w.mu.Lock()
	since := w.billed
	w.billed = now
	w.mu.Unlock()
	plan := w.asked.Load()
	if plan.Pricing == nil || plan.Pricing.Priced() {
		return
	}
	hourly, ok := plan.Pricing.Hourly().Get()
	passed := now.Sub(since)
	if !ok || passed <= 0 || passed > history.Tolerated {
		return
	}
	usd := hourly * passed.Hours()
	for _, o := range plan.raws {
		over, under := o.Figure.Dollars(usd)
		if over == 0 && under == 0 || len(o.By) > 0 || len(o.Where) > 0 {
			continue
		}
		for _, source := range o.Sources {
			w.recorder.Figure(o.Raw, source, "", now, over, under)
		}
	}
}

// Results are the objectives as they were judged last.
func (w *Watch) Results() []slo.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.results)
}

// Step writes what was counted and, when it is time, judges and follows alerts.
func (w *Watch) Step(ctx context.Context) error {
	now := w.now()
	w.bill(now)
	w.endTasks(now)
	errs := append(w.words, w.written(w.recorder.Flush(ctx, now), now), w.tellLeftOut(now))
	errs = append(errs, w.recorder.Words()...)
	w.words = nil
	if due(now, w.compacted, time.Minute) {
		w.compacted = now
		errs = append(errs, w.recorder.Compact(ctx, now))
	}
	if due(now, w.evaluated, EvaluateEvery) {
		w.evaluated = now
		errs = append(errs, w.evaluate(ctx, now))
	}
	return errors.Join(errs...)
}

// due reports whether so much time has passed, or the clock went back.
func due(now, last time.Time, every time.Duration) bool {
	passed := now.Sub(last)
	return passed >= every || passed < 0
}

func (w *Watch) evaluate(ctx context.Context, now time.Time) error {
	now = now.Round(0) // windows are of the wall clock
	results := slo.Evaluate(w.asked.Load().Objectives, w.recorder.Memory(), now)
	w.mu.Lock()
	w.results = results
	w.mu.Unlock()
	firing, resolved := w.tracker.Update(results, now)
	own, over := w.historyAlert(now)
	resolved = append(resolved, over...)
	saved, err := json.Marshal(firing)
	if err != nil {
		return err
	}
	errs := []error{w.store.PutState(ctx, alertsState, saved)}
	for _, c := range w.couriers {
		errs = append(errs, c.Put(ctx, append(own, firing...), resolved))
	}
	return errors.Join(errs...)
}

// Run steps every second and tells receivers, until the context ends. Errors go
// to told, which is called from several goroutines and must not block; the one that it
// returns is of the last write: what was counted since the one before is lost.
func (w *Watch) Run(ctx context.Context, told func(error)) error {
	w.start = func(c *notify.Courier) { c.Start(ctx, told) }
	for _, c := range w.couriers {
		w.start(c)
	}
	ticker := time.NewTicker(history.FlushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := w.Step(ctx); err != nil && ctx.Err() == nil {
				told(err)
			}
			continue
		case c := <-w.changes:
			w.Set(ctx, c.plan)
			close(c.done)
			continue
		case <-ctx.Done():
		}
		break
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := w.recorder.Flush(last, w.now())
	for _, c := range w.couriers {
		c.Stop()
	}
	return err
}

// Objectives are those that are watched.
func (w *Watch) Objectives() []*slo.Objective { return w.asked.Load().Objectives }

// Total is what a series has counted in its life.
type Total struct {
	Key slo.Key
	slo.Counts
}

// Totals are the counters as they are exported, in a fixed order: they only
// grow, over restarts too.
func (w *Watch) Totals() []Total {
	totals := w.recorder.Totals()
	all := make([]Total, 0, len(totals))
	for k, c := range totals {
		all = append(all, Total{k, c})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key.Compare(all[j].Key) < 0 })
	return all
}
