package serve

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"tokenmeter/slo"
	"tokenmeter/slo/notify"
	"tokenmeter/store/sqlite"
	"tokenmeter/store/watch"
	"tokenmeter/telemetry"
)

// defaultStore is where history is kept that was given no file.
const defaultStore = "tokenmeter.db"

// budgets are the objectives with error budgets: their history, what watches
// them, and whoever is told of alerts. They are opened at the start and stay as
// they are.
type budgets struct {
	db    *sqlite.DB
	watch *watch.Watch
	stop  context.CancelFunc
	ended chan struct{}
}

// slo checks the part of the file that is about objectives with budgets.
func (c *checker) slo() {
	if spec := c.p.Config.SLO; spec != nil {
		c.p.SLO = slo.Compile(spec, c.doc, "slo")
		c.p.receivers = nil
		for i, n := range spec.Notify {
			receiver, err := notify.New(n, notify.Options{Env: c.env})
			if err != nil {
				c.addf(fmt.Sprintf("slo.notify[%d]", i), "%v", err)
				continue
			}
			c.p.receivers = append(c.p.receivers, receiver)
		}
	}
}

// openBudgets opens the history and begins to watch; nil when nothing is asked
// for.
func (d *Daemon) openBudgets(plan *Plan) (*budgets, error) {
	if len(plan.SLO) == 0 {
		return nil, nil
	}
	db, err := sqlite.Open(or(plan.Config.Store, defaultStore))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w, err := watch.New(ctx, db, plan.SLO, plan.receivers, time.Now)
	if err != nil {
		stop()
		db.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	b := &budgets{db: db, watch: w, stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		w.Run(ctx, func(err error) { d.log.Warn("objectives", "error", err.Error()) })
	}()
	return b, nil
}

// close writes what was counted last.
func (b *budgets) close() {
	if b == nil {
		return
	}
	b.stop()
	<-b.ended
	_ = b.db.Close()
}

// emit hands the counters out as metrics.
func (b *budgets) emit(emit func(m *telemetry.Metric, v float64, values ...string)) {
	if b == nil {
		return
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

// sameBudgets reports whether a new plan leaves objectives and history as they
// are.
func sameBudgets(a, b *Config) bool {
	return a.Store == b.Store && reflect.DeepEqual(a.SLO, b.SLO)
}
