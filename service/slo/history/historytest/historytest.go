// Package historytest is what every store must do, as tests: a new database runs
// them with one call.
package historytest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"

	"github.com/google/go-cmp/cmp"
)

// Opener opens the same store each time it is called in a test: what was
// written before is there.
type Opener func(t testing.TB) history.Store

var begin = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// Run runs the suite. fresh returns the opener of a new, empty store.
func Run(t *testing.T, fresh func(t testing.TB) Opener) {
	for name, test := range map[string]func(*testing.T, Opener){
		"Empty":      empty,
		"Counts":     counts,
		"Once":       once,
		"Compaction": compaction,
		"Reopened":   reopened,
		"Watched":    watched,
		"Sketches":   sketches,
		"States":     states,
		"Recorder":   recorder,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func opened(t *testing.T, open Opener) history.Store {
	t.Helper()
	s := open(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func cells(t *testing.T, s history.Store) []history.Cell {
	t.Helper()
	var all []history.Cell
	if err := s.Cells(t.Context(), time.Unix(0, 0), begin.Add(10000*time.Hour), func(c history.Cell) error {
		c.At = c.At.UTC()
		all = append(all, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func empty(t *testing.T, open Opener) {
	s := opened(t, open)
	if all := cells(t, s); len(all) != 0 {
		t.Errorf("cells %v", all)
	}
	if totals, err := s.Totals(t.Context()); err != nil || len(totals) != 0 {
		t.Errorf("totals %v, %v", totals, err)
	}
	if w, err := s.Watched(t.Context()); err != nil || len(w) != 0 {
		t.Errorf("watched %v, %v", w, err)
	}
	if sk, err := s.Sketch(t.Context(), "x", begin, begin.Add(time.Hour)); err != nil || sk.Len() != 0 {
		t.Errorf("sketch %v, %v", sk, err)
	}
	if err := s.Compact(t.Context(), begin); err != nil {
		t.Error(err)
	}
	if err := s.Write(t.Context(), history.Batch{Writer: "a", Seq: 1, At: begin}); err != nil {
		t.Error(err)
	}
}

func key(name string) slo.Key { return slo.Key{Hash: name, Source: slo.Live} }

func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

func write(t *testing.T, s history.Store, b history.Batch) {
	t.Helper()
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func counts(t *testing.T, open Opener) {
	s := opened(t, open)
	a, b := key("a"), slo.Key{Hash: "a", Source: slo.Probe, Group: "m/x"}
	write(t, s, history.Batch{Writer: "w", Seq: 1, At: at(3), Counts: []slo.Increment{
		{Key: a, At: at(1), Counts: slo.Counts{Good: 1, Valid: 2}},
		{Key: a, At: at(9), Counts: slo.Counts{Good: 1, Valid: 1, Excluded: 4}},
		{Key: a, At: at(10), Counts: slo.Counts{Valid: 5}},
		{Key: b, At: at(1), Counts: slo.Counts{Good: 7, Valid: 7}},
	}})
	want := []history.Cell{
		{Key: a, At: at(0), Step: 10 * time.Second, Counts: slo.Counts{Good: 2, Valid: 3, Excluded: 4}},
		{Key: a, At: at(10), Step: 10 * time.Second, Counts: slo.Counts{Valid: 5}},
		{Key: b, At: at(0), Step: 10 * time.Second, Counts: slo.Counts{Good: 7, Valid: 7}},
	}
	if diff := cmp.Diff(want, cells(t, s)); diff != "" {
		t.Error(diff)
	}
	totals, err := s.Totals(t.Context())
	if diff := cmp.Diff(map[slo.Key]slo.Counts{a: {Good: 2, Valid: 8, Excluded: 4}, b: {Good: 7, Valid: 7}}, totals); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// once: a batch counts once, however often it is written.
func once(t *testing.T, open Opener) {
	s := opened(t, open)
	b := history.Batch{Writer: "w", Seq: 1, At: begin, Counts: []slo.Increment{{Key: key("a"), At: begin, Counts: slo.Counts{Good: 1, Valid: 1}}}}
	for range 3 {
		write(t, s, b)
	}
	other := b
	other.Writer = "v"
	write(t, s, other)
	b.Seq = 2
	write(t, s, b)
	totals, _ := s.Totals(t.Context())
	if got := totals[key("a")].Good; got != 3 {
		t.Errorf("%d, want 3", got)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	b.Seq = 3
	if s.Write(cancelled, b) == nil {
		t.Error("a cancelled write says that it was done")
	}
	write(t, s, b)
	totals, _ = s.Totals(t.Context())
	if got := totals[key("a")].Good; got != 4 {
		t.Errorf("%d, want 4", got)
	}
}

// compaction moves counts without losing one, each tier no longer than it is
// kept.
func compaction(t *testing.T, open Opener) {
	s := opened(t, open)
	random := rand.New(rand.NewPCG(1, 1))
	now := begin.Add(300 * 24 * time.Hour)
	var want int64
	var batch history.Batch
	for i := range 2000 {
		age := time.Duration(random.ExpFloat64() * float64(10*24*time.Hour))
		if i%2 == 0 {
			age = time.Duration(random.Int64N(int64(3 * time.Hour)))
		}
		batch.Counts = append(batch.Counts, slo.Increment{Key: key("a"), At: now.Add(-age), Counts: slo.Counts{Good: 1, Valid: 2}})
		want += 2
	}
	batch.Writer, batch.Seq, batch.At = "w", 1, now
	write(t, s, batch)
	for _, later := range []time.Duration{0, time.Minute, time.Hour, 100 * time.Hour, 2000 * time.Hour} {
		if err := s.Compact(t.Context(), now.Add(later)); err != nil {
			t.Fatal(err)
		}
		var got int64
		for _, c := range cells(t, s) {
			got += c.Valid
			for i, tier := range slo.Tiers {
				if c.Step == tier.Step && i+1 < len(slo.Tiers) && c.At.Before(now.Add(later-tier.Keep-slo.Tiers[i+1].Step)) {
					t.Fatalf("%s later a cell of %s of %s is still there", later, c.Step, c.At)
				}
			}
			if c.At.Unix()%int64(c.Step/time.Second) != 0 {
				t.Fatalf("a cell of %s at %s", c.Step, c.At)
			}
		}
		if got != want {
			t.Fatalf("%s later there are %d of %d", later, got, want)
		}
	}
	if err := s.Compact(t.Context(), now.Add(900*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all := cells(t, s); len(all) != 0 {
		t.Errorf("%d cells outlived their time", len(all))
	}
	if totals, _ := s.Totals(t.Context()); totals[key("a")].Valid != want {
		t.Error("totals do not outlive cells")
	}
}

func reopened(t *testing.T, open Opener) {
	s := open(t)
	write(t, s, history.Batch{Writer: "w", Seq: 5, At: begin, Counts: []slo.Increment{{Key: key("a"), At: begin, Counts: slo.Counts{Good: 1, Valid: 1}}}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, open)
	// The batch's number is remembered too.
	write(t, s, history.Batch{Writer: "w", Seq: 5, At: begin, Counts: []slo.Increment{{Key: key("a"), At: begin, Counts: slo.Counts{Good: 1, Valid: 1}}}})
	if totals, err := s.Totals(t.Context()); err != nil || totals[key("a")].Good != 1 {
		t.Errorf("%v, %v", totals, err)
	}
}

func watched(t *testing.T, open Opener) {
	s := opened(t, open)
	for i, span := range [][2]int{{0, 10}, {10, 20}, {100, 110}, {110, 111}} {
		write(t, s, history.Batch{Writer: "w", Seq: int64(i + 1), At: begin, Watched: []history.Watched{{Source: slo.Live, Interval: slo.Interval{From: at(span[0]), To: at(span[1])}}}})
	}
	all, err := s.Watched(t.Context())
	var got [][2]int
	for _, i := range all[slo.Live] {
		got = append(got, [2]int{int(i.From.Sub(begin).Seconds()), int(i.To.Sub(begin).Seconds())})
	}
	if diff := cmp.Diff([][2]int{{0, 20}, {100, 111}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func sketches(t *testing.T, open Opener) {
	s := opened(t, open)
	random := rand.New(rand.NewPCG(1, 1))
	var all stat.Sketch
	for i := range 100 {
		sk := &stat.Sketch{}
		for range 20 {
			v := random.ExpFloat64() * 300
			sk.Add(v)
			all.Add(v)
		}
		write(t, s, history.Batch{Writer: "w", Seq: int64(i + 1), At: begin, Sketches: []history.Sketch{{Name: "ttft", At: at(i * 77), Sketch: sk}}})
	}
	for _, later := range []time.Duration{0, 30 * time.Hour, 300 * time.Hour} {
		if err := s.Compact(t.Context(), begin.Add(later)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Sketch(t.Context(), "ttft", begin, begin.Add(10*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []float64{0, 0.5, 0.99, 1} {
			a, _ := all.Quantile(p)
			b, _ := got.Quantile(p)
			if a != b || got.Len() != 2000 {
				t.Errorf("%s later: p%v is %v of %d, want %v of 2000", later, p*100, b, got.Len(), a)
			}
		}
	}
	if names, err := s.SketchNames(t.Context()); err != nil || !slices.Equal(names, []string{"ttft"}) {
		t.Errorf("names %q, %v", names, err)
	}
	if got, _ := s.Sketch(t.Context(), "other", begin, begin.Add(10*time.Hour)); got.Len() != 0 {
		t.Error("another name has values")
	}
}

func states(t *testing.T, open Opener) {
	s := opened(t, open)
	if v, err := s.State(t.Context(), "a"); v != nil || err != nil {
		t.Errorf("%s, %v", v, err)
	}
	for _, v := range []string{`{"since":1}`, `2`} {
		if err := s.PutState(t.Context(), "a", json.RawMessage(v)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.State(t.Context(), "a"); string(got) != v || err != nil {
			t.Errorf("%s, %v", got, err)
		}
	}
	if err := s.PutState(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if v, err := s.State(t.Context(), "a"); v != nil || err != nil {
		t.Errorf("%s, %v", v, err)
	}
}

// recorder: counters go on over a restart, and the time between is a gap.
func recorder(t *testing.T, open Opener) {
	objectives, _, err := slo.Load("x.yaml", []byte(`
objectives:
  - {name: ttft, objective: p99 ttft < 1s}
  - {name: busy, objective: system_output_tps >= 10, slice: 10s, target: 90%, min_events: 1}`))
	if err != nil {
		t.Fatal(err)
	}
	ttft, busy := objectives[0], objectives[1]
	s := open(t)
	r, err := history.NewRecorder(t.Context(), s, objectives, begin, slo.Live)
	if err != nil {
		t.Fatal(err)
	}
	k := slo.Key{Hash: ttft.Hash, Source: slo.Live}
	if _, shown := r.Totals()[k]; !shown {
		t.Error("a counter that counted nothing yet is not shown")
	}
	now := begin
	seconds := func(n int) {
		for range n {
			r.Count(slo.Increment{Key: k, At: now, Counts: slo.Counts{Good: 9, Valid: 10}})
			r.Figure(busy.Raw, slo.Live, "", now, 10, 0)
			r.Observe("ttft", now, 100)
			now = now.Add(time.Second)
			if err := r.Flush(t.Context(), now); err != nil {
				t.Fatal(err)
			}
		}
	}
	seconds(65)
	s.Close() // as if killed
	now = now.Add(10 * time.Minute)
	s = opened(t, open)
	if r, err = history.NewRecorder(t.Context(), s, objectives, now, slo.Live); err != nil {
		t.Fatal(err)
	}
	if got := r.Totals()[k]; got != (slo.Counts{Good: 585, Valid: 650}) {
		t.Errorf("after the restart the counter shows %+v", got)
	}
	seconds(40)
	result := ttft.Evaluate(r.Memory(), slo.Live, nil, now)
	if result.Good != 945 || result.Valid != 1050 || !slices.Contains(result.Flags, slo.HasGaps) {
		t.Errorf("%+v, %v", result.Counts, result.Flags)
	}
	if got := r.Memory().Watched(slo.Live, begin, now); got != 105*time.Second {
		t.Errorf("watched %s", got)
	}
	// Six slices before, three after; the ones that were not seen as a whole are none.
	if got := busy.Evaluate(r.Memory(), slo.Live, nil, now); got.Good != 9 || got.Valid != 9 {
		t.Errorf("slices %+v", got.Counts)
	}
}
