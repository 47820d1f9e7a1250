package metric

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// pooled is a sample of gaps over all requests, in µs. The gaps of one request
// are alike, and those of requests that ran together too. They are therefore kept
// by stretches of time, and the spread between stretches says how much the pooled
// figure can be trusted. A stretch is as long as it takes for all to find room: its
// length is doubled, and neighbours become one, as the run grows.
type pooled struct {
	stretches [stretchCount]*stat.Shares
	doubled   int // how often the shortest length was
}

const (
	stretchCount = 32 // 16 to 32 are used, of a run without a warm-up
	shortestUS   = 100_000
	lastDueUS    = 1 << 60 // a later one is damage; twice as much would not fit
)

// at is the stretch of requests due at a time.
func (p *pooled) at(dueUS int64) *stat.Shares {
	dueUS = min(max(dueUS, 0), lastDueUS)
	for dueUS >= int64(shortestUS*stretchCount)<<p.doubled {
		p.double()
	}
	i := dueUS / (shortestUS << p.doubled)
	if p.stretches[i] == nil {
		p.stretches[i] = &stat.Shares{}
	}
	return p.stretches[i]
}

func (p *pooled) double() {
	old := p.stretches
	p.stretches = [stretchCount]*stat.Shares{}
	p.doubled++
	for i, s := range old {
		p.put(i/2, s)
	}
}

// put adds values to a stretch; nil are none.
func (p *pooled) put(stretch int, s *stat.Shares) {
	switch into := &p.stretches[stretch]; {
	case s == nil:
	case *into == nil:
		*into = s
	default:
		(*into).Merge(s)
	}
}

func (p *pooled) merge(o *pooled) {
	for p.doubled < o.doubled {
		p.double()
	}
	for o.doubled < p.doubled {
		o.double()
	}
	for i, s := range o.stretches {
		p.put(i, s)
	}
}

// align gives all pools stretches of one length.
func (c *Collector) align() {
	pools := []*pooled{&c.gaps, &c.itl, &c.icl, &c.lag}
	longest := 0
	for _, p := range pools {
		longest = max(longest, p.doubled)
	}
	for _, p := range pools {
		for p.doubled < longest {
			p.double()
		}
	}
}

// frozen returns the values of several aligned pools in milliseconds, as a whole and
// by stretch, from the first that holds any to the last.
func frozen(pools ...*pooled) (whole *stat.Counted, stretches []*stat.Counted) {
	var all stat.Shares
	last := 0
	for i := range stretchCount {
		var stretch stat.Shares
		for _, p := range pools {
			if p.stretches[i] != nil {
				stretch.Merge(p.stretches[i])
			}
		}
		if stretch.Len() > 0 {
			last = len(stretches) + 1
		}
		if last > 0 {
			stretches = append(stretches, stretch.Frozen(1000))
			all.Merge(&stretch)
		}
	}
	return all.Frozen(1000), stretches[:last]
}

// pooledDist describes a pooled sample; requests are the series of the requests that
// brought its values.
func pooledDist(requests *stat.Series, pools ...*pooled) Dist {
	whole, stretches := frozen(pools...)
	m, ok := whole.Moments()
	d := distOf(whole, m, ok)
	if !ok || len(requests.Values) == 0 {
		return d
	}
	worth := requests.Worth()
	d.Worth = timeline.Some(worth.Moments())
	parts := make([]stat.Pair, len(stretches))
	for name, p := range percentiles {
		limit, _ := stat.NearestRank(whole, p)
		for i, s := range stretches {
			parts[i] = stat.Pair{Num: float64(s.Len() - s.AtMost(limit)), Den: float64(s.Len())}
		}
		d.take(name, stat.PooledQuantile(whole, parts, worth, p, 0.95))
	}
	for i, s := range stretches {
		part, _ := s.Moments()
		parts[i] = stat.Pair{Num: part.Mean * float64(part.N), Den: float64(part.N)}
	}
	d.take("mean", stat.PooledMean(parts, m.SD, worth, 0.95))
	return d
}

// percentiles are those of every Dist.
var percentiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// distOf describes a sample, without intervals.
func distOf(s stat.Ordered, m stat.Moments, ok bool) Dist {
	d := Dist{N: s.Len(), CI95: map[string][2]float64{}}
	if !ok {
		return d
	}
	d.Mean = timeline.Some(m.Mean)
	d.SD = timeline.Maybe(m.SD, m.N > 1)
	d.Min, d.Max = timeline.Some(s.At(0)), timeline.Some(s.At(s.Len()-1))
	for _, f := range d.Figures() {
		if p, is := percentiles[f.Name]; is {
			*f.Value = quantile(s, p)
		}
	}
	return d
}

// seriesDist describes values in the order in which their requests were due.
func seriesDist(s *stat.Series) Dist {
	sorted := s.Sorted()
	m, ok := sorted.Moments()
	d := distOf(sorted, m, ok)
	if !ok {
		return d
	}
	d.take("mean", s.Mean(0.95))
	for name, p := range percentiles {
		d.take(name, s.Quantile(p, 0.95))
	}
	d.Worth = timeline.Some(s.Worth().Moments())
	return d
}

// take enters a figure's interval, or how many times as long a run would have one.
func (d *Dist) take(name string, iv stat.Interval) {
	if iv.Given {
		d.CI95[name] = [2]float64{iv.Lo, iv.Hi}
		return
	}
	if d.Needs == nil {
		d.Needs = map[string]float64{}
	}
	d.Needs[name] = iv.NeedFactor
}
