package stat

import (
	"math"
	"slices"
	"sort"
)

// Reason is why a figure has no interval.
type Reason string

const (
	// TooFewMoments: the series holds too few independent moments.
	TooFewMoments Reason = "too few independent moments"
	// TooFewInTail: there are moments enough, but too few beyond this percentile.
	TooFewInTail Reason = "too few independent values beyond the percentile"
	// TooWide: the mean is not known to within 60 % of itself.
	TooWide Reason = "the values spread too far for a mean"
	// NotFinite: failures have no value, so there is no mean.
	NotFinite Reason = "failures have no value"
	// NoValues: there is nothing to tell of.
	NoValues Reason = "no values"
	// BurstsUnseen goes with an interval that is given: all but one at most were
	// alike, and one alone says as little as none of whether they come in bursts.
	// In bursts of L the interval is L times as wide.
	BurstsUnseen Reason = "holds if they come one by one"
)

// Interval is a figure, what is known of it, and what that rests on.
type Interval struct {
	Value  float64 // the estimate
	Lo, Hi float64 // meaningful where Given; Hi may be +Inf
	Given  bool
	Why    Reason // why not given; or the condition under which it holds

	N int
	// Moments is how many independent moments the run holds (Worth.Moments, and
	// by the figure's own series).
	Moments float64
	// Effective is how many independent values this figure is worth, at most N.
	Effective float64
	DF        float64 // degrees of freedom of the dependence
	// NeedFactor is how many times as long a run would do, at least, where the
	// interval is not given; 1 where it is, 1000 for so many or more, 0 where no
	// length would do.
	NeedFactor float64
}

const (
	// fewestMoments, momentsInTail and widening are calibrated on queues,
	// autoregressions and servers that stall or change speed (docs/statistics.md
	// has the table), not derived: with fewer moments the runs that pass are
	// those that look lighter than they are.
	fewestMoments = 50.0
	momentsInTail = 1.5
	widening      = 40.0
	// Values above the mean come in clusters whose sizes differ: with D the mean
	// size weighed by size, exponential sizes give an estimate of D from K
	// clusters the degrees of freedom 2K/5. See docs/statistics.md.
	meanClusters = 4.0
	tailClusters = 1.25
	mostFactor   = 1000
	// widestMean is the largest half-width, in parts of a mean, that is given.
	widestMean = 0.6
)

// effect is a design effect with all that is not certain of it.
type effect struct {
	design  float64 // widened
	gate    float64
	moments float64
	seen    float64 // moments, or states of the server if the series meets too few (Worth.Moments)
	df, t   float64
	waves   float64 // the degrees of freedom that no length adds to
}

// widen takes the figure's own design effect to what should be reckoned with in
// a series that holds so few moments. clusters is how many degrees of freedom one
// independent value costs, tail says that only few values bear on the figure.
func widen(own LRV, worth Worth, clusters, level float64, tail bool) effect {
	n := float64(own.N)
	e := effect{design: own.Effect(), gate: math.Max(worth.Design, own.Effect()), waves: float64(own.Cosines)}
	e.moments = n / e.gate
	e.seen = math.Min(e.moments, worth.Moments())
	if e.gate > 2 {
		e.design *= 1 + (1-1/e.gate)*widening/e.moments
		if tail {
			// The clusters are too few to show their own size.
			e.design = math.Max(e.design, math.Sqrt(e.design*e.gate))
		}
	}
	e.design = math.Max(e.design, 1e-9)
	e.df = 1 / (1/float64(own.Cosines) + math.Max(0, 1-1/e.design)*clusters/math.Min(n/e.design, n))
	e.t = StudentQuantile((1+level)/2, e.df)
	return e
}

// size is how many independent values stand behind the figure when the
// uncertainty of the design effect is paid for too (Korn and Graubard 1998).
func (e effect) size(n int, level float64) float64 {
	z := NormalQuantile((1 + level) / 2)
	return math.Min(float64(n), float64(n)/e.design*(z/e.t)*(z/e.t))
}

// longer is how many times as long a run is worth so many independent values, if it
// wanders as this one does: a longer one knows its dependence better, too.
func (e effect) longer(n int, need, level float64) float64 {
	z := NormalQuantile((1 + level) / 2)
	unsure := 1/e.df - 1/e.waves // falls with the length
	for factor := 1.0; factor < mostFactor; factor *= 1.1 {
		t := StudentQuantile((1+level)/2, 1/(1/e.waves+unsure/factor))
		if factor*float64(n)/e.design*(z/t)*(z/t) >= need {
			return factor
		}
	}
	return mostFactor
}

