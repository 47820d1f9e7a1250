package compare

import (
	"math"

	"tokenmeter/stat"
)

// byRun tests a difference with the run as the unit. The hypothesis "B is A
// times ρ" is tested by dividing B's values by ρ: of a mean, by comparing the
// runs' means; of a percentile, by comparing how many of each run's values
// exceed the percentile of all of them together. Both are Welch's test on one
// number a run. The interval is every ρ that the test does not reject, the
// p-value is that of ρ = 1.
func (f *finding) byRun(s sides, name string, o *Options) {
	t := newScaled(s, name)
	d, ok := t.at(1)
	if !ok {
		f.why = "runs without any spread can't be tested"
		return
	}
	f.p = some(d.P)
	f.interval = t.interval(f.a.Or(0), f.b.Or(0))
	f.permutation = t.permuted(o.Seed)
}

// scaled tests one statistic of two sides at any ratio.
type scaled struct {
	sides
	p    float64 // of a percentile; 0 for a mean
	a, b stat.Ratio
	ok   bool
}

func newScaled(s sides, name string) *scaled {
	t := &scaled{sides: s}
	if p, ok := percentileOf(name); ok {
		t.p = p
		return t
	}
	var okA, okB bool
	t.a, okA = stat.RatioOf(runSums(s.a))
	t.b, okB = stat.RatioOf(runSums(s.b))
	t.ok = okA && okB
	return t
}

func runSums(list []series) []stat.Pair {
	parts := make([]stat.Pair, len(list))
	for i, s := range list {
		parts[i] = total(s.sums())
	}
	return parts
}

// at tests "B is A times ratio". A positive difference says that B is more.
func (t *scaled) at(ratio float64) (stat.Difference, bool) {
	if t.p == 0 {
		if !t.ok {
			return stat.Difference{}, false
		}
		return stat.RatioTest(t.a, t.b.Scaled(1/ratio))
	}
	pa, pb := t.exceeding(ratio)
	a, okA := stat.RatioOf(pa)
	b, okB := stat.RatioOf(pb)
	if !okA || !okB {
		return stat.Difference{}, false
	}
	na, nb := total(pa).Den, total(pb).Den
	share := (total(pa).Num + total(pb).Num) / (na + nb)
	independent := share * (1 - share)
	return stat.RatioTest(a.AtLeast(independent/na), b.AtLeast(independent/nb))
}

// exceeding counts, for each run, the values beyond the common percentile.
func (t *scaled) exceeding(ratio float64) (a, b []stat.Pair) {
	x := pooledQuantile(t.sides.a, t.sides.b, ratio, t.p)
	for _, s := range t.sides.a {
		a = append(a, stat.Pair{Num: s.above(x), Den: s.count()})
	}
	for _, s := range t.sides.b {
		b = append(b, stat.Pair{Num: s.above(x * ratio), Den: s.count()})
	}
	return a, b
}

// interval is the range of ratios that are not rejected, found outwards from
// the estimate. It is nil where an end is not to be found: too few values lie
// beyond the percentile to bound it.
func (t *scaled) interval(a, b float64) *[2]float64 {
	if !(a > 0) || !(b > 0) {
		return nil
	}
	accepted := func(ratio float64) bool {
		d, ok := t.at(ratio)
		return ok && d.P >= 1-Confidence
	}
	centre := b / a
	lo, okLo := edge(centre, -1, accepted)
	hi, okHi := edge(centre, 1, accepted)
	if !okLo || !okHi {
		return nil
	}
	return &[2]float64{lo, hi}
}

// widest is how far from the estimate an end of the interval is looked for.
const widest = 4 // e⁴, a factor of 55

// edge is the last accepted ratio in a direction.
func edge(centre, direction float64, accepted func(float64) bool) (float64, bool) {
	at := func(x float64) float64 { return centre * math.Exp(direction*x) }
	in, out := 0.0, 0.0
	for x := 1e-4; ; x *= 1.5 {
		if !accepted(at(x)) {
			out = x
			break
		}
		if in = x; x > widest {
			return 0, false
		}
	}
	for range 30 {
		mid := (in + out) / 2
		if accepted(at(mid)) {
			in = mid
		} else {
			out = mid
		}
	}
	return at(in), true
}

// permutations is how many ways of dealing the runs are tried.
const permutations = 5000

// permuted deals the runs' numbers to the sides anew. It is left out where it
// could not reach the level: with fewer than four runs a side.
func (t *scaled) permuted(seed uint64) opt {
	if len(t.sides.a) < 4 || len(t.sides.b) < 4 {
		return opt{}
	}
	var a, b []stat.Pair
	if t.p == 0 {
		a, b = runSums(t.sides.a), runSums(t.sides.b)
	} else {
		a, b = t.exceeding(1)
	}
	return some(stat.Permute(a, b, permutations, seed, studentised).TwoSided())
}

// studentised is the difference of two groups over its standard error.
func studentised(a, b []stat.Pair) float64 {
	ra, okA := stat.RatioOf(a)
	rb, okB := stat.RatioOf(b)
	if !okA || !okB {
		return 0
	}
	d := rb.Value - ra.Value
	if se := math.Sqrt(ra.Var + rb.Var); se > 0 {
		return d / se
	}
	return math.Copysign(math.Inf(1), d)
}
