package objective

import (
	"math"

	"tokenmeter/record/stat"
)

// statOf applies the objective's statistic and says whether it keeps the limit.
// Without a statistic every value counts, so the worst decides. Values that
// fail the objective lie at the end that the comparison calls bad.
//
// A percentile keeps the limit when its share of the values does, which is what
// an error budget counts too. The value is the same percentile (type 7) as in
// the summary; where its interpolation would land on the other side of the
// limit than the share, it is the nearest rank, which never does.
func (o *Objective) statOf(s stat.Ordered) (v float64, holds, ok bool) {
	n := s.Len()
	switch {
	case n == 0:
		return 0, false, false
	case o.Percentile > 0:
		v, nearest := o.percentileOf(s)
		if holds = o.keeps(nearest); o.keeps(v) != holds {
			v = nearest
		}
		return v, holds, true
	case o.Stat == "mean":
		m, _ := momentsOf(s)
		v = m.Mean
	case o.Stat == "max", o.Stat == "" && o.below():
		v = s.At(n - 1)
	default:
		v = s.At(0)
	}
	return v, o.keeps(v), true
}

// keeps is Holds, but what has no value never holds.
func (o *Objective) keeps(v float64) bool { return o.Holds(v) && v != o.worst() }

// percentileOf takes the percentile of a speed from the side on which its
// failures lie.
func (o *Objective) percentileOf(s stat.Ordered) (type7, nearest float64) {
	if o.below() {
		type7, _ = stat.Quantile(s, o.Percentile)
		nearest, _ = stat.NearestRank(s, o.Percentile)
		return type7, nearest
	}
	type7, _ = stat.Quantile(mirrored{s}, 1-o.Percentile)
	nearest, _ = stat.NearestRank(mirrored{s}, 1-o.Percentile)
	return -type7, -nearest
}

// mirrored is a sample with every sign changed.
type mirrored struct{ stat.Ordered }

func (m mirrored) At(i int64) float64 { return -m.Ordered.At(m.Len() - 1 - i) }

// momentsOf returns mean and spread of any sample.
func momentsOf(s stat.Ordered) (stat.Moments, bool) {
	if m, ok := s.(interface{ Moments() (stat.Moments, bool) }); ok {
		return m.Moments()
	}
	var all stat.Sample
	for i := range s.Len() {
		all.Add(s.At(i))
	}
	return all.Moments()
}

// extend adds failures to a sample, as infinite values at its bad end.
func extend(s stat.Ordered, failures int64, infinite float64) stat.Ordered {
	if failures == 0 {
		return s
	}
	return extended{s, failures, infinite}
}

type extended struct {
	stat.Ordered
	failures int64
	infinite float64
}

func (e extended) Len() int64 { return e.Ordered.Len() + e.failures }

func (e extended) At(i int64) float64 {
	if e.infinite < 0 {
		i -= e.failures
	}
	if i < 0 || i >= e.Ordered.Len() {
		return e.infinite
	}
	return e.Ordered.At(i)
}

func (e extended) Moments() (stat.Moments, bool) {
	return stat.Moments{N: e.Len(), Mean: e.infinite}, true
}

// failedGaps is how many gaps the failed requests stand for: each as many as a
// judged one had on average, so that their share of the gaps is their share of
// the requests.
func failedGaps(t *tally, gaps int64) int64 {
	answered := t.good + t.bad - t.failures
	if answered <= 0 {
		return t.failures
	}
	return int64(math.Round(float64(t.failures) * float64(gaps) / float64(answered)))
}
