package sweep

import (
	"math"

	"tokenmeter/record/stat"
)

// sample is what one objective has to say of a load: the requests that count, in the order
// in which they were due. Those of two probes of a load follow one another.
type sample struct {
	*test
	near   []float64 // how near the limit each came
	flight []float64
	value  []float64 // of a mean the distance to the limit
	bad    []float64 // of its weight
	weight []float64 // 1, or how many gaps it brought
}

// from takes the requests from a place on.
func (t *test) from(skip int, flight []float64) *sample {
	s := &sample{test: t}
	sum, n := 0.0, 0.0
	for _, k := range t.gaps {
		if k > 0 {
			sum, n = sum+k, n+1
		}
	}
	for i, at := range t.at {
		if at < skip {
			continue
		}
		// All gaps together are judged, as a run does it: a request with many weighs as many
		// times more, a failed one as an average one.
		weight := 1.0
		switch {
		case n > 0 && t.gaps[i] > 0:
			weight = t.gaps[i]
		case n > 0:
			weight = sum / n
		}
		s.value, s.flight = append(s.value, t.value[i]), append(s.flight, flight[at])
		s.weight, s.bad = append(s.weight, weight), append(s.bad, weight*(1-t.value[i]))
		s.near = append(s.near, t.near[i])
	}
	return s
}

// and is both one after the other.
func (s *sample) and(o *sample) *sample {
	join := func(a, b []float64) []float64 { return append(append([]float64{}, a...), b...) }
	return &sample{test: s.test, near: join(s.near, o.near), flight: join(s.flight, o.flight), value: join(s.value, o.value),
		bad: join(s.bad, o.bad), weight: join(s.weight, o.weight)}
}

// shown is what a series shows.
type shown struct {
	holds, fails bool
	share        float64 // of good ones; NaN for a mean
	distance     float64 // to what is allowed, above 0 beyond it, in parts of it
	moments      float64 // independent ones
	longer       float64 // how many times as long might decide; +Inf: none would
}

// judge weighs a series. The chances of error are those of one side.
func (s *sample) judge(wrongHolds, wrongFails float64) shown {
	near := &stat.Series{Values: s.near, InFlight: s.flight}
	gate := near.Worth().Design
	out := shown{moments: float64(len(s.near)) / gate, share: math.NaN()}
	bounds := s.mean
	if s.allowed > 0 {
		r := s.ratio(gate)
		out.share, out.distance = 1-r.share, r.share/s.allowed-1
		bounds = r.bounds
	} else {
		m := &stat.Series{Values: s.value, InFlight: s.flight}
		out.distance = m.Mean(0.9).Value / math.Max(math.Abs(s.o.Limit), 1e-9)
	}
	says := func(times float64) (holds, fails bool) {
		_, hi := bounds(wrongHolds, times)
		lo, _ := bounds(wrongFails, times)
		return hi < s.allowed && out.moments*times >= moments, lo > s.allowed
	}
	out.holds, out.fails = says(1)
	out.longer = 1
	for holds, fails := out.holds, out.fails; !holds && !fails; holds, fails = says(out.longer) {
		if out.longer *= 1.25; out.longer > mostLonger {
			out.longer = math.Inf(1)
			break
		}
	}
	return out
}

// mostLonger is how many times as long as it was nobody would make a probe.
const mostLonger = 100

// mean bounds a mean's distance to its limit. One failure makes it infinite.
func (s *sample) mean(wrong, times float64) (lo, hi float64) {
	iv := (&stat.Series{Values: s.value, InFlight: s.flight}).Mean(1 - 2*wrong)
	if iv.Why == stat.NotFinite {
		return math.Inf(1), math.Inf(1)
	}
	return iv.Value - (iv.Value-iv.Lo)/math.Sqrt(times), iv.Value + (iv.Hi-iv.Value)/math.Sqrt(times)
}

// ratio is a share of bad ones, and how well it is known.
type ratio struct {
	n, share float64
	long     float64 // long-run variance of a request's part in it
	waves    float64 // that it rests on
	uneven   float64 // 1 + (sd/mean)² of the weights
	gate     float64 // how many requests tell as much as one moment
	allowed  float64
}

func (s *sample) ratio(gate float64) ratio {
	r := ratio{n: float64(len(s.bad)), gate: gate, allowed: s.allowed}
	bad, weight, squares := 0.0, 0.0, 0.0
	for i, w := range s.weight {
		bad, weight, squares = bad+s.bad[i], weight+w, squares+w*w
	}
	r.share, r.uneven = bad/weight, squares*r.n/weight/weight
	part := make([]float64, len(s.bad))
	for i, w := range s.weight {
		part[i] = (s.bad[i] - r.share*w) * r.n / weight
	}
	l := stat.LongRunVariance(part)
	r.long, r.waves = l.L, float64(l.Cosines)
	return r
}

// The constants of package stat, by which few moments are made up for (docs/statistics.md).
const (
	widening = 40
	clusters = 4
)

// bounds are the ends of the interval that is wrong on one side with this chance, were the
// series so many times as long: Clopper and Pearson's for as many independent
// requests as it is worth. What it is worth is reckoned at the limit, since the question is
// whether the share lies there: few bad ones show too little of how they cluster.
func (r ratio) bounds(wrong, times float64) (lo, hi float64) {
	n := r.n * times
	moments := n / r.gate
	limit := r.allowed * (1 - r.allowed)
	one := math.Max(limit, r.share*(1-r.share))
	design := math.Max(r.long, limit*r.uneven*math.Sqrt(r.gate)) / one
	if design > 2 {
		design *= 1 + (1-1/design)*widening/moments
	}
	df := 1 / (1/r.waves + math.Max(0, 1-1/design)*clusters/moments)
	narrow := stat.NormalQuantile(1-wrong) / stat.StudentQuantile(1-wrong, df)
	size := math.Min(n, n/design) * narrow * narrow
	lo, hi = 0, 1
	if r.share > 0 {
		lo = stat.BetaQuantile(wrong, size*r.share, size*(1-r.share)+1)
	}
	if r.share < 1 {
		hi = stat.BetaQuantile(1-wrong, size*r.share+1, size*(1-r.share))
	}
	return lo, hi
}
