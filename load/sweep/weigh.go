package sweep

import (
	"math"
	"slices"

	"tokenmeter/record/stat"
)

// weight is what a test has seen from a place on.
type weight struct {
	n, effective float64
	mean         float64 // share of good ones, or the mean distance to the limit
	time         float64 // autocorrelation time, in requests
	known        float64 // the part of the effective ones that counts for a load to hold
	holds, fails float64 // logarithms of evidence
	far          bool    // every request was good, and came no nearer than halfway to the limit
	// score is 0 at the limit and positive where the objective holds; slack is
	// the information that it rests on.
	score, slack float64
	own          pool
}

// weigh judges the values from the request at the given place on.
func (t *test) weigh(from int) (w weight) {
	first := len(t.at)
	for i, at := range t.at {
		if at >= from {
			first = i
			break
		}
	}
	if first == len(t.at) {
		return weight{time: 1}
	}
	v, uneven := pooled(t.value[first:], t.gaps[first:], t.target)
	w.n = float64(len(v))
	for _, x := range v {
		w.mean += x
	}
	w.mean /= w.n // of ones alone it is 1, not a little beside it
	if t.target > 0 {
		w.mean = math.Max(0, math.Min(1, w.mean))
	}
	w.far = slices.Max(t.near[first:]) <= halfway
	w.time = t.correlation(v, t.near[first:])
	w.effective = w.n / w.time
	if t.target > 0 { // a mean's spread has that in it
		w.effective /= uneven
	}
	w.known = t.known(w)
	if t.target > 0 {
		t.share(&w, t.near[first:])
	} else {
		t.distance(&w, v)
	}
	return w
}

// pooled turns what requests say of their gaps into values whose mean is that of all gaps
// together, as a run is judged: one with many weighs as many times more, a failed one as
// an average one. uneven is 1 + (sd/mean)² of the weights: by so much fewer requests it
// takes to say the same with even ones. Without gaps the values are returned as they are.
func pooled(value, gaps []float64, target float64) (out []float64, uneven float64) {
	sum, n := 0.0, 0.0
	for _, k := range gaps {
		if k > 0 {
			sum, n = sum+k, n+1
		}
	}
	if n == 0 {
		return value, 1
	}
	out = make([]float64, len(value))
	squares, good := 0.0, target > 0
	for i, x := range value {
		weight := 1.0
		if gaps[i] > 0 {
			weight = gaps[i] / sum * n
		}
		out[i] = target + weight*(x-target)
		squares += weight * weight
		good = good && x == 1
	}
	if good { // all of it, to the last digit
		out = value
	}
	return out, squares / float64(len(value))
}

func (t *test) share(w *weight, near []float64) {
	w.own = pool{n: w.effective, sum: w.mean * w.effective, one: w.mean * w.n}
	if t.o.OfPace() {
		w.own.near = near
	}
	w.holds, _ = stat.ShareEvidence((w.own.sum+t.above.sum)*w.known, (w.own.n+t.above.n)*w.known, t.target)
	_, w.fails = stat.ShareEvidence(w.own.sum+t.below.sum, w.own.n+t.below.n, t.target)
	p := (w.mean*w.effective + 0.5) / (w.effective + 1)
	w.score = math.Log(p/(1-p)) - math.Log(t.target/(1-t.target))
	w.slack = w.effective * p * (1 - p)
}

// known is the part of the independent requests that counts for a load to hold. A probe
// that lasts many times as long as what waits wanders has seen how it does.
func (t *test) known(w weight) float64 {
	if t.wander <= w.time || w.n >= lasting*t.wander {
		return 1
	}
	return w.time / t.wander
}

// lasting is how many times the correlation of what waits a probe lasts that is believed
// what it shows of it.
const lasting = 50

// shareOf is the share of good requests; NaN for a mean, which has none.
func (t *test) shareOf(w weight) float64 {
	if t.target == 0 {
		return math.NaN()
	}
	return w.mean
}

// distance judges a mean: an infinite one has failed requests in it.
func (t *test) distance(w *weight, v []float64) {
	if math.IsInf(w.mean, 0) || math.IsNaN(w.mean) {
		w.fails, w.score, w.slack = math.Inf(1), -10, 1
		return
	}
	squares := 0.0
	for _, x := range v {
		squares += (x - w.mean) * (x - w.mean)
	}
	sd := math.Sqrt(squares/math.Max(w.n-1, 1)) + 1e-9
	w.own = pool{n: w.effective, sum: w.mean / sd * w.effective} // in units of sd
	if h := w.own.and(t.above); h.sum < 0 {
		// However far from the limit, a request speaks for no more than one standard
		// deviation: a queue that has just begun to grow is far from any limit on waiting,
		// and the spread of a few independent requests is hardly known.
		w.holds = normalEvidence(math.Max(h.sum, -h.n)*w.known, h.n*w.known)
	}
	if f := w.own.and(t.below); f.sum > 0 {
		w.fails = normalEvidence(f.sum, f.n)
	}
	w.score, w.slack = -w.mean/sd, w.effective
}

// normalEvidence is Robbins' mixture: ln of the e-value of a sum of n values of
// variance 1 against a mean of 0, from one side.
func normalEvidence(sum, n float64) float64 {
	const kappa = 100 // tightest about where a mean of a tenth of sd shows
	return sum*sum/(2*(n+kappa)) - 0.5*math.Log((n+kappa)/kappa)
}
