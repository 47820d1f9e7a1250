package slo

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"

	"github.com/google/go-cmp/cmp"
)

func must(t testing.TB, text string) []*Objective {
	t.Helper()
	objectives, _, err := Load("slo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objectives
}

func near(t *testing.T, what string, got opt, want float64) {
	t.Helper()
	if v, ok := got.Get(); !ok || math.Abs(v-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got.Ptr(), want)
	}
}

var begin = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// B90: with little traffic one failure pages nobody, and says why.
func TestB90(t *testing.T) {
	o := must(t, `
objectives:
  - {name: up, objective: availability >= 99.9%, window: 30d}`)[0]
	var m Memory
	k := Key{o.Hash, Live, ""}
	m.Add(k, begin, 0, Counts{Good: 92, Valid: 92})
	now := begin.Add(58 * time.Minute)
	m.Add(k, now.Add(-time.Minute), 0, Counts{Good: 7, Valid: 8})
	r := o.Evaluate(&m, Live, nil, now)
	near(t, "burn over 5m", r.Burn["5m"], 125)
	near(t, "burn over 1h", r.Burn["1h"], 10)
	a := r.Alerts[0]
	if a.Firing || a.Reason != InsufficientEvents || a.Factor.Or(0) != 14.4 || a.Long != "1h" {
		t.Errorf("the page alert is %+v", a)
	}
	if r.State != InsufficientData || !strings.HasPrefix(r.Says, "Not enough data") {
		t.Errorf("state %s: %s", r.State, r.Says)
	}
}

// B91: a day without traffic has no share and spoils no other.
func TestB91(t *testing.T) {
	o := must(t, `
objectives:
  - {name: up, objective: availability >= 99.9%, window: 30d}`)[0]
	var m Memory
	for day := range 29 {
		c := Counts{Good: 344, Valid: 344}
		if day == 0 {
			c = Counts{Good: 358, Valid: 368}
		}
		m.Add(Key{o.Hash, Live, ""}, begin.Add(time.Duration(day)*24*time.Hour), 0, c)
	}
	r := o.Evaluate(&m, Live, nil, begin.Add(30*24*time.Hour))
	if r.Good != 9990 || r.Valid != 10000 {
		t.Fatalf("counts %+v", r.Counts)
	}
	near(t, "sli", r.SLI, 0.999)
	if left, ok := r.BudgetRemaining.Get(); !ok || left != 0 {
		t.Errorf("left is %v, want exactly 0", r.BudgetRemaining.Ptr())
	}
	if r.Burn["1d"].OK() {
		t.Error("a day without traffic has a burn rate")
	}
	if SLI(Counts{}).OK() || Burn(Counts{}, 0.001).OK() {
		t.Error("no events have a share")
	}
	data, err := json.Marshal(r)
	if err != nil || strings.Contains(string(data), "NaN") {
		t.Errorf("%v: %s", err, data)
	}
}

// B92: counts are summed, then divided.
func TestB92(t *testing.T) {
	c := Counts{Good: 0, Valid: 1}.Plus(Counts{Good: 999, Valid: 999})
	near(t, "burn", Burn(c, decimal(1-0.999)), 1)
	near(t, "error ratio", timeline.Some(1-SLI(c).Or(0)), 0.001)
}

// B94: overspent budgets are told as they are.
func TestB94(t *testing.T) {
	o := must(t, `
objectives:
  - {name: up, objective: availability >= 99.9%}`)[0]
	var m Memory
	m.Add(Key{o.Hash, Live, ""}, begin, 0, Counts{Good: 1_000_000 - 8920, Valid: 1_000_000})
	r := o.Evaluate(&m, Live, nil, begin.Add(time.Minute))
	near(t, "burn", r.Burn["1h"], 8.92)
	near(t, "budget in events", r.BudgetEvents, 1000)
	near(t, "consumed", r.BudgetConsumed, 8.92)
	near(t, "remaining", r.BudgetRemaining, -7.92)
	if !strings.Contains(r.Says, "overspent by 7.92 budgets") || r.State != Exhausted {
		t.Errorf("%s: %s", r.State, r.Says)
	}
}

