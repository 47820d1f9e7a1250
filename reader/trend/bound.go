package trend

import (
	"math"

	"tokenmeter/record/stat"
)

// alarmEvery is how many blocks pass on average between false alarms of the
// generalised likelihood ratio |mean after − mean before| / its standard error,
// looked at after each block and for each beginning of the change, with limit b:
// Siegmund and Venkatraman, Annals of Statistics 23 (1995) 255, theorem 1,
// √(2π) exp(b²/2) / (b ∫₀ᵇ x ν²(x) dx), with ν(x) ≈ exp(−0.583 x).
func alarmEvery(b float64) float64 {
	const c = 2 * 0.583
	integral := (1 - math.Exp(-c*b)*(1+c*b)) / (c * c) // of x exp(−c x)
	return math.Sqrt(2*math.Pi) * math.Exp(b*b/2) / (b * integral)
}

// limitFor is the limit at which alarms come once in so many blocks.
func limitFor(blocks float64) float64 {
	lo, hi := 1.0, 12.0
	for range 60 {
		if mid := (lo + hi) / 2; alarmEvery(mid) < blocks {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// chance is the probability that something as large comes by chance in so many
// blocks of all series together.
func chance(z, blocks float64) float64 { return -math.Expm1(-blocks / alarmEvery(z)) }

// asNormal is the normal value that is as rare as a Student's t, whose tails are
// longer: the noise it was divided by is known by df degrees of freedom only.
func asNormal(t, df float64) float64 {
	if math.IsInf(df, 1) {
		return math.Abs(t)
	}
	if p := stat.StudentCDF(-math.Abs(t), df); p > 1e-300 {
		return -stat.NormalQuantile(p)
	}
	return 37 // where probabilities end in floating point
}

// asStudent is the inverse of asNormal.
func (n noise) asStudent(z float64) float64 {
	return -stat.StudentQuantile(math.Erfc(z/math.Sqrt2)/2, n.df)
}

// noise is the long-run variance of levels: n times the variance of the mean of
// n blocks, for n large against what they tell of each other.
type noise struct {
	variance float64
	df       float64
}

// noiseOf is found from differences of the means of neighbouring stretches of m
// blocks, so that neither a change nor a drift has much part in it (Wu and Zhao,
// JRSS B 69 (2007) 391; overlapping, as the Allan variance, whose degrees of
// freedom are 3n/2m: Riley, NIST SP 1065, 2008). Stretches over a change, as cuts
// tell, are left out; robust takes the median of squares, for as long as changes
// are not known, and takes it as exact: it is for finding what may be one.
//
// Longer stretches, up to a day, know more of what values tell of each other and
// are fewer: a longer one counts where it has more noise than a shorter one by
// more than an F test passes (as the cosines of stat.LongRunVariance are chosen).
func (s *series) noiseOf(x []float64, cuts []int, robust bool) (n noise) {
	pass := 0.25
	if robust {
		pass = 0.05
	}
	day := s.days(1)
	for m := 1; m <= day; m *= 2 {
		if 2*m > day {
			m = day
		}
		if longer := stretches(x, cuts, m, robust); n.df == 0 || longer.exceeds(n) < pass {
			n = longer
		}
	}
	n.variance = math.Max(n.variance*s.unsureCycle(), s.finest()*s.finest())
	n.df = math.Max(n.df, 1)
	if robust {
		n.df = math.Inf(1)
	}
	return n
}

// exceeds is the probability of such a ratio of variances if both are of the same
// noise.
func (n noise) exceeds(o noise) float64 {
	if n.df == 0 || n.variance <= o.variance {
		return 1
	}
	if o.variance == 0 {
		return 0
	}
	return stat.BetaInc(o.df/2, n.df/2, o.df/(o.df+n.df*n.variance/o.variance))
}

// finest is the standard deviation of what rounding does to a logarithm: times are
// whole microseconds, and costs are sums of floating-point numbers.
func (s *series) finest() float64 {
	if s.metric == Cost {
		return 1e-9
	}
	var levels []float64
	for _, x := range s.level {
		if !math.IsNaN(x) {
			levels = append(levels, x)
		}
	}
	return 0.001 / math.Exp(stat.Median(levels)) / math.Sqrt(12)
}

// squareMedian is the median of χ² with one degree of freedom, and the efficiency
// of the median of squares against their mean as an estimator of variance, 37 %.
const (
	squareMedian     = 0.454936
	medianEfficiency = 0.3675
)

func stretches(x []float64, cuts []int, m int, robust bool) noise {
	sum, count := make([]float64, len(x)+1), make([]float64, len(x)+1)
	for i, v := range x {
		sum[i+1], count[i+1] = sum[i], count[i]
		if !math.IsNaN(v) {
			sum[i+1] += v
			count[i+1]++
		}
	}
	var squares []float64
	next := 0
	for i := 0; i+2*m <= len(x); i++ {
		for next < len(cuts) && cuts[next] <= i {
			next++
		}
		if next < len(cuts) && cuts[next] < i+2*m {
			continue // a change lies within
		}
		a, b := count[i+m]-count[i], count[i+2*m]-count[i+m]
		if a == 0 || b == 0 {
			continue
		}
		d := (sum[i+2*m]-sum[i+m])/b - (sum[i+m]-sum[i])/a
		squares = append(squares, d*d/(1/a+1/b))
	}
	if len(squares) == 0 {
		return noise{}
	}
	df := math.Max(1.5*float64(len(squares))/float64(m), 1)
	if robust {
		return noise{stat.Median(squares) / squareMedian, math.Max(medianEfficiency*df, 1)}
	}
	total := 0.0
	for _, q := range squares {
		total += q
	}
	return noise{total / float64(len(squares)), df}
}
