package metric

import (
	"math"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// pooled is a sample of gaps over all requests, in µs. The gaps of one request
// are alike, so an interval that took them for independent would be far too
// narrow. Requests are therefore dealt into groups, and the spread between
// groups says how much the pooled figure can be trusted.
type pooled struct {
	groups [groupCount]*stat.Shares
}

const (
	groupCount = 16
	minGroups  = 6 // fewer say too little about their spread
)

// groupOf deals requests out by their ordinal, whatever order they come in.
func groupOf(request int64) int {
	return int(uint64(request) % groupCount)
}

func (p *pooled) group(i int) *stat.Shares {
	if p.groups[i] == nil {
		p.groups[i] = &stat.Shares{}
	}
	return p.groups[i]
}

func (p *pooled) merge(o *pooled) {
	for i, g := range o.groups {
		if g != nil {
			p.group(i).Merge(g)
		}
	}
}

// frozen returns the values of several pools in milliseconds, as a whole and by
// group.
func frozen(pools ...*pooled) (whole *stat.Counted, groups []*stat.Counted) {
	var all stat.Shares
	for i := range groupCount {
		var group stat.Shares
		for _, p := range pools {
			if p.groups[i] != nil {
				group.Merge(p.groups[i])
			}
		}
		if group.Len() > 0 {
			groups = append(groups, group.Frozen(1000))
			all.Merge(&group)
		}
	}
	return all.Frozen(1000), groups
}

// pooledDist describes a pooled sample.
func pooledDist(pools ...*pooled) Dist {
	whole, groups := frozen(pools...)
	m, ok := whole.Moments()
	d := distOf(whole, m, ok)
	for name, q := range percentiles {
		if ci, have := d.CI95[name]; have {
			lo, hi, ok := clusterInterval(whole, groups, q)
			if !ok {
				delete(d.CI95, name)
				continue
			}
			d.CI95[name] = [2]float64{min(ci[0], lo), max(ci[1], hi)}
		}
	}
	if ci, have := d.CI95["mean"]; have {
		half, ok := clusterMean(groups, m)
		if !ok {
			delete(d.CI95, "mean")
		} else {
			d.CI95["mean"] = [2]float64{max(min(ci[0], m.Mean-half), 0), max(ci[1], m.Mean+half)}
		}
	}
	return d
}

// clusterInterval is an interval of the q-quantile from the spread, between
// groups, of the share of values that do not exceed it.
func clusterInterval(whole *stat.Counted, groups []*stat.Counted, q float64) (lo, hi float64, ok bool) {
	value, ok := stat.Quantile(whole, q)
	if !ok || len(groups) < minGroups {
		return 0, 0, false
	}
	n := float64(whole.Len())
	below := float64(whole.AtMost(value)) / n
	var squares float64
	for _, g := range groups {
		d := float64(g.AtMost(value)) - below*float64(g.Len())
		squares += d * d
	}
	half := spreadOf(squares, len(groups)) / n
	if q+half > 1 || q-half < 0 {
		return 0, 0, false
	}
	lo, _ = stat.Quantile(whole, q-half)
	hi, _ = stat.Quantile(whole, q+half)
	return lo, hi, true
}

// clusterMean is the half-width of an interval of the pooled mean.
func clusterMean(groups []*stat.Counted, m stat.Moments) (half float64, ok bool) {
	if len(groups) < minGroups {
		return 0, false
	}
	var squares float64
	for _, g := range groups {
		part, _ := g.Moments()
		d := (part.Mean - m.Mean) * float64(part.N)
		squares += d * d
	}
	return spreadOf(squares, len(groups)) / float64(m.N), true
}

// spreadOf turns the squared deviations of group totals into the half-width of
// a 95 % interval of their sum.
func spreadOf(squares float64, groups int) float64 {
	g := float64(groups)
	return stat.StudentQuantile(0.975, g-1) * math.Sqrt(g/(g-1)*squares)
}

// percentiles are those of every Dist.
var percentiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// distOf describes an ordered sample. Values are taken for independent.
func distOf(s stat.Ordered, m stat.Moments, ok bool) Dist {
	d := Dist{N: s.Len(), CI95: map[string][2]float64{}}
	if !ok {
		return d
	}
	d.Mean = timeline.Some(m.Mean)
	if m.N > 1 {
		d.SD = timeline.Some(m.SD)
	}
	d.Min, d.Max = timeline.Some(s.At(0)), timeline.Some(s.At(s.Len()-1))
	for name, into := range map[string]*timeline.Opt[float64]{
		"p50": &d.P50, "p90": &d.P90, "p95": &d.P95, "p99": &d.P99, "p999": &d.P999,
	} {
		if x, ok := stat.Quantile(s, percentiles[name]); ok {
			*into = timeline.Some(x)
		}
		if lo, hi, ok := stat.QuantileInterval(s, percentiles[name], 0.95); ok {
			d.CI95[name] = [2]float64{lo, hi}
		}
	}
	if lo, hi, ok := stat.MeanInterval(m.Mean, m.SD, m.N, 0.95); ok {
		d.CI95["mean"] = [2]float64{lo, hi}
	}
	return d
}
