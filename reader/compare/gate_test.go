package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestParseGate(t *testing.T) {
	for text, want := range map[string]string{
		"p99 tpot +5%":                 "p99 tpot +5%",
		"tpot p99 + 5 %":               "p99 tpot +5%",
		"ttft p95 +20ms":               "p95 ttft +20ms",
		"ttft p95 +0.02s":              "p95 ttft +20ms",
		"tpot +3%":                     "p50 tpot +3%",
		"mean e2e +1%":                 "mean e2e +1%",
		"time to first token p50 +10%": "p50 ttft +10%",
		"throughput -3%":               "system_output_tps -3%",
		"throughput −3%":               "system_output_tps -3%",
		"decode_tps -2tok/s":           "p50 decode_tps -2tok/s",
		"error rate +0.5pp":            "error rate +0.5pp",
		"goodput -1pp":                 "goodput -1pp",
		"p99.9 itl +10%":               "p99.9 itl +10%",
		"error rate < 1%":              "error rate < 1%",
		"p99 tpot < 120ms":             "p99 tpot < 120ms",
	} {
		g, err := ParseGate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if g.Text != want {
			t.Errorf("%s: %q, want %q", text, g.Text, want)
		}
		if again, err := ParseGate(g.Text); err != nil || again.Text != g.Text || again.Limit != g.Limit {
			t.Errorf("%q does not read as itself: %+v, %v", g.Text, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                   "empty",
		"p99 tpot":           "comparison",
		"p99 tpto +5%":       "did you mean",
		"tpot -5%":           `the bad direction of tpot is up: write "tpot +5%"`,
		"throughput +5%":     "the bad direction of system_output_tps is down",
		"error rate +5%":     "percentage points",
		"p99 tpot +5":        "no unit",
		"p99 tpot +5 apples": "apples",
		"max tpot +5%":       "percentile or the mean",
		"stalls +5%":         "can't be held against a baseline",
		"ttft:500":           "p99 tpot < 120ms",
		"p99 tpot < 5% and":  "",
	} {
		if _, err := ParseGate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	for _, text := range []string{"tpot", "tpto < 5ms", "tpot -5%", "failed +1%"} {
		if _, err := ParseGate(text); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("gate %q: ", text)) || strings.Contains(err.Error(), "column") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseGates([]string{"tpot -5%", "nonsense +1%", "p99 tpot +1%"}); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not all mistakes are told: %v", err)
	}
}

func FuzzParseGate(f *testing.F) {
	for _, s := range []string{"p99 tpot +5%", "error rate < 1%", "ttft +1,000ms", "goodput -1pp", "± +−", "p0 e2e +1%", "ttfb +10000000m", "p50 ttft +0.0000000001%", "output tps -900000000000000000000000tok/s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGate(text)
		if err != nil {
			return
		}
		again, err := ParseGate(g.Text)
		if err != nil || again.Text != g.Text {
			t.Errorf("%q reads as %q, which reads as %q: %v", text, g.Text, again.Text, err)
		}
	})
}

// A gate breaks when the candidate is beyond its limit and the difference is
// real.
func TestGates(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	gates := mustGates(t, "p50 tpot +5%", "p50 tpot +30%", "p50 tpot +1ms", "p50 tpot +9ms", "mean tpot < 30ms", "mean tpot < 25ms",
		"p50 decode_tps -5%", "error rate < 5%", "p99.9 ttft +5%", "system_output_tps > 1 tok/s", "p50 itl +5%")
	slow := made
	slow.tpot *= 1.15
	a, b := made.group("A", rng, 6, 150, 0, gates...), slow.group("B", rng, 6, 150, 1, gates...)
	r := mustCompare(t, a, b, Options{Gates: gates})
	want := []GateState{Broken, Held, Broken, Held, Held, Broken, Broken, Held, GateRefused, GateRefused, GateRefused}
	for i, g := range r.Gates {
		if g.State != want[i] {
			t.Errorf("%s: %s (%s), want %s", g.Text, g.State, g.Words(), want[i])
		}
		if held, known := g.Held.Get(); known != (g.State == Held || g.State == Broken) || held != (g.State == Held) {
			t.Errorf("%s: held %v in state %s", g.Text, g.Held, g.State)
		}
	}
	if !r.Broken() || !slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.State == GateRefused || g.State == GateIncomparable }) {
		t.Error("the whole does not know of its gates")
	}

	// Beyond the limit by chance is not broken.
	noisy := server{tpot: 24, cv: 0.4, noise: 0.08}
	broken, beyond := 0, 0
	for i := range 40 {
		rng := rand.New(rand.NewPCG(uint64(i), 13))
		r := mustCompare(t, noisy.group("A", rng, 4, 60, 0), noisy.group("B", rng, 4, 60, 1), Options{Gates: mustGates(t, "p50 tpot +0.5%")})
		if r.Gates[0].State == Broken {
			broken++
		}
		if strings.Contains(r.Gates[0].Says, "beyond") {
			beyond++
		}
	}
	if broken > 5 || beyond < 10 {
		t.Errorf("of 40 noisy pairs of the same server %d broke the gate, %d were beyond it", broken, beyond)
	}
}

// A gate on the value of an invalid measurement is not held, and says why; one that
// broke stays broken.
func TestGateOnInvalidMeasurement(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	gates := mustGates(t, "error rate < 5%")
	a, b := made.group("A", rng, 1, 100, 0, gates...), made.group("B", rng, 1, 100, 1, gates...)
	b.Runs[0].Facts.Validity = "invalid"
	if g := mustCompare(t, a, b, Options{Gates: gates}).Gates[0]; g.State != GateRefused || g.Held.OK() || !strings.Contains(g.Says, "the measurement is invalid") {
		t.Errorf("%s", g.Words())
	}
	// The figure that a gate is on counts, not the run.
	b.Runs[0].Facts.Figures = map[string]string{"ttft": "valid", "errors": "valid", "throughput": "invalid"}
	if g := mustCompare(t, a, b, Options{Gates: gates}).Gates[0]; g.State != Held || strings.Contains(g.Says, "invalid") {
		t.Errorf("%s", g.Words())
	}
}
