package compare

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var full = flag.Bool("full", false, "run the simulations at full length")

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
	n := 100
	if *full {
		n = 1000
	}
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
	// 5 % and three standard errors of what is simulated.
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
