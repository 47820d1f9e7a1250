package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/postgres"
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
	db     history.Store
	store  string // as the configuration names it
	name   string // in it, likewise
	watch  *watch.Watch
	life   *history.Life
	reads  atomic.Pointer[scrapers]
	cancel context.CancelFunc
	ctx    context.Context
	ended  chan struct{}
	lost   error // what the last write could not take; to be read when ended is closed
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
	path := cmp.Or(plan.Config.Store, defaultStore)
	b, err := d.openStore(plan, path)
	if err != nil && !postgres.Is(path) && sqlite.Damaged(err) { // a database has no file to be set aside
		// The proxy is needed, whatever became of the history.
		aside, asideErr := sqlite.SetAside(path, d.opt.Now())
		var foreign *sqlite.ForeignError
		switch {
		case errors.As(asideErr, &foreign):
			return nil, fmt.Errorf("store: %w", asideErr)
		case asideErr != nil:
			return nil, fmt.Errorf("store: %w; it is damaged and can't be set aside: %w", err, asideErr)
		}
		d.log.Error("the history is damaged; a new one begins, and budgets with it", "store", path, "kept_as", aside, "error", err.Error())
		b, err = d.openStore(plan, path)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return b, nil
}

// openHistory opens a history for writing, and says where it is: two places are
// never called the same.
func openHistory(store, name string) (db history.Store, place string, err error) {
	if postgres.Is(store) {
		if name, err = postgres.Name(name); err != nil {
			return nil, "", err
		}
		return postgres.Open(context.Background(), store, name)
	}
	f, err := sqlite.Open(store)
	if err != nil {
		return nil, "", err
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	if full, err := filepath.Abs(store); err == nil {
		store = full
	}
	return f, host + ":" + store, nil
}

// openStore opens a history and begins to watch.
func (d *Daemon) openStore(plan *Plan, store string) (*budgets, error) {
	db, place, err := openHistory(store, plan.Config.StoreName)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	w, err := watch.New(ctx, db, plan.watched(), d.opt.Now)
	if err != nil {
		stop()
		db.Close()
		return nil, err
	}
	life, err := openLife(ctx, db, place, w, d.opt.Now())
	if err != nil {
		stop()
		db.Close()
		return nil, err
	}
	b := &budgets{db: db, store: plan.Config.Store, name: plan.Config.StoreName, watch: w, life: life, ctx: ctx, cancel: stop, ended: make(chan struct{})}
	told := func(err error) { d.log.Warn("objectives", "error", err.Error()) }
	var work sync.WaitGroup
	work.Go(func() { b.lost = w.Run(ctx, told) })
	work.Go(func() { life.Keep(ctx, told) })
	go func() { work.Wait(); close(b.ended) }()
	b.reads.Store(d.scrape(plan, b))
	return b, nil
}

// openLife goes on with the life of a store's counters, unless the store is a
// copy: it lies elsewhere, or on another host.
func openLife(ctx context.Context, db history.Store, place string, w *watch.Watch, now time.Time) (*history.Life, error) {
	totals := map[slo.Key]slo.Counts{}
	for _, t := range w.Totals() {
		totals[t.Key] = t.Counts
	}
	return history.OpenLife(ctx, db, place, totals, now)
}

// set takes the objectives of a new plan. Counters, slices, alerts and receivers
// that are in both plans go on.
func (b *budgets) set(d *Daemon, plan *Plan) {
	if b == nil {
		return
	}
	if plan.Config.Store != b.store || plan.Config.StoreName != b.name {
		d.log.Warn("store is opened at the start only; the history goes on where it is until a restart", "store", secret.RedactURL(cmp.Or(b.store, defaultStore)))
	}
	b.watch.Change(b.ctx, plan.watched())
	if old := b.reads.Load(); !old.same(plan) {
		old.close()
		b.reads.Store(d.scrape(plan, b))
	}
}

// close writes what was counted last.
func (b *budgets) close() error {
	if b == nil {
		return nil
	}
	b.reads.Load().close()
	b.cancel()
	<-b.ended
	_ = b.db.Close()
	if b.lost != nil {
		return &LostError{fmt.Errorf("the history in %s could not be written at the end, and lacks what was counted last: %w", secret.RedactURL(cmp.Or(b.store, defaultStore)), b.lost)}
	}
	return nil
}

// emit hands the counters out as metrics.
func (b *budgets) emit(emit func(m *telemetry.Metric, v float64, values ...string)) {
	if b == nil {
		return
	}
	for _, r := range b.reads.Load().readers {
		emit(telemetry.ScrapeErrors, float64(r.Failed()), r.Name())
	}
	failures, late := b.watch.Unwritten()
	emit(telemetry.HistoryFailed, float64(failures))
	emit(telemetry.HistoryLate, late.Seconds())
	if slices.ContainsFunc(b.watch.Objectives(), (*slo.Objective).OfTasks) {
		emit(telemetry.Dropped, float64(b.watch.LeftOut()), "tasks")
	}
	totals := b.watch.Totals()
	for _, o := range b.watch.Objectives() {
		s := telemetry.SLO{Name: o.Name, Hash: o.Hash, Text: o.Text, Target: o.Target, Window: string(o.Window.Calendar), Run: b.life.Run()}
		s.Window = cmp.Or(s.Window, slo.WindowName(o.Window.Rolling))
		for _, source := range o.Sources {
			if source != slo.Run {
				s.Sources = append(s.Sources, string(source))
			}
		}
		for _, t := range totals {
			if t.Key.Hash == o.Hash {
				c := b.life.Counted(t.Key, t.Counts)
				s.Counts = append(s.Counts, telemetry.SLOCount{Source: t.Key.Source, Group: t.Key.Group, Counts: c})
			}
		}
		s.Emit(emit)
	}
}

// shown remembers which counters /metrics has had: those of a store in the store.
type shown struct{ d *Daemon }

// of is the life that counters of these labels belong to, and their key.
func (s shown) of(labels []string) (*history.Life, slo.Key) {
	s.d.mu.Lock()
	b := s.d.budgets
	s.d.mu.Unlock()
	if b == nil || labels[4] != b.life.Run() {
		return nil, slo.Key{}
	}
	return b.life, slo.Key{Hash: labels[1], Source: slo.Source(labels[2]), Group: labels[3]}
}

// Known implements prometheus.Shown.
func (s shown) Known(labels []string) bool {
	life, k := s.of(labels)
	return life != nil && life.Shown(k)
}

// Show implements prometheus.Shown.
func (s shown) Show(labels []string) {
	if life, k := s.of(labels); life != nil {
		life.Show(k)
	}
}
