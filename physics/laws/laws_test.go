package laws

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "simulate the truths anew, with 10⁷ requests each (minutes)")

// A short run of each law agrees with its truth, from theory or from another seed.
func TestLawsKeepTheirTruths(t *testing.T) {
	for _, l := range All() {
		truth, ok := l.Truth()
		if !ok {
			continue
		}
		got, beyond, beyondSE := l.Simulate(l.Rate, 400_000, 11)
		for _, c := range []struct {
			name               string
			got, se, want, wse float64
		}{
			{"mean", got.MeanS, got.MeanSE, truth.MeanS, truth.MeanSE}, {"p50", got.P50S, got.P50SE, truth.P50S, truth.P50SE},
			{"p95", got.P95S, got.P95SE, truth.P95S, truth.P95SE}, {"p99", got.P99S, got.P99SE, truth.P99S, truth.P99SE},
			{"failed", got.Failed, got.FailedSE, truth.Failed, truth.FailedSE},
		} {
			// 4.6 of Student's t with 19 degrees of freedom: 2 in 10,000.
			if far := math.Abs(c.got - c.want); far > 4.6*math.Hypot(c.se, c.wse)+1e-9 {
				t.Errorf("%s: %s is %.5g ± %.2g, its truth %.5g", l.Name, c.name, c.got, c.se, c.want)
			}
		}
		if f, ok := l.At(l.Rate); ok {
			if want := f.Beyond(l.LimitS); math.Abs(beyond-want) > 4.6*beyondSE+1e-9 {
				t.Errorf("%s: %.5g ± %.2g beyond the limit, its truth %.5g", l.Name, beyond, beyondSE, want)
			}
		}
	}
}

// At the capacity the share beyond the limit is what is allowed; below it is less.
func TestCapacities(t *testing.T) {
	for _, l := range All() {
		truth, ok := l.Truth()
		if !ok || math.IsInf(truth.Capacity, 1) {
			continue
		}
		if truth.Capacity == 0 {
			if _, beyond, se := l.Simulate(0.5, 40_000, 12); beyond-4.6*se <= l.Allowed {
				t.Errorf("%s is said to hold at no load, but at 0.5/s %.4f are beyond the limit", l.Name, beyond)
			}
			continue
		}
		_, beyond, se := l.Simulate(truth.Capacity, 400_000, 12)
		if math.Abs(beyond-l.Allowed) > 4.6*se+0.02*l.Allowed {
			t.Errorf("%s at its capacity %.4g: %.5g ± %.2g beyond the limit, %g allowed", l.Name, truth.Capacity, beyond, se, l.Allowed)
		}
	}
}

// Known values: Erlang's tables, and the M/M/1 of every textbook.
func TestTheory(t *testing.T) {
	near := func(what string, got, want, by float64) {
		t.Helper()
		if !(math.Abs(got-want) <= by) {
			t.Errorf("%s: %.8g, want %.8g", what, got, want)
		}
	}
	near("B(10, 5 Erlang)", ErlangB(10, 5), 0.018385, 1e-6)
	near("B(1, 1)", ErlangB(1, 1), 0.5, 1e-12)
	near("C(2, 1)", ErlangC(2, 1), 1.0/3, 1e-12)
	near("C(1, ρ) = ρ", ErlangC(1, 0.7), 0.7, 1e-12)
	one := mm(1, 0.02)(35)
	near("M/M/1 mean", one.MeanS, 1/15.0, 1e-12)
	near("M/M/1 p95", one.Quantile(0.95), math.Log(20)/15, 1e-9)
	capacity, _ := ByName("mm1").Truth()
	near("M/M/1 capacity", capacity.Capacity, 50-math.Log(20)/0.2, 1e-6)
	fixed := md1(1)(0.5)
	near("M/D/1 mean, ρ = ½", fixed.MeanS, 1.5, 1e-12)
	near("M/D/1 P(W > 0)", fixed.Beyond(1), 0.5, 1e-12)
	near("M/D/1 P(W > 1)", fixed.Beyond(2), 1-0.5*math.Exp(0.5), 1e-12)
	// The tail's exponent θ solves λ(exp θ − 1) = θ.
	tail := math.Log(fixed.Beyond(30) / fixed.Beyond(31))
	near("M/D/1 tail", 0.5*(math.Exp(tail)-1), tail, 1e-5)
}

// The same seed gives the same run, another seed another one, and more load never
// shorter waiting for the same requests.
func TestPure(t *testing.T) {
	take := func(l *Law, seed uint64) (all []Request) {
		for r := range l.Poisson(seed, l.Rate) {
			if all = append(all, r); len(all) == 500 {
				return all
			}
		}
		return nil
	}
	for _, l := range All() {
		a, b, c := take(l, 1), take(l, 1), take(l, 2)
		if !slices.Equal(a, b) || slices.Equal(a, c) {
			t.Errorf("%s is no function of its seed", l.Name)
		}
		for _, r := range a {
			if !r.Failed && !(r.TTFTS >= 0 && r.LatencyS >= r.TTFTS) || r.InFlight < 0 {
				t.Fatalf("%s: %+v", l.Name, r)
			}
		}
	}
}

