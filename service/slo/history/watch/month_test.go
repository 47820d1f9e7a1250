package watch

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

// ledgerOf is the truth of a month: how many requests each ten seconds had, and
// how many were bad, as sums from its beginning. Nothing of it comes from the
// code under test.
type ledgerOf struct{ valid, bad []int64 }

// within is what began in the last so many seconds, in whole steps.
func (l *ledgerOf) within(now, long, step int) (valid, bad int64) {
	from := max(now-long, 0)
	from = (from + step - 1) / step * step
	at := func(s []int64, second int) int64 { return s[min(second/10, len(s)-1)] }
	return at(l.valid, now) - at(l.valid, from), at(l.bad, now) - at(l.bad, from)
}

// A month of requests, quiet weekends, incidents, restarts, full disks and clocks
// that are wrong: every budget is the truth's, and every alert fires exactly
// while the truth says so, but while the clock itself is wrong.
func TestMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of a processor")
	}
	const (
		hour, day = 3600, 86400
		length    = 31 * day
		budget    = 0.01
	)
	rules := []struct {
		factor           float64
		long, short      int
		longStep, shorts int // of what is kept of them
	}{{14.4, hour, 300, 10, 10}, {6, 6 * hour, 1800, 60, 10}}
	objectives := compiled(t, `  - name: up
    objective: availability >= 99%
    alerts: [{factor: 14.4, long: 1h, short: 5m, severity: page}, {factor: 6, long: 6h, short: 30m, severity: page}]
`)
	key := slo.Key{Hash: objectives[0].Hash, Source: slo.Live}
	random := rand.New(rand.NewPCG(31, 1))
	begun := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday
	in := func(second, from, long int) bool { return second >= from && second < from+long }
	wrong := func(s int) time.Duration {
		switch {
		case in(s, 3*day+5*hour, 1800), in(s, 17*day+9*hour, 7200):
			return day * time.Second // ahead
		case in(s, 10*day+3*hour, 300), in(s, 22*day+15*hour, 480):
			return -day * time.Second
		}
		return 0
	}
	full := func(s int) bool {
		return in(s, 4*day+2*hour, 5*hour) || in(s, 17*day+8*hour, 600) || in(s, 25*day, 1200)
	}
	incident := func(s int) float64 {
		switch {
		case in(s, day+8*hour, 2400), in(s, 8*day+20*hour, 1200), in(s, 24*day+23*hour+2400, 2400):
			return 0.4
		case in(s, 15*day+10*hour, 5*hour):
			return 0.09 // slow: only the long windows
		}
		return 0.001
	}
	second := 0
	now := func() time.Time { return begun.Add(time.Duration(second)*time.Second + wrong(second)) }
	store := &disk{seq: map[string]int64{}, totals: map[slo.Key]slo.Counts{}, states: map[string]json.RawMessage{}}
	fails := &failing{disk: store}
	var w *Watch
	start := func() {
		var err error
		if w, err = New(t.Context(), fails, Plan{Objectives: objectives}, now); err != nil {
			t.Fatal(err)
		}
	}
	start()
	truth := &ledgerOf{valid: []int64{0}, bad: []int64{0}}
	firing, pages, checked, restarts, unsure := [2]bool{}, 0, 0, 0, 0
	for second < length {
		valid, bad := truth.valid[len(truth.valid)-1], truth.bad[len(truth.bad)-1]
		if second/day%7 < 5 { // no weekend
			for range 1 + random.IntN(2) {
				outcome := timeline.OK
				if random.Float64() < incident(second) {
					outcome = timeline.HTTP5xx
					bad++
				}
				valid++
				w.Done(request("m", outcome, 100))
			}
		}
		truth.valid, truth.bad = append(truth.valid, valid), append(truth.bad, bad)
		fails.full = full(second)
		if wrong(second) != wrong(second+10) {
			unsure = second + 60 // it is seen with the next step
		}
		second += 10
		err := w.Step(t.Context())
		if err != nil && wrong(second) == wrong(second-10) && !fails.full {
			t.Fatal(err)
		}
		if random.IntN(3000) == 0 && !fails.full && wrong(second) == 0 && second > unsure {
			restarts++
			start() // the process was killed after it wrote
			if err := w.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if wrong(second) != 0 || second <= unsure || full(second) && wrong(second-7200) != 0 {
			continue
		}
		result := w.Results()[0]
		for i, r := range rules {
			lv, lb := truth.within(second, r.long, r.longStep)
			sv, sb := truth.within(second, r.short, r.shorts)
			limit := r.factor * budget
			want := lv >= 10 && lb >= 2 && sv > 0 && float64(lb)/float64(lv) > limit && float64(sb)/float64(sv) > limit
			if got := result.Alerts[i].Firing; got != want {
				t.Fatalf("on day %d, second %d, %s fires: %t, the truth is %t (%d of %d, %d of %d)", second/day, second%day, result.Alerts[i].Name, got, want, lb, lv, sb, sv)
			}
			if want && !firing[i] {
				pages++
			}
			firing[i] = want
		}
		if second%300 == 0 {
			checked++
			v, b := truth.within(second, 28*day, 300)
			if result.Valid != v || result.Bad() != b {
				t.Fatalf("on day %d, second %d, the budget has %d bad of %d, the truth is %d of %d", second/day, second%day, result.Bad(), result.Valid, b, v)
			}
			if left, ok := result.BudgetRemaining.Get(); v > 0 && (!ok || abs(left-(1-float64(b)/(float64(v)*budget))) > 1e-9) {
				t.Fatalf("on day %d %v of the budget is left of %d bad of %d", second/day, left, b, v)
			}
		}
	}
	if total := w.Totals()[0]; total.Key != key || total.Valid != truth.valid[len(truth.valid)-1] {
		t.Errorf("the counter is %+v, want %d", total, truth.valid[len(truth.valid)-1])
	}
	// Forty minutes of 40 % are over 14.4 % of an hour, twenty are not; five hours
	// of 9 % are over 6 % of six.
	if pages != 3 {
		t.Errorf("%d alerts began, want 3", pages)
	}
	if restarts < 30 || checked < 8000 {
		t.Errorf("%d restarts and %d comparisons are too few", restarts, checked)
	}
	t.Logf("%d requests, %d restarts, %d pages, %d budgets compared", truth.valid[len(truth.valid)-1], restarts, pages, checked)
}

func abs(x float64) float64 { return max(x, -x) }

// failing is a disk that is full at times.
type failing struct {
	*disk
	full bool
}

var errFull = errors.New("database or disk is full")

func (f *failing) Write(ctx context.Context, b history.Batch) error {
	if f.full {
		return errFull
	}
	return f.disk.Write(ctx, b)
}

func (f *failing) PutState(_ context.Context, name string, v json.RawMessage) error {
	if f.full {
		return errFull
	}
	f.states[name] = v
	return nil
}

func (f *failing) State(_ context.Context, name string) (json.RawMessage, error) {
	return f.states[name], nil
}
