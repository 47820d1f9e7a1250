package objective

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// level is how sure a verdict is.
const level = 0.95

// settle takes the verdict of an interval of the share of bad values, of which so
// large a share is allowed, or else the point's where --allow-low-n asks for one.
func (j *Judge) settle(r *ObjectiveResult, bad stat.Interval, allowed float64, holds bool) {
	r.Worth = timeline.Some(bad.Effective)
	j.decide(r, bad.Hi <= allowed, bad.Lo > allowed, holds)
}

func (j *Judge) decide(r *ObjectiveResult, met, missed, holds bool) {
	r.Settled = timeline.Some(met || missed)
	switch {
	case met || missed:
		r.reach(met)
	case j.allowLowN:
		r.reach(holds)
	default:
		r.State = Open
	}
}

func (r *ObjectiveResult) reach(met bool) {
	r.Met, r.State = timeline.Some(met), Missed
	if met {
		r.State = Met
	}
}

// ofValues fills the result of an objective on a figure that each request or each
// session has; those that failed are +Inf.
func (j *Judge) ofValues(o *Objective, s *stat.Series, r *ObjectiveResult) {
	r.N = int64(len(s.Values))
	sample := stat.Ordered(s.Sorted())
	if !o.below() {
		sample = mirrored{sample}
	}
	v, holds, ok := o.statOf(sample)
	if !ok {
		r.State = Open
		return
	}
	if !math.IsInf(v, 0) {
		r.Value = timeline.Some(v)
	}
	switch {
	case o.Percentile > 0:
		allowed := 1 - o.Percentile
		p := o.Percentile
		if !o.below() {
			// Of speeds the slow ones are bad: p99 > X lets 99 % be slower.
			allowed, p = o.Percentile, 1-o.Percentile
		}
		r.bounds(o, s.Quantile(p, level))
		j.settle(r, s.Beyond(o.edge(), level), allowed+1e-12, holds)
	case o.Stat == "mean":
		iv := s.Mean(level)
		r.bounds(o, iv)
		r.Worth = timeline.Some(iv.Effective)
		switch {
		case iv.Why == stat.NotFinite: // a failure has taken for ever
			j.decide(r, false, true, false)
		case iv.N < 2:
			j.decide(r, false, false, holds)
		default:
			lo, hi := o.turned(iv.Lo, iv.Hi)
			j.decide(r, o.Holds(lo) && o.Holds(hi), !o.Holds(lo) && !o.Holds(hi), holds)
		}
	default: // every request must keep it
		r.reach(holds)
	}
}

// edge is the largest mirrored value that keeps the limit.
func (o *Objective) edge() float64 {
	limit := o.Limit
	if !o.below() {
		limit = -limit
	}
	if !o.Holds(o.Limit) {
		limit = math.Nextafter(limit, math.Inf(-1))
	}
	return limit
}

// turned takes an interval of mirrored values back.
func (o *Objective) turned(lo, hi float64) (float64, float64) {
	if o.below() {
		return lo, hi
	}
	return -hi, -lo
}

func (r *ObjectiveResult) bounds(o *Objective, iv stat.Interval) {
	lo, hi := o.turned(iv.Lo, iv.Hi)
	if iv.Given && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) {
		r.CI95 = &[2]float64{lo, hi}
	}
}

// ofGaps fills the result of an objective on the gaps between tokens, which come in
// answers: those are what is independent, if anything is. A failed answer stands for
// as many bad gaps as an answer has on average.
func (j *Judge) ofGaps(o *Objective, t *tally, pool *stat.Counted, dist metric.Dist, r *ObjectiveResult) {
	if pool == nil {
		r.State = Open
		return
	}
	sample := extend(pool, failedGaps(t, pool.Len()), o.worst())
	r.N = sample.Len()
	v, holds, ok := o.statOf(sample)
	if !ok {
		r.State = Open
		return
	}
	if !math.IsInf(v, 0) {
		r.Value = timeline.Some(v)
	}
	if t.failures == 0 {
		if ci, ok := dist.CI95[o.Stat]; ok {
			r.CI95 = &ci
		}
	}
	switch {
	case o.Percentile > 0:
		clusters, fractions := j.clusters(t)
		allowed := 1 - o.Percentile
		if !o.below() {
			allowed = o.Percentile
		}
		j.settle(r, stat.PooledShare(clusters, fractions.Worth(), level), allowed+1e-12, holds)
	case o.Stat == "mean":
		r.Worth = dist.Worth
		switch {
		case t.failures > 0:
			j.decide(r, false, true, false)
		case r.CI95 == nil:
			j.decide(r, false, false, holds)
		default:
			lo, hi := o.Holds(r.CI95[0]), o.Holds(r.CI95[1])
			j.decide(r, lo && hi, !lo && !hi, holds)
		}
	default:
		r.reach(holds)
	}
}

// clusters are the answers in order: bad gaps of all gaps, and the bad share.
func (j *Judge) clusters(t *tally) ([]stat.Pair, *stat.Series) {
	gaps, beyond, verdicts := j.order.Series(&t.gaps).Values, j.order.Series(&t.beyond).Values, j.order.Series(&t.verdicts)
	total, answered := 0.0, 0.0
	for _, n := range gaps {
		if total += n; n > 0 {
			answered++
		}
	}
	mean := 1.0
	if answered > 0 {
		mean = total / answered
	}
	out := make([]stat.Pair, len(gaps))
	shares := &stat.Series{Values: make([]float64, len(gaps)), InFlight: verdicts.InFlight}
	for i, n := range gaps {
		out[i] = stat.Pair{Num: beyond[i], Den: n}
		if n == 0 {
			out[i] = stat.Pair{Num: mean, Den: mean}
		}
		shares.Values[i] = out[i].Num / out[i].Den
	}
	return out, shares
}

// shareOf is the share of good ones, its interval for print, and that of the bad
// ones' share for the verdict; bad has the requests in order, 1 is bad.
func shareOf(bad *stat.Series) (good float64, ci [2]float64, beyond stat.Interval) {
	is := make([]bool, len(bad.Values))
	for i, v := range bad.Values {
		is[i] = v > 0
	}
	iv := stat.Share(is, level)
	return 1 - iv.Value, [2]float64{1 - iv.Hi, 1 - iv.Lo}, bad.Beyond(0.5, level)
}
