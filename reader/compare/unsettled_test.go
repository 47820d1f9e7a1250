package compare

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Each row without a verdict says what it lacks, and no other row does.
func TestUnsettledSaysWhy(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	near, far, wild := made, made, made
	near.tpot *= 1.02
	far.tpot *= 1.04
	wild.cv = 0.5
	for _, c := range []struct {
		name string
		a, b Group
	}{
		{"repeats", made.group("A", rng, 4, 100, 0), near.group("B", rng, 4, 100, 1)},
		{"single runs", made.group("A", rng, 1, 400, 0), near.group("B", rng, 1, 400, 1)},
		{"single runs, farther", made.group("A", rng, 1, 400, 0), far.group("B", rng, 1, 400, 1)},
		{"wide", wild.group("A", rng, 3, 40, 0), wild.group("B", rng, 3, 40, 1)},
		{"few", made.group("A", rng, 1, 30, 0), made.group("B", rng, 1, 30, 1)},
	} {
		r := mustCompare(t, c.a, c.b, Options{})
		for i := range r.Rows {
			row := &r.Rows[i]
			if open := row.Verdict == Unclear && row.Why == ""; open != (row.Unsettled != "") {
				t.Errorf("%s, %s %s: %s, not tested because %q, not settled because %q", c.name, row.Metric, row.Stat, row.Verdict, row.Why, row.Unsettled)
			}
			if row.excludesZero() && strings.Contains(row.Unsettled, "no difference") {
				t.Errorf("%s, %s %s: %v has no zero, and says %q", c.name, row.Metric, row.Stat, *row.CI95, row.Unsettled)
			}
		}
	}
}

// An interval that leaves out zero and the margin is not enough; the reason
// says which of the other conditions failed.
func TestUnsettledReasons(t *testing.T) {
	o := Options{}.withDefaults()
	row := func(unit Unit, lo, hi, p, adjusted, permutation float64) *Row {
		return &Row{UnitOfAnalysis: unit, measure: measureNamed("e2e"), CI95: &[2]float64{lo, hi}, CI95Pct: &[2]float64{lo, hi},
			P: some(p), PAdjusted: some(adjusted), PPermutation: some(permutation)}
	}
	for want, r := range map[string]*Row{
		"room for no difference": row(ByRun, -1, 9, 0.2, 0.9, 0.2),
		"± 3 %":                  row(ByRequest, 2, 6, 0.3, 1, 0.3),
		"runs are dealt":         row(ByRun, 4.92, 4.98, 0.001, 0.01, 0.06),
		"among 14 figures":       row(ByRun, 4.92, 4.98, 0.02, 0.2, 0.01),
	} {
		if got := r.unsettled(&o, 14); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is much worse but was not proved stands in the first lines, the largest first,
// one figure of a metric; what is better, within the margin or the same does not.
func TestHeadlineNamesWhatIsSeen(t *testing.T) {
	row := func(metric, stat string, by float64, verdict Verdict) Row {
		return Row{Candidate: "pr", Metric: metric, Stat: stat, Diff: some(by), DiffPct: some(by), Verdict: verdict, measure: measureNamed(metric)}
	}
	r := Result{Rows: []Row{
		row("ttft_ms", "p50", -40, Unclear), row("ttft_ms", "p99", 2.5, Unclear),
		row("tpot_ms", "p95", 158.9, Unclear), row("tpot_ms", "p99", 159.7, Unclear),
		row("e2e_ms", "p99", 20, Same), row("system_output_tps", "rate", -12.4, Unclear),
	}}
	r.Method.WithinPct, r.Method.RunNoisePct = 2, 3
	if got, want := r.seen("pr", ""), " Seen, but not proven: TPOT p99 +160 %, output −12 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.seen("other", ""); got != "" {
		t.Errorf("%q of another candidate", got)
	}
}

// Where nothing is shown to differ, the first line does not sound as if
// nothing did.
func TestHeadlineOfOpenFigures(t *testing.T) {
	counts := map[Verdict]int{Same: 4, Unclear: 7}
	if got := ending("", counts); got != "is not shown to differ; 7 figures could still." {
		t.Error(got)
	}
}

// Figures that both sides have and no test was made of, for want of requests, are not settled
// either; what one side lacks is none.
func TestHeadlineOfUntestedFigures(t *testing.T) {
	row := func(metric, why string, b opt, verdict Verdict) Row {
		return Row{Candidate: "pr", Metric: metric, Why: why, A: some(1), B: b, Verdict: verdict, measure: measureNamed(metric)}
	}
	none := opt{}
	for want, rows := range map[string][]Row{
		"pr is not shown to differ; 2 figures could still.": {row("error_rate", "", some(1), Same), row("tpot_ms", "needs 3,000", some(2), Unclear), row("e2e_ms", "needs 3,000", some(2), Unclear)},
		"pr is the same.": {row("error_rate", "", some(1), Same), row("tpot_ms", "pr did not measure it", none, Unclear)},
		"pr streams slower; 1 figure is not settled.": {row("tpot_ms", "", some(2), Worse), row("error_rate", "", some(1), Same), row("e2e_ms", "needs 3,000", some(2), Unclear)},
		"pr has nothing that could be tested.":        {row("tpot_ms", "needs 3,000", some(2), Unclear)},
	} {
		if got := (&Result{Rows: rows}).about("pr", ""); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What both sides suffer from is explained once; what only one does is explained there.
func TestReasonsAreNotRepeated(t *testing.T) {
	why := func(name, says string) Reason { return Reason{Name: name, Level: Warn, Says: says} }
	earlier := []Reason{why("suspect", "the baseline is suspect: cores were 72 % busy. Use a quieter machine.")}
	got := likewise(earlier, []Reason{
		why("suspect", "pr is suspect: cores were 71 % busy. Use a quieter machine."),
		why("suspect", "pr is suspect: it stalled. Look at it."),
		why("partial", "pr was stopped. Use a quieter machine."),
	})
	for i, want := range []string{"pr is suspect: cores were 71 % busy", "pr is suspect: it stalled. Look at it.", "pr was stopped. Use a quieter machine."} {
		if got[i].Says != want {
			t.Errorf("%q, want %q", got[i].Says, want)
		}
	}
}
