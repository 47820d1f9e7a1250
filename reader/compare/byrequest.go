package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// byRequest tests a difference of single runs by what the requests of each run
// are worth: they share a queue, so a thousand of them may tell as little as
// fifty independent ones (package stat, Series). The intervals of both figures
// make that of their ratio (MOVER). How runs differ from each other can't be
// seen in them, so the hypothesis is not "no difference" but "no larger
// difference than runs of one server have".
func (f *finding) byRequest(s sides, m *measure, name string, o *Options) {
	a, b := newEstimate(s.a, name), newEstimate(s.b, name)
	ratio := func(level float64) stat.Interval { return stat.QuotientOf(a.interval(level), b.interval(level)) }
	q := ratio(Confidence)
	va, vb := f.a.Or(0), f.b.Or(0)
	switch {
	case !(va > 0) || !(vb > 0) || !(q.Value > 0):
		f.why = "the values are too few or too small for a ratio"
		return
	case !q.Given:
		f.why, f.needed = a.refusal(b, m)
		return
	}
	// Around the difference that is shown: of a rate the pieces' own figure is
	// not quite the run's.
	shown := vb / va / q.Value
	f.interval = &[2]float64{q.Lo * shown, q.Hi * shown}
	noise := math.Exp(math.Copysign(math.Log1p(o.RunNoise), math.Log(vb/va)))
	if math.Abs(math.Log(vb/va)) <= math.Log1p(o.RunNoise) {
		f.p = some(1)
		return
	}
	f.p = some(smallestAlpha(func(alpha float64) bool {
		q := ratio(1 - alpha)
		return noise > 1 && q.Lo*shown > noise || noise < 1 && q.Hi*shown < noise
	}))
}

// smallestAlpha is the smallest chance of error at which an interval still
// shows the difference: its p-value. The intervals nest, so it is found by
// bisection of the logarithm, to a hundredth of itself.
func smallestAlpha(shows func(alpha float64) bool) float64 {
	if !shows(1 - 1e-9) {
		return 1
	}
	lo, hi := math.Log(1e-9), 0.0
	for hi-lo > 0.01 {
		if mid := (lo + hi) / 2; shows(math.Exp(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Exp(hi)
}

// mostStretches is into how many stretches of consecutive requests a side is
// summed, which is more than its long-run variance needs and keeps a million
// requests quick.
const mostStretches = 1024

// estimate is a figure of one side whose interval can be asked for at any level.
type estimate struct {
	worth    stat.Worth
	interval func(level float64) stat.Interval
}

func newEstimate(list []series, name string) *estimate {
	e := &estimate{worth: worthOf(list)}
	if p, ok := percentileOf(name); ok {
		pool := poolOf(list)
		x, _ := stat.Quantile(pool, p)
		beyond := stretches(list, func(s series) []stat.Pair { return s.parts(x) })
		e.interval = func(level float64) stat.Interval { return stat.PooledQuantile(pool, beyond, e.worth, p, level) }
		return e
	}
	parts := stretches(list, series.sums)
	// So that a piece weighs 1 whatever its unit: seconds may be milliseconds.
	unit := total(parts).Den / float64(max(e.worth.N, 1))
	for i := range parts {
		parts[i].Den /= unit
	}
	spread := spreadOfParts(parts)
	e.interval = func(level float64) stat.Interval { return stat.PooledMean(parts, spread, e.worth, level) }
	return e
}

// refusal says which side is worth too little, and how much would do.
func (e *estimate) refusal(other *estimate, m *measure) (why string, needed int64) {
	a, b := e.interval(Confidence), other.interval(Confidence)
	weaker, worth := a, e.worth
	if a.Given || !b.Given && b.NeedFactor > a.NeedFactor {
		weaker, worth = b, other.worth
	}
	return m.tooDependent(weaker, worth)
}

// spreadOfParts is the standard deviation of one value, as if the pieces were
// independent: what the design effect is held against.
func spreadOfParts(parts []stat.Pair) float64 {
	t := total(parts)
	if !(t.Den > 0) {
		return 0
	}
	mean, squares := t.Num/t.Den, 0.0
	for _, p := range parts {
		d := p.Num - mean*p.Den
		squares += d * d
	}
	return math.Sqrt(squares / t.Den)
}

// worthOf is the worth of the runs of a side one after the other: their
// requests add up, and the one that wanders most speaks for all.
func worthOf(list []series) (w stat.Worth) {
	w.Design = 1
	for _, s := range list {
		one := s.worth()
		w.N += one.N
		w.Design = math.Max(w.Design, one.Design)
		w.States = math.Max(w.States, one.States)
	}
	return w
}

// stretches are the pieces of the runs of a side, one run after the other,
// neighbours summed so that there are at most mostStretches.
func stretches(list []series, of func(series) []stat.Pair) []stat.Pair {
	if len(list) == 1 {
		return summed(of(list[0]), mostStretches)
	}
	var all []stat.Pair
	for _, s := range list {
		all = append(all, of(s)...)
	}
	return summed(all, mostStretches)
}

// summed adds neighbours up so that at most so many are left.
func summed(list []stat.Pair, most int) []stat.Pair {
	size := (len(list) + most - 1) / most
	if size <= 1 {
		return append([]stat.Pair(nil), list...)
	}
	out := make([]stat.Pair, 0, most)
	for from := 0; from < len(list); from += size {
		out = append(out, total(list[from:min(from+size, len(list))]))
	}
	return out
}

// poolOf are all values of a side in order of size.
func poolOf(list []series) stat.Ordered {
	var all []stat.Ordered
	for _, s := range list {
		all = append(all, s.ordered())
	}
	return merged(all)
}

// exactly are all values of a side where every one is known; else nil.
func exactly(list []series) stat.Ordered {
	for _, s := range list {
		if _, ok := s.(*listed); !ok {
			return nil
		}
	}
	return poolOf(list)
}