// Mean is the mean and its interval. Of the part that is waiting the lower end is taken on
// the logarithm and the upper one on the inverse, the scales on which a queue's spread
// is stable (it grows with the square of the wait); for narrow intervals all scales agree.
func (s *Series) Mean(level float64) Interval {
	own := LRV{N: len(s.Values)}
	sorted := s.order()
	if own.N == 0 {
		return Interval{Why: NoValues}
	}
	if math.IsInf(sorted[own.N-1], 0) || math.IsInf(sorted[0], 0) {
		return Interval{Value: sorted[own.N-1], N: own.N, Why: NotFinite}
	}
	own = s.longRun()
	e := widen(own, s.Worth(), meanClusters, level, false)
	iv := Interval{Value: own.Mean, N: own.N, Moments: e.seen, Effective: math.Min(float64(own.N)/e.design, float64(own.N)), DF: e.df}
	half := e.t * math.Sqrt(e.design*own.Variance/float64(own.N))
	switch {
	case own.Variance == 0:
		iv.Lo, iv.Hi = own.Mean, own.Mean
	case sorted[0] < 0 || own.Mean <= 0:
		iv.Lo, iv.Hi = own.Mean-half, own.Mean+half
	default:
		// What waits is at least so much that it is known to within 60 %.
		waits := math.Max(own.Mean-s.unhindered(), half/widestMean)
		u := half / waits
		iv.Lo, iv.Hi = own.Mean-waits*(1-math.Exp(-u)), own.Mean+half/(1-u)
		if u := half / own.Mean; !(u < widestMean) {
			return iv.refuse(TooWide, math.Max(fewestMoments/e.seen, u/widestMean*u/widestMean))
		}
	}
	if e.seen < fewestMoments {
		return iv.refuse(TooFewMoments, fewestMoments/e.seen)
	}
	return iv.give()
}

// unhindered is the mean of the quarter of the values that met the fewest requests in flight:
// what they take is hardly waiting. 0 where values don't follow the requests in flight, or
// nothing is known of these.
func (s *Series) unhindered() float64 {
	n := len(s.Values)
	if len(s.InFlight) != n || n < shortSeries {
		return 0
	}
	if s.Worth(); !s.follows {
		return 0
	}
	sorted := slices.Clone(s.InFlight)
	sortFloats(sorted)
	few, sum, count := sorted[n/4], 0.0, 0.0
	for i, v := range s.Values {
		if s.InFlight[i] <= few {
			sum, count = sum+v, count+1
		}
	}
	return sum / count
}

// Quantile is the p-quantile (interpolated, as Quantile prints it) and its
// interval: two of the values, the ranks of which hold for as many independent
// values as this percentile is worth (Woodruff's inversion with Jeffreys' limits).
func (s *Series) Quantile(p, level float64) Interval {
	n := len(s.Values)
	sorted := s.order()
	value, ok := Quantile(Sorted(sorted), p)
	if !ok || !(p > 0 && p < 1) {
		return Interval{Why: NoValues, N: n}
	}
	if sorted[0] == sorted[n-1] {
		iv := Interval{Value: value, Lo: value, Hi: value, N: n, Moments: float64(n), Effective: float64(n)}
		if float64(n) < fewestMoments {
			return iv.refuse(TooFewMoments, fewestMoments/float64(n))
		}
		return iv.give()
	}
	e := widen(s.above(p), s.Worth(), tailClusters/math.Min(p, 1-p), level, p > 0.9)
	return invert(Sorted(sorted), value, e, p, level)
}

// invert finds the two values whose ranks hold the p-quantile (Woodruff).
func invert(sorted Ordered, value float64, e effect, p, level float64) Interval {
	n := int(sorted.Len())
	size := e.size(n, level)
	tail := (1 - level) / 2
	lo, hi := ranked(sorted, size, p, tail)
	iv := Interval{Value: value, N: n, Moments: e.seen, Effective: math.Min(float64(n)/e.design, float64(n)), DF: e.df}
	iv.Lo, iv.Hi = math.Min(value, lo), math.Max(value, hi)
	need := math.Log(tail) / math.Log(math.Max(p, 1-p))
	moments := fewestMoments
	if p > 0.5 {
		moments = math.Max(moments, momentsInTail*need)
	}
	switch {
	case e.seen < fewestMoments:
		return iv.refuse(TooFewMoments, math.Max(math.Max(moments/e.moments, fewestMoments/e.seen), e.longer(n, need, level)))
	case e.moments < moments || size < need:
		return iv.refuse(TooFewInTail, math.Max(moments/e.moments, e.longer(n, need, level)))
	}
	return iv.give()
}

// QuantileInterval is the interval of the p-quantile of a sample that is worth so many
// independent values; ok is false where these are too few for one.
func QuantileInterval(s Ordered, worth, p, level float64) (lo, hi float64, ok bool) {
	n := s.Len()
	if n == 0 || !(p > 0 && p < 1) || !(worth > 0) {
		return 0, 0, false
	}
	tail := (1 - level) / 2
	lo, hi = ranked(s, math.Min(worth, float64(n)), p, tail)
	return lo, hi, worth >= math.Log(tail)/math.Log(math.Max(p, 1-p))
}

// ranked are the values at Jeffreys' limits of the share p of so many.
func ranked(s Ordered, size, p, tail float64) (lo, hi float64) {
	n := s.Len()
	low := BetaQuantile(tail, size*p+0.5, size*(1-p)+0.5)
	high := BetaQuantile(1-tail, size*p+0.5, size*(1-p)+0.5)
	return s.At(max(1, int64(math.Floor(snap(float64(n)*low)))) - 1), s.At(min(n, int64(math.Ceil(snap(float64(n)*high)))) - 1)
}

