package watch

import (
	"fmt"
	"time"

	"tokenmeter/service/slo"
)

// unwrittenFor is how long the history can't be written before somebody is told:
// a busy disk is none of their business.
const unwrittenFor = time.Minute

// written notes how a write of the history went, and says what follows.
func (w *Watch) written(err error, now time.Time) error {
	if err == nil {
		w.failing.Store(0)
		return nil
	}
	w.failures.Add(1)
	w.failing.CompareAndSwap(0, now.UnixNano())
	return fmt.Errorf("the history can't be written; what is counted is kept in memory until it can: %w", err)
}

// Unwritten is how often the history could not be written, and for how long now.
func (w *Watch) Unwritten() (failures int64, since time.Duration) {
	if ns := w.failing.Load(); ns != 0 {
		since = max(w.now().Sub(time.Unix(0, ns)), 0)
	}
	return w.failures.Load(), since
}

// historyAlert is the ticket that a history is not written: a daemon that ends
// meanwhile loses what it counted.
func (w *Watch) historyAlert(now time.Time) (firing, resolved []slo.Firing) {
	_, since := w.Unwritten()
	switch {
	case since >= unwrittenFor && w.unwritten == nil:
		w.unwritten = &slo.Firing{Objective: "history", Source: slo.Live, Alert: "not_written", Severity: slo.Ticket, Since: now, Compiled: "writes of the history",
			Says: "The history can't be written (see the log): budgets go on in memory, and a restart loses what was counted since."}
	case since == 0 && w.unwritten != nil:
		over := *w.unwritten
		w.unwritten = nil
		over.Resolved, over.Says = &now, "The history is written again, with all that was counted."
		return nil, []slo.Firing{over}
	}
	if w.unwritten != nil {
		firing = []slo.Firing{*w.unwritten}
	}
	return firing, nil
}
