package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history/sqlite"
	"tokenmeter/service/slo/history/watch"
	"tokenmeter/service/telemetry"
)

// defaultStore is where history is kept that was given no file.
const defaultStore = "tokenmeter.db"

// budgets are the objectives with error budgets: their history, what watches
// them, and whoever is told of alerts. A new plan brings new objectives; the
// store stays the one of the start.
type budgets struct {
	db     *sqlite.DB
	store  string // as the configuration names it
	watch  *watch.Watch
	reads  atomic.Pointer[scrapers]
	cancel context.CancelFunc
	ctx    context.Context
	ended  chan struct{}
}

// watched is what a plan wants to have watched.
func (p *Plan) watched() watch.Plan {
	return watch.Plan{Objectives: p.SLO, Receivers: p.receivers, Good: p.Objectives, Pricing: p.pricing}
}

// openBudgets opens the history and begins to watch; nil when nothing is asked
// for.
func (d *Daemon) openBudgets(plan *Plan) (*budgets, error) {
	if len(plan.SLO) == 0 && plan.Config.Store == "" {
		return nil, nil
	}
	db, err := sqlite.Open(or(plan.Config.Store, defaultStore))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w, err := watch.New(ctx, db, plan.watched(), time.Now)
	if err != nil {
		stop()
		db.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	b := &budgets{db: db, store: plan.Config.Store, watch: w, ctx: ctx, cancel: stop, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		w.Run(ctx, func(err error) { d.log.Warn("objectives", "error", err.Error()) })
	}()
	b.reads.Store(d.scrape(plan, b))
	return b, nil
}

// set takes the objectives of a new plan. Counters, slices, alerts and receivers
// that are in both plans go on.
func (b *budgets) set(d *Daemon, plan *Plan) {
	if b == nil {
		return
	}
	if plan.Config.Store != b.store {
		d.log.Warn("store is opened at the start only; the history goes on where it is until a restart", "store", or(b.store, defaultStore))
	}
	b.watch.Change(b.ctx, plan.watched())
	if old := b.reads.Load(); !old.same(plan) {
		old.close()
		b.reads.Store(d.scrape(plan, b))
	}
}

// close writes what was counted last.
func (b *budgets) close() {
	if b == nil {
		return
	}
	b.reads.Load().close()
	b.cancel()
	<-b.ended
	_ = b.db.Close()
}

// emit hands the counters out as metrics.
func (b *budgets) emit(emit func(m *telemetry.Metric, v float64, values ...string)) {
	if b == nil {
		return
	}
	for _, r := range b.reads.Load().readers {
		emit(telemetry.ScrapeErrors, float64(r.Failed()), r.Name())
	}
	if slices.ContainsFunc(b.watch.Objectives(), (*slo.Objective).OfTasks) {
		emit(telemetry.Dropped, float64(b.watch.LeftOut()), "tasks")
	}
	totals := b.watch.Totals()
	for _, o := range b.watch.Objectives() {
		s := telemetry.SLO{Name: o.Name, Hash: o.Hash, Text: o.Text, Target: o.Target}
		for _, k := range totals {
			if k.Key.Hash == o.Hash {
				s.Counts = append(s.Counts, telemetry.SLOCount{Source: string(k.Key.Source), Group: k.Key.Group, Good: k.Good, Valid: k.Valid, Excluded: k.Excluded})
			}
		}
		s.Emit(emit)
	}
}