// B95: failed requests are bad, what was cut off at the end and what has no
// TTFT is left out.
func TestB95(t *testing.T) {
	o := must(t, `
objectives:
  - {name: ttft, objective: "ttft <= 500ms", target: 99%}`)[0]
	var sum Counts
	add := func(times int, r metric.Record) {
		for range times {
			sum = sum.Plus(o.Tally(&r))
		}
	}
	add(90, metric.Record{Phase: timeline.Measure, Outcome: timeline.OK, TTFTMS: timeline.Some(300.0)})
	add(4, metric.Record{Phase: timeline.Measure, Outcome: timeline.OK, TTFTMS: timeline.Some(700.0)})
	add(6, metric.Record{Phase: timeline.Measure, Outcome: timeline.HTTP5xx, TTFTMS: timeline.Some(5.0)})
	add(3, metric.Record{Phase: timeline.Measure, Outcome: timeline.CancelledRunEnd})
	add(2, metric.Record{Phase: timeline.Measure, Outcome: timeline.OK, E2EMS: timeline.Some(400.0)})
	if want := (Counts{Good: 90, Valid: 100, Excluded: 5}); sum != want {
		t.Errorf("got %+v, want %+v", sum, want)
	}
	near(t, "share", SLI(sum), 0.9)
}

// B96: more good events than events is no share.
func TestB96(t *testing.T) {
	o := must(t, `
objectives:
  - {name: up, objective: availability >= 99%}`)[0]
	var m Memory
	m.Add(Key{o.Hash, Live, ""}, begin, 0, Counts{Good: 101, Valid: 100})
	r := o.Evaluate(&m, Live, nil, begin.Add(time.Minute))
	if r.SLI.OK() || r.BudgetRemaining.OK() || r.Burn["1h"].OK() {
		t.Errorf("an impossible count gave %+v", r)
	}
	if !cmp.Equal(r.Flags, []string{InconsistentCounts}) {
		t.Errorf("flags %v", r.Flags)
	}
}

// B97: burn thresholds follow from the window.
func TestB97(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		period, long time.Duration
		share, want  float64
	}{
		{30 * day, time.Hour, 0.02, 14.4}, {30 * day, 6 * time.Hour, 0.05, 6}, {30 * day, 72 * time.Hour, 0.10, 1},
		{7 * day, time.Hour, 0.02, 3.36}, {7 * day, 6 * time.Hour, 0.05, 1.4},
		{28 * day, time.Hour, 0.02, 13.44}, {28 * day, 6 * time.Hour, 0.05, 5.6}, {28 * day, day, 0.10, 2.8}, {28 * day, 72 * time.Hour, 0.10, 0.933333333333},
	} {
		if got := Factor(c.share, c.period, c.long); got != c.want {
			t.Errorf("%s of %s in %s: %v, want %v", percent(c.share), span(c.period), span(c.long), got, c.want)
		}
	}
	for budget, want := range map[float64]int{0.01: 4, 0.1: 3, 0.5: 1} {
		alerts, notes := DefaultAlerts(Window{Rolling: 28 * day}, budget, 0)
		if len(alerts) != want || len(alerts)+len(notes) != 4 {
			t.Errorf("budget %v: %d alerts, %d notes", budget, len(alerts), len(notes))
		}
	}
}

// B98: slices of a calendar week are known in advance.
func TestB98(t *testing.T) {
	o := must(t, `
objectives:
  - {name: tps, objective: system_output_tps >= 1000, slice: 5m, target: 95%, calendar: week}
  - {name: rolling, objective: system_output_tps >= 1000, slice: 5m, target: 95%, window: 7d}`)
	var m Memory
	for i := range 500 {
		c := Counts{Good: 1, Valid: 1}
		if i < 10 {
			c.Good = 0
		}
		m.Add(Key{o[0].Hash, Live, ""}, begin.Add(time.Duration(i)*5*time.Minute), 0, c)
	}
	now := begin.Add(500 * 5 * time.Minute)
	from, until := o[0].Window.Bounds(now)
	if total := until.Sub(from) / o[0].Slice; total != 2016 {
		t.Errorf("%d slices", total)
	}
	r := o[0].Evaluate(&m, Live, nil, now)
	near(t, "budget", r.BudgetEvents, 100.8)
	if got := fmt.Sprintf("%.4f", r.BudgetConsumed.Or(0)); got != "0.0992" || r.BudgetMethod != ByCalendarSlices {
		t.Errorf("consumed %s by %s", got, r.BudgetMethod)
	}
	r = o[1].Evaluate(&m, Live, nil, now)
	if near(t, "a rolling window consumed", r.BudgetConsumed, 0.4); r.BudgetMethod != BySlices {
		t.Errorf("by %s", r.BudgetMethod)
	}
}
