package compare

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
)

// Blocks of a means watch. 48 blocks give 16 cosines, the fewest that the
// long-run variance is trusted with elsewhere too, three blocks to a half wave;
// 24 independent ones are half of them. Beyond mostKept two become one, so
// that memory stays bounded and a block longer than what wanders.
const (
	firstBlock    = 20 // requests
	fewestBlocks  = 48
	mostKept      = 1024
	fewestMoments = 24
	betBlock      = 50 // requests a side
)

// kappaOf is the mixture's parameter that makes it tightest where a difference
// of that size can just be seen.
func kappaOf(expect float64) float64 { return 1 / (expect * expect) }

// meansWatch tests whether the means of two populations differ.
type meansWatch struct {
	measure       *measure // nil: the share of good requests
	alpha, within float64
	better        metric.Better
	kappa         float64
	sides         [2]blocks
	state         CanaryState

	looked       [2]int // blocks at the last look
	diff, lo, hi float64
	known        bool
}

// blocks are the means of consecutive requests of one side.
type blocks struct {
	means []float64
	size  int // requests a block
	open  stat.Pair
}

// add reports whether a block was filled.
func (b *blocks) add(v float64) bool {
	b.size = max(b.size, firstBlock)
	b.open.Num += v
	b.open.Den++
	if int(b.open.Den) < b.size {
		return false
	}
	b.means = append(b.means, b.open.Num/b.open.Den)
	b.open = stat.Pair{}
	if len(b.means) == mostKept {
		for i := range mostKept / 2 {
			b.means[i] = (b.means[2*i] + b.means[2*i+1]) / 2
		}
		b.means, b.size = b.means[:mostKept/2], 2*b.size
	}
	return true
}

func (b *blocks) requests() int64 { return int64(len(b.means)*b.size) + int64(b.open.Den) }

// error is the variance of the mean of the blocks, with its degrees of freedom;
// ok is false where they are too few or worth too few. The long-run variance is
// widened for few moments as that of a run is.
func (b *blocks) error() (mean, variance, df float64, ok bool) {
	t := len(b.means)
	if t < fewestBlocks {
		return 0, 0, 0, false
	}
	l := stat.CosineVariance(b.means, min(16, t/3))
	l.L = math.Max(l.L, l.Variance)
	if l.L == 0 {
		return l.Mean, 0, float64(l.Cosines), true
	}
	e := l.OfMean()
	return l.Mean, l.Variance * e.Design / float64(t), e.DF, e.Moments >= fewestMoments
}

func (w *meansWatch) add(side int, v float64) {
	if w.sides[side].add(v) && w.due() {
		w.look()
	}
}

// due reports whether enough has come since the last look: an eighth of the
// blocks of a side. Looks cost; the guarantee holds for any of them.
func (w *meansWatch) due() bool {
	for i := range w.sides {
		if t := len(w.sides[i].means); t < w.looked[i] || t-w.looked[i] >= max(1, w.looked[i]/8) {
			return true
		}
	}
	return false
}

// look works out the interval and decides once: a state that was reached stays.
func (w *meansWatch) look() {
	for i := range w.sides {
		w.looked[i] = len(w.sides[i].means)
	}
	a, va, dfA, okA := w.sides[SideA].error()
	b, vb, dfB, okB := w.sides[SideB].error()
	w.known = okA && okB
	if !w.known {
		return
	}
	w.diff = b - a
	half := 0.0
	if v := va + vb; v > 0 {
		// Information is the inverse of the variance; diff × information moves like
		// a Brownian motion in it. The bound, in standard errors, is moved to
		// Student's distribution at the same tail, since the variance is estimated
		// (Welch and Satterthwaite's degrees of freedom).
		information := 1 / v
		z := stat.MixtureBound(information, w.kappa, w.alpha) / math.Sqrt(information)
		df := v * v / (va*va/dfA + vb*vb/dfB)
		half = stat.StudentQuantile(1-math.Erfc(z/math.Sqrt2)/2, df) * math.Sqrt(v)
	}
	w.lo, w.hi = w.diff-half, w.diff+half
	if w.state != Continue {
		return
	}
	up, down := CanaryWorse, CanaryBetter
	if w.better == metric.Higher {
		up, down = down, up
	}
	switch {
	case w.lo >= -w.within && w.hi <= w.within:
		w.state = CanarySame
	case w.lo > 0 && w.diff > w.within:
		w.state = up
	case w.hi < 0 && w.diff < -w.within:
		w.state = down
	}
}

// figure shows latencies in percent, the share of good requests in points of one.
func (w *meansWatch) figure() CanaryFigure {
	f := CanaryFigure{Metric: "good", State: w.state, N: [2]int64{w.sides[SideA].requests(), w.sides[SideB].requests()}}
	scale := func(v float64) float64 { return v }
	if w.measure != nil {
		f.Metric = w.measure.key
		scale = func(v float64) float64 { return 100 * math.Expm1(v) }
	}
	if w.known {
		f.Diff = some(scale(w.diff))
		f.CI = &[2]float64{scale(w.lo), scale(w.hi)}
	} else if len(w.sides[SideA].means) < fewestBlocks || len(w.sides[SideB].means) < fewestBlocks {
		f.Needs = fewestBlocks * firstBlock
	}
	return f
}

// shareWatch tests the share of good requests: by means, and by bets that lose
// no time where a side fails.
type shareWatch struct {
	means         meansWatch
	worse, better stat.Bet // on B's share being lower, higher
	block         [2]stat.Pair
	total         [2]stat.Pair
}

func newShareWatch(alpha, within float64) shareWatch {
	// Means and bets share the figure's part of the level.
	return shareWatch{means: meansWatch{alpha: alpha / 2, within: within, better: metric.Higher, kappa: kappaOf(within), state: Continue}}
}

func (w *shareWatch) add(side int, good bool) {
	p := one(good)
	for _, list := range []*[2]stat.Pair{&w.block, &w.total} {
		list[side].Num += p.Num
		list[side].Den += p.Den
	}
	w.means.add(side, p.Num)
	if w.means.state != Continue || w.block[SideA].Den < betBlock || w.block[SideB].Den < betBlock {
		return
	}
	d := share(w.block[SideB]) - share(w.block[SideA])
	w.worse.Add(-d)
	w.better.Add(d)
	w.block = [2]stat.Pair{}
	// Two sides of a test share its part of the level.
	level, diff := w.means.alpha/2, share(w.total[SideB])-share(w.total[SideA])
	switch {
	case w.worse.P() <= level && diff < -w.means.within:
		w.means.state = CanaryWorse
	case w.better.P() <= level && diff > w.means.within:
		w.means.state = CanaryBetter
	}
}

func (w *shareWatch) figure() CanaryFigure {
	f := w.means.figure()
	f.Needs = 0 // bets have no least number
	if !f.Diff.OK() && w.total[SideA].Den > 0 && w.total[SideB].Den > 0 {
		f.Diff = some(share(w.total[SideB]) - share(w.total[SideA]))
	}
	return f
}

func share(p stat.Pair) float64 { return p.Num / p.Den }
