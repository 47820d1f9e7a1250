// Package watch judges finished live requests by objectives, keeps the counts,
// follows alerts and tells whoever is to be told. A daemon gives it its
// requests as a live.Sink and calls Run.
package watch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tokenmeter/live"
	"tokenmeter/metric"
	"tokenmeter/slo"
	"tokenmeter/slo/notify"
	"tokenmeter/store"
)

// EvaluateEvery is how often objectives are judged and alerts followed.
const EvaluateEvery = 10 * time.Second

// alertsState is the name under which alerts that fire outlive a restart.
const alertsState = "slo.alerts"

// Watch is what watches. Safe for concurrent use, but for Step and Run.
type Watch struct {
	store      store.Store
	recorder   *store.Recorder
	objectives []*slo.Objective
	lists      bool
	receivers  []*receiver
	now        func() time.Time
	tracker    slo.Tracker
	evaluated  time.Time
	compacted  time.Time

	mu      sync.Mutex
	results []slo.Result
}

var _ live.Sink = (*Watch)(nil)

// New returns a watch that goes on where the store ended. The store is not
// closed by it.
func New(ctx context.Context, s store.Store, objectives []*slo.Objective, receivers []*notify.Notifier, now func() time.Time) (*Watch, error) {
	r, err := store.NewRecorder(ctx, s, objectives, now(), slo.Live, slo.Probe)
	if err != nil {
		return nil, err
	}
	w := &Watch{store: s, recorder: r, objectives: objectives, lists: slo.NeedLists(objectives), now: now, compacted: now()}
	saved, err := s.State(ctx, alertsState)
	if err != nil {
		return nil, err
	}
	var firing []slo.Firing
	if saved != nil {
		if err := json.Unmarshal(saved, &firing); err != nil {
			return nil, fmt.Errorf("the saved alerts: %w", err)
		}
	}
	w.tracker.Restore(firing)
	for _, n := range receivers {
		n.Restore(firing, now())
		w.receivers = append(w.receivers, &receiver{notifier: n, news: make(chan struct{}, 1)})
	}
	return w, nil
}

// Done implements live.Sink: a request counts when it ends. One that was not
// measured counts only when it failed.
func (w *Watch) Done(r *live.Request) {
	record := &r.Record
	if w.lists && r.Timeline != nil {
		whole := metric.Of(r.Timeline)
		record = &whole
	}
	at, source := w.now(), slo.Source(r.Labels.Source)
	labels := slo.Labels{"listener": r.Labels.Listener, "route": r.Labels.Route, "upstream": r.Labels.Upstream, "model": r.Labels.Model, "api": r.Labels.API}
	increments := slo.Increments(w.objectives, source, labels, at, record)
	if r.Unmeasured != "" && !record.Outcome.Failed() {
		for i := range increments {
			increments[i].Counts = slo.Counts{Excluded: 1}
		}
	}
	w.recorder.Count(increments...)
	for _, o := range w.objectives {
		if !o.Applies(labels) {
			continue
		}
		if over, under, ok := o.FigureOf(record); ok {
			w.recorder.Figure(o.Raw, source, o.Group(labels), at, over, under)
		}
	}
}

// Reading adds a scraped value to the slices of the objectives on a figure, such
// as gpu_utilization (0 to 1).
func (w *Watch) Reading(figure string, source slo.Source, labels slo.Labels, v float64) {
	for _, o := range w.objectives {
		if o.Figure != nil && o.Figure.Name == figure && o.Applies(labels) {
			w.recorder.Figure(o.Raw, source, o.Group(labels), w.now(), v, 1)
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
	errs := []error{w.recorder.Flush(ctx, now)}
	if now.Sub(w.compacted) >= time.Minute {
		w.compacted = now
		errs = append(errs, w.store.Compact(ctx, now))
	}
	if now.Sub(w.evaluated) >= EvaluateEvery {
		w.evaluated = now
		errs = append(errs, w.evaluate(ctx, now))
	}
	return errors.Join(errs...)
}

func (w *Watch) evaluate(ctx context.Context, now time.Time) error {
	results := slo.Evaluate(w.objectives, w.recorder.Memory(), now)
	w.mu.Lock()
	w.results = results
	w.mu.Unlock()
	firing, resolved := w.tracker.Update(results, now)
	for _, r := range w.receivers {
		r.put(firing, resolved)
	}
	saved, err := json.Marshal(firing)
	if err != nil {
		return err
	}
	return w.store.PutState(ctx, alertsState, saved)
}

// Run steps every second and tells receivers, until the context ends. Errors go
// to told, which is called from several goroutines and must not block.
func (w *Watch) Run(ctx context.Context, told func(error)) {
	var wait sync.WaitGroup
	for _, r := range w.receivers {
		wait.Go(func() { r.run(ctx, w.now, told) })
	}
	ticker := time.NewTicker(store.FlushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := w.Step(ctx); err != nil && ctx.Err() == nil {
				told(err)
			}
			continue
		case <-ctx.Done():
		}
		break
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := w.recorder.Flush(last, w.now()); err != nil {
		told(err)
	}
	wait.Wait()
}

// receiver tells one receiver at its own pace: who is slow misses nothing.
type receiver struct {
	notifier *notify.Notifier
	news     chan struct{}
	mu       sync.Mutex
	firing   []slo.Firing
	resolved []slo.Firing
}

func (r *receiver) put(firing, resolved []slo.Firing) {
	r.mu.Lock()
	r.firing = firing
	r.resolved = append(r.resolved, resolved...)
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *receiver) run(ctx context.Context, now func() time.Time, told func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.news:
		}
		r.mu.Lock()
		firing, resolved := r.firing, r.resolved
		r.resolved = nil
		r.mu.Unlock()
		if err := r.notifier.Tell(ctx, now(), firing, resolved); err != nil && ctx.Err() == nil {
			told(err)
		}
	}
}

// Objectives are those that are watched.
func (w *Watch) Objectives() []*slo.Objective { return w.objectives }

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
	slices.SortFunc(all, func(a, b Total) int { return a.Key.Compare(b.Key) })
	return all
}
