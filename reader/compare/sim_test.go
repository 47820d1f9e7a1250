package compare

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var full = flag.Bool("full", false, "run the simulations at full length")

// times is how often a simulation is repeated.
func times(normal, long int) int {
	switch {
	case *full:
		return long
	case testing.Short():
		return max(normal/4, 1)
	}
	return normal
}

var made = server{tpot: 24, cv: 0.10, phi: 0.3, noise: 0.015}

// flagged reports whether anything was found.
func flagged(r *Result) bool {
	for i := range r.Rows {
		if v := r.Rows[i].Verdict; v == Better || v == Worse {
			return true
		}
	}
	return false
}

// Six interleaved repeats a side of 200 requests, lognormal TPOT with CV 10 %,
// AR(1) 0.3, runs that differ by 1.5 %: the same server is flagged in at most
// 5 % of comparisons over all rows together, and a 5 % shift of a gated metric
// is found in at least 90 %.
func TestErrorRatesOfRepeats(t *testing.T) {
	n := times(80, 1000)
	gates := mustGates(t, "p50 tpot +2%")
	alarms, gatedAlarms, broken, found := 0, 0, 0, map[string]int{}
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		r := mustCompare(t, made.group("A", rng, 6, 200, 0), made.group("B", rng, 6, 200, 1), Options{Seed: uint64(i)})
		if flagged(r) {
			alarms++
		}
		rng = rand.New(rand.NewPCG(uint64(i), 2))
		r = mustCompare(t, made.group("A", rng, 6, 200, 0), made.group("B", rng, 6, 200, 1), Options{Seed: uint64(i), Gates: gates})
		if flagged(r) {
			gatedAlarms++
		}
		slow := made
		slow.tpot *= 1.05
		rng = rand.New(rand.NewPCG(uint64(i), 3))
		r = mustCompare(t, made.group("A", rng, 6, 200, 0), slow.group("B", rng, 6, 200, 1), Options{Seed: uint64(i), Gates: gates})
		if r.Gates[0].State == Broken {
			broken++
		}
		for i := range r.Rows {
			if r.Rows[i].Verdict == Worse {
				found[r.Rows[i].Metric+" "+r.Rows[i].Stat]++
			}
		}
	}
	t.Logf("of %d: A/A alarms %d without a gate, %d with; of a 5 %% shift the gate broke %d; rows found %v", n, alarms, gatedAlarms, broken, found)
	// At full length the share itself, else with room for chance.
	if limit := allowedOf(n, 0.05); alarms > limit || gatedAlarms > limit {
		t.Errorf("A/A alarms %d and %d of %d, at most %d", alarms, gatedAlarms, n, limit)
	}
	if got := found["tpot_ms p50"]; got < n*90/100 || broken < n*90/100 {
		t.Errorf("a 5 %% shift was found in %d and broke the gate in %d of %d, want 90 %%", got, broken, n)
	}
}

// allowedOf is the count that a share p of n exceeds once in a thousand times;
// at full length the share itself.
func allowedOf(n int, p float64) int {
	if n >= 1000 {
		return int(float64(n) * p)
	}
	return int(float64(n)*p + 3.1*math.Sqrt(float64(n)*p*(1-p)))
}

// One run a side: the runs differ by 1.5 % each, which can't be seen from
// inside them. Small differences stay unclear, large ones are found.
func TestErrorRatesOfSingleRuns(t *testing.T) {
	n := times(12, 200)
	for _, size := range []int{200, 600} {
		alarms, found := 0, 0
		for i := range n {
			rng := rand.New(rand.NewPCG(uint64(i), 4))
			if flagged(mustCompare(t, made.group("A", rng, 1, size, 0), made.group("B", rng, 1, size, 1), Options{Seed: uint64(i)})) {
				alarms++
			}
			slow := made
			slow.tpot *= 1.15
			r := mustCompare(t, made.group("A", rng, 1, size, 0), slow.group("B", rng, 1, size, 1), Options{Seed: uint64(i), Gates: mustGates(t, "p50 tpot +5%")})
			if findRow(t, r, "tpot_ms", "p50").Verdict == Worse {
				found++
			}
		}
		t.Logf("one run a side of %d requests: %d alarms and a 15 %% shift found %d times of %d", size, alarms, found, n)
		if limit := allowedOf(n, 0.05); alarms > limit {
			t.Errorf("%d alarms of %d, at most %d", alarms, n, limit)
		}
		if found < n*90/100 {
			t.Errorf("a 15 %% shift was found in %d of %d", found, n)
		}
	}
}

// The 95 % intervals hold the true ratio about as often as they say.
func TestCoverage(t *testing.T) {
	n := times(40, 400)
	for _, c := range []struct {
		name    string
		s       server
		repeats int
		size    int
		least   float64
	}{
		{"six runs", made, 6, 200, 0.93},
		{"three runs", made, 3, 200, 0.93},
		{"two runs", made, 2, 200, 0.93},
		// Without noise of runs, as the interval holds within these runs.
		{"single runs", server{tpot: 24, cv: 0.1, phi: 0.3}, 1, 400, 0.91},
		{"single runs, strongly autocorrelated", server{tpot: 24, cv: 0.1, phi: 0.7}, 1, 400, 0.88},
	} {
		held, given := map[string]int{}, map[string]int{}
		n := n
		if c.repeats == 1 && !*full {
			n /= 2
		}
		for i := range n {
			rng := rand.New(rand.NewPCG(uint64(i), 5))
			slow := c.s
			slow.tpot *= 1.05
			r := mustCompare(t, c.s.group("A", rng, c.repeats, c.size, 0), slow.group("B", rng, c.repeats, c.size, 1),
				Options{Seed: uint64(i), Metrics: []string{"tpot"}, Gates: mustGates(t, "mean tpot +1%")})
			for _, stat := range []string{"mean", "p50", "p95", "p99"} {
				ci := findRow(t, r, "tpot_ms", stat).CI95Pct
				if ci == nil { // worth too little for one
					continue
				}
				given[stat]++
				if ci[0] <= 5 && ci[1] >= 5 {
					held[stat]++
				}
			}
		}
		t.Logf("%s: of %d pairs, %v intervals, the truth lay in %v", c.name, n, given, held)
		for stat, k := range given {
			if float64(held[stat]) < float64(k)*c.least-3.1*math.Sqrt(float64(k)*0.05) {
				t.Errorf("%s, %s: %d of %d", c.name, stat, held[stat], k)
			}
		}
	}
}
