package compare

import (
	"math/rand/v2"
	"testing"

	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// 120 bad requests of 1,000 in three bursts are three events: they leave a promise of
// 90 % open. 300 that come one by one break it.
func TestGoodputOfBursts(t *testing.T) {
	made := func(bad func(i int) bool) []*Run {
		pieces := make([]stat.Pair, 1000)
		for i := range pieces {
			pieces[i].Den = 1
			if !bad(i) {
				pieces[i].Num = 1
			}
		}
		return []*Run{{series: map[string]series{"goodput": newFixed(pieces, nil)}}}
	}
	o := mustGates(t, "goodput > 90%")[0].Objective
	for name, c := range map[string]struct {
		bad  func(i int) bool
		want string
	}{
		"bursts":         {func(i int) bool { return i%333 < 40 }, objective.Open},
		"one by one":     {func(i int) bool { return i%10 < 3 }, objective.Missed},
		"few one by one": {func(i int) bool { return i%20 == 0 }, objective.Met},
	} {
		got, ok := goodputOf(o, made(c.bad), &Options{})
		if !ok || got.State != c.want || got.CI95 == nil {
			t.Errorf("%s: %s, %v, interval %v", name, got.State, got.Value, got.CI95)
		}
	}
	if got, _ := goodputOf(o, made(func(i int) bool { return i%333 < 40 }), &Options{AllowLowN: true}); got.State != objective.Missed {
		t.Errorf("as it came: %s", got.State)
	}
}

// Ten of 200 requests begin so late that they miss the objective, and none of the other
// side's: by Fisher's exact test that comes by chance in 0.2 % of pairs. The percentiles are
// worth too few requests to say so; the share of those that keep the objective breaks its gate.
func TestTailOfFewRequestsBreaksGoodput(t *testing.T) {
	gates := mustGates(t, "goodput -1pp")
	side := func(name string, i int, late bool) Group {
		rng := rand.New(rand.NewPCG(5, uint64(i)))
		list := server{tpot: 20, cv: 0.1}.records(rng, 200)
		for j := range list {
			ttft := 500 + 50*max(-3, min(3, rng.NormFloat64()))
			if late && j%20 == 7 {
				ttft *= 2.5
			}
			list[j].TTFTMS = timeline.Some(ttft)
		}
		m := manifest(name, i)
		m.Objectives = []string{"p95 ttft < 800ms"}
		return Group{Name: name, Runs: []*Run{fromRecords(m, list, gates...)}}
	}
	for late, want := range map[bool]GateState{true: Broken, false: Held} {
		r := mustCompare(t, side("A", 0, false), side("B", 1, late), Options{Gates: gates})
		if row := findRow(t, r, "ttft_ms", "p99"); row.Needed() == 0 {
			t.Errorf("late %v: p99 of 200 requests is %s", late, row.Word())
		}
		if g := r.Gates[0]; g.State != want {
			t.Errorf("late %v: the gate is %s: %s", late, g.State, g.Words())
		}
	}
}
