package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// byRun tests a difference with the run as the unit: the figure of each run on
// its own (its p95, its mean), as a logarithm, is one value; the spread between
// these gives the standard error (Welch's test, Student's with two runs on a
// side). The difference itself is that of all values of a side together, which
// is what is shown. Logarithms, because servers differ by factors.
func (f *finding) byRun(s sides, m *measure, name string, o *Options) {
	a, okA := logs(s.a, m, name)
	b, okB := logs(s.b, m, name)
	va, vb := f.a.Or(0), f.b.Or(0)
	if !okA || !okB || !(va > 0) || !(vb > 0) {
		f.why = "a value of 0 has no ratio"
		return
	}
	ra, _ := stat.RatioOf(a)
	rb, _ := stat.RatioOf(b)
	se, df, ok := stat.RatioError(ra, rb)
	if !ok {
		f.why = "too few runs"
		return
	}
	diff := math.Log(vb / va)
	if se < indistinct {
		f.alike(diff)
		return
	}
	d := stat.TDifference(diff, se, df, Confidence)
	f.p = some(d.P)
	f.interval = &[2]float64{math.Exp(d.Lo), math.Exp(d.Hi)}
	if len(a) >= fewestToPermute && len(b) >= fewestToPermute {
		f.permutation = some(stat.Permute(a, b, permutations, o.Seed, studentised).TwoSided())
	}
}

// indistinct is a relative difference that is dust of the arithmetic.
const indistinct = 1e-9

// permutations is how many ways of dealing the runs to the sides are tried;
// with fewer than fewestToPermute runs a side none could reach the level.
const (
	permutations    = 5000
	fewestToPermute = 4
)

// logs are the figures of the runs, one by one.
func logs(list []series, m *measure, name string) ([]stat.Pair, bool) {
	out := make([]stat.Pair, len(list))
	for i := range list {
		v, _ := value(list[i:i+1], m, name)
		x, ok := v.Get()
		if !ok || !(x > 0) {
			return nil, false
		}
		out[i] = stat.Pair{Num: math.Log(x), Den: 1}
	}
	return out, true
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