// A server that stands still does nothing, and what it was at goes on after it.
func TestPace(t *testing.T) {
	p := &pace{next: func(n int) (float64, float64) { return 1, float64((n + 1) % 2) }} // a second at work, a second still
	for _, c := range [][3]float64{{0, 0.5, 0.5}, {0.5, 1, 2.5}, {1.5, 0.1, 2.1}, {0, 3, 5}, {4.25, 0, 4.25}} {
		if got := p.finish(c[0], c[1]); math.Abs(got-c[2]) > 1e-12 {
			t.Errorf("from %g, work of %g: ends at %g, want %g", c[0], c[1], got, c[2])
		}
	}
}

// TestSimulate makes truths.json: go test ./physics/laws -run TestSimulate -update -timeout 0
func TestSimulate(t *testing.T) {
	if !*update {
		t.Skip("minutes: give -update")
	}
	const requests, seed = 10_000_000, 20261128
	all := map[string]Truth{}
	for _, l := range All() {
		if l.theory != nil || math.IsInf(l.CycleS, 1) {
			continue
		}
		truth, _, _ := l.Simulate(l.Rate, requests, seed)
		truth.Capacity, truth.CapacitySE = l.edge(requests, seed)
		all[l.Name] = truth
		t.Logf("%s %+v", l.Name, truth)
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("truths.json", append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// edge is the load at which the share beyond the limit is what is allowed: between two
// loads near it, by the straight line through the logarithms of both shares.
func (l *Law) edge(requests int, seed uint64) (rate, se float64) {
	lo, hi := 0.5, 100.0
	if _, b, s := l.Simulate(lo, 200_000, seed); b-5*s > l.Allowed {
		return 0, 0
	}
	for hi/lo > 1.02 {
		mid := math.Sqrt(lo * hi)
		if _, b, _ := l.Simulate(mid, 1_000_000, seed); b <= l.Allowed {
			lo = mid
		} else {
			hi = mid
		}
	}
	lo, hi = lo*0.99, hi*1.01
	_, below, s1 := l.Simulate(lo, requests, seed+1)
	_, above, s2 := l.Simulate(hi, requests, seed+2)
	slope := math.Log(above/below) / (hi - lo)
	return lo + math.Log(l.Allowed/below)/slope, math.Max(s1/below, s2/above) / slope
}

// At returns the figures of a law at any load, by theory; ok is false where there is none.
func (l *Law) At(rate float64) (f Figures, ok bool) {
	if l.theory == nil {
		return f, false
	}
	return l.theory(rate), true
}

// Simulate measures a law at a load: so many requests after a start of a tenth of them.
// Standard errors are those of twenty batches.
func (l *Law) Simulate(rate float64, requests int, seed uint64) (t Truth, beyond, beyondSE float64) {
	const batches = 20
	t.Requests, t.Seed = requests, seed
	var latencies []float64
	per := requests / batches
	var mean, p50, p95, p99, failed, over spread
	n, failures, far, sum := 0, 0, 0, 0.0
	skip := requests / 10
	for r := range l.Poisson(seed, rate) {
		if skip > 0 {
			skip--
			continue
		}
		n++
		if r.Beyond(l.LimitS) {
			far++
		}
		if r.Failed {
			failures++
		} else {
			latencies = append(latencies, r.LatencyS)
			sum += r.LatencyS
		}
		if n < per {
			continue
		}
		slices.Sort(latencies)
		at := func(p float64) float64 { return latencies[int(p*float64(len(latencies)))] }
		mean.add(sum / float64(len(latencies)))
		p50.add(at(0.5))
		p95.add(at(0.95))
		p99.add(at(0.99))
		failed.add(float64(failures) / float64(n))
		over.add(float64(far) / float64(n))
		n, failures, far, sum, latencies = 0, 0, 0, 0, latencies[:0]
		if over.n == batches {
			break
		}
	}
	t.MeanS, t.MeanSE = mean.figure()
	t.P50S, t.P50SE = p50.figure()
	t.P95S, t.P95SE = p95.figure()
	t.P99S, t.P99SE = p99.figure()
	t.Failed, t.FailedSE = failed.figure()
	beyond, beyondSE = over.figure()
	return t, beyond, beyondSE
}

// spread keeps a mean and its standard error.
type spread struct{ n, sum, squares float64 }

func (s *spread) add(x float64) { s.n, s.sum, s.squares = s.n+1, s.sum+x, s.squares+x*x }

func (s *spread) figure() (mean, se float64) {
	mean = s.sum / s.n
	return mean, math.Sqrt(math.Max(0, s.squares/s.n-mean*mean) / (s.n - 1))
}

// Beyond reports whether the request failed, or took longer than a limit.
func (r *Request) Beyond(limitS float64) bool { return r.Failed || r.LatencyS > limitS }