// above is the series "beyond the p-quantile", by the nearest rank; where so many
// are equal to it that none is beyond, the series "at least as large".
func (s *Series) above(p float64) LRV {
	sorted := s.order()
	limit := sorted[Rank(int64(len(sorted)), p)-1]
	if sorted[len(sorted)-1] > limit {
		return s.beyond(limit)
	}
	first := sort.SearchFloat64s(sorted, limit)
	return s.beyond(sorted[first-1])
}

// Beyond is the share of values above a limit and its interval (Clopper and
// Pearson's at the number of independent values it is worth). It is given for any
// number of values: with few it is wide. Where all are on one side, the dependence
// of the whole series stands for that of the share.
//
// Its two ends rest on different numbers. That values are beyond is seen, so the
// lower end takes the dependence as it was measured. That no more are is also said
// of what was not seen, so the upper end takes the dependence widened for few moments.
func (s *Series) Beyond(limit, level float64) Interval {
	n := len(s.Values)
	if n == 0 {
		return Interval{Why: NoValues}
	}
	return settling(s.beyond(limit), float64(n), s.Worth(), level)
}

// settling is the interval of a share from its own long-run variance, of at most so
// many values.
func settling(own LRV, most float64, worth Worth, level float64) Interval {
	n := float64(own.N)
	if own.Variance == 0 {
		size := n / worth.Design
		iv := exactShare(own.Mean, size, level, Interval{N: own.N, Moments: size, Effective: size})
		if own.Mean == 1 && n < fewestMoments { // so few can't show that they depend on each other
			iv.Lo = exactShare(1, n, level, iv).Lo
		}
		return iv
	}
	rarer := math.Min(own.Mean, 1-own.Mean)
	e := widen(own, worth, tailClusters/rarer, level, rarer < 0.1)
	e.df = shareDF(e.design, rarer*n, own.Cosines)
	e.t = StudentQuantile((1+level)/2, e.df)
	z := NormalQuantile((1 + level) / 2)
	seen := math.Max(own.Effect(), n/most)
	t := StudentQuantile((1+level)/2, float64(own.Cosines))
	size := math.Min(most, n/seen*(z/t)*(z/t))
	iv := Interval{N: own.N, Moments: e.moments, Effective: math.Min(n/seen, most), DF: e.df}
	iv = exactShare(own.Mean, size, level, iv)
	iv.Hi = math.Max(iv.Hi, exactShare(own.Mean, math.Min(most, n/e.design*(z/e.t)*(z/e.t)), level, iv).Hi)
	return iv
}

// Share is the share of requests of which something is true (failures, goodput),
// in their order of time, and its interval. With none or one, or all or all but one,
// what is said holds if they come one by one (BurstsUnseen).
func Share(is []bool, level float64) Interval {
	return ShareInterval(shareSeries(is), level)
}

// ShareInterval is Share of what LongRunShare found.
func ShareInterval(own LRV, level float64) Interval {
	n := own.N
	if n == 0 {
		return Interval{Why: NoValues}
	}
	if own.Variance == 0 {
		return exactShare(own.Mean, float64(n), level, Interval{N: n, Moments: float64(n), Effective: float64(n), Why: BurstsUnseen})
	}
	design := math.Max(1, own.Effect())
	df := shareDF(design, math.Min(own.Mean, 1-own.Mean)*float64(n), own.Cosines)
	e := effect{design: design, df: df, t: StudentQuantile((1+level)/2, df)}
	iv := Interval{N: n, Moments: float64(n) / design, Effective: float64(n) / design, DF: df}
	if math.Round(float64(n)*math.Min(own.Mean, 1-own.Mean)) <= 1 {
		// The design effect of a lone spike tells where it is, and nothing of others.
		iv.Why = BurstsUnseen
	}
	return exactShare(own.Mean, e.size(n, level), level, iv)
}

func shareSeries(is []bool) LRV {
	return longRun(len(is), func(i int) float64 {
		if is[i] {
			return 1
		}
		return 0
	})
}

// shareDF are the degrees of freedom of a share whose rarer outcome came count times.
func shareDF(design, count float64, cosines int) float64 {
	return 1 / (1/float64(cosines) + math.Max(0, 1-1/design)*tailClusters/math.Max(0.5, count/design))
}

func exactShare(share, size, level float64, iv Interval) Interval {
	iv.Value, iv.Lo, iv.Hi = share, 0, 1
	tail := (1 - level) / 2
	if share > 0 {
		iv.Lo = BetaQuantile(tail, size*share, size*(1-share)+1)
	}
	if share < 1 {
		iv.Hi = BetaQuantile(1-tail, size*share+1, size*(1-share))
	}
	return iv.give()
}

func (iv Interval) give() Interval {
	iv.Given, iv.NeedFactor = true, 1
	return iv
}

func (iv Interval) refuse(why Reason, factor float64) Interval {
	if !(factor < mostFactor) { // or not a number
		factor = mostFactor
	}
	iv.Given, iv.Why, iv.NeedFactor = false, why, math.Max(factor, 1)
	return iv
}
