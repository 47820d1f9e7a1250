package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// pairing is runs of the baseline and of a candidate that did the same work.
type pairing struct {
	candidate int
	label     string // the workload, where there are several
	a, b      []*Run
	refused   bool              // not comparable as a whole
	unlike    map[string]string // metric key → why it can't be compared
}

// finding is one figure of both sides and the test of its difference.
type finding struct {
	a, b     opt
	na, nb   int64
	interval *[2]float64 // of the ratio b/a; of shares of the difference b − a
	p        opt
	// permutation is what dealing the runs (or blocks) anew says.
	permutation opt
	unit        Unit
	runs        [2]int
	why         string // why there is no test
	needed      int64  // the requests a side that a test needs, where they are too few; 0: unknown
}

// sides are the series of a metric on both sides.
type sides struct{ a, b []series }

func (p *pairing) sides(m *measure) sides {
	return sides{seriesOf(p.a, m), seriesOf(p.b, m)}
}

// seriesOf are the series of the runs that have the metric.
func seriesOf(runs []*Run, m *measure) (list []series) {
	for _, r := range runs {
		if s := r.series[m.key]; s != nil {
			list = append(list, s)
		}
	}
	return list
}

// unit is the run where there are enough of them to see how runs differ.
func (s sides) unit() Unit {
	if len(s.a)+len(s.b) >= 4 {
		return ByRun
	}
	return ByRequest
}

// find computes a row; nil when neither side has the metric.
func (p *pairing) find(m *measure, name string, o *Options) *finding {
	if p.hasTold() {
		return p.findTold(m, name)
	}
	s := p.sides(m)
	if len(s.a) == 0 && len(s.b) == 0 {
		return nil
	}
	f := &finding{unit: s.unit(), runs: [2]int{len(s.a), len(s.b)}}
	if paired, ok := p.rounds(m); ok && m.kind != ofShare {
		s, f.unit = paired, ByRound
	}
	f.a, f.na = figureOf(p.a, m, name)
	f.b, f.nb = figureOf(p.b, m, name)
	if f.why = p.untestable(m, len(s.a) > 0, len(s.b) > 0, "did not measure"); f.why == "" {
		f.why = tooFew(s, m, name, f, o)
	}
	switch {
	case f.why != "":
	case m.kind == ofShare:
		f.shares(s)
	case f.unit == ByRound:
		f.byRound(s, m, name)
	case f.unit == ByRun:
		f.byRun(s, m, name, o)
	default:
		f.byRequest(s, m, name, o)
	}
	return f
}

// untestable says why figures that a side may not have can't be tested.
func (p *pairing) untestable(m *measure, a, b bool, lacks string) string {
	switch {
	case !a:
		return "the baseline " + lacks + " it"
	case !b:
		return "the candidate " + lacks + " it"
	case p.refused:
		return "not comparable"
	}
	return p.unlike[m.key]
}

// percentileOf reads "p99"; ok is false for mean, share and rate.
func percentileOf(name string) (p float64, ok bool) {
	digits, ok := strings.CutPrefix(name, "p")
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0 && x < 100) {
		return 0, false
	}
	return math.Round(x*1e8) / 1e10, true
}

// leastRequests is the number of requests, or blocks of them, below which
// nothing can be said of how a run varies.
const leastRequests = 16

// tooFew says why a sample can't be tested.
func tooFew(s sides, m *measure, name string, f *finding, o *Options) string {
	n := min(f.na, f.nb)
	if p, ok := percentileOf(name); ok && m.kind != ofGaps && !o.AllowLowN {
		if need := int64(math.Ceil(1/(1-p) - 1e-9)); n < need {
			return fmt.Sprintf("%s needs %s %s a side, there are %s", name, typeset.Exact(need), m.ones(), typeset.Exact(n))
		}
	}
	if f.unit != ByRequest {
		return ""
	}
	if s.whole() {
		return "the baseline file keeps each of its runs as a whole, for two sides of several runs"
	}
	if m.kind == ofShare {
		return ""
	}
	if have := min(pieces(s.a), pieces(s.b)); have < leastRequests {
		return fmt.Sprintf("single runs need %d %s, there are %d", leastRequests, m.ones(), have)
	}
	return ""
}

// whole reports whether a side is a run of a baseline file that was saved as one
// of several, so that nothing tells how it varies inside.
func (s sides) whole() bool {
	few := func(list []series) bool {
		parts := 0
		for _, s := range list {
			parts += s.blocks()
		}
		return parts < leastRequests && pieces(list) >= leastRequests
	}
	return few(s.a) || few(s.b)
}

func pieces(list []series) int {
	n := 0
	for _, s := range list {
		n += s.requests()
	}
	return n
}

// value is the figure of one side: percentiles of all its values together,
// never a mean of percentiles.
func value(list []series, m *measure, name string) (v opt, n int64) {
	if len(list) == 0 {
		return opt{}, 0
	}
	if p, ok := percentileOf(name); ok {
		for _, s := range list {
			n += int64(math.Round(s.count()))
		}
		return percentile(list, p), n
	}
	var parts []stat.Pair
	for _, s := range list {
		t := s.figure()
		parts = append(parts, t)
		if m.kind == ofRate {
			n += int64(s.requests())
		} else {
			n += int64(math.Round(t.Den))
		}
	}
	r, ok := stat.RatioOf(parts)
	if !ok {
		return opt{}, n
	}
	return finite(r.Value), n
}

// percentile is exact where every value is known.
func percentile(list []series, p float64) opt {
	if o := exactly(list); o != nil {
		v, ok := stat.Quantile(o, p)
		return timeline.Maybe(v, ok && finite(v).OK())
	}
	if b, ok := list[0].(*binned); ok && len(list) == 1 {
		if v, ok := b.exact(p); ok {
			return finite(v)
		}
	}
	return finite(inverse(list, p))
}

// inverse is the p-quantile by bisection on the counts.
func inverse(list []series, p float64) float64 { return pooledQuantile(list, nil, 1, p) }

// merged is several ordered samples as one.
func merged(list []stat.Ordered) stat.Ordered {
	if len(list) == 1 {
		return list[0]
	}
	var s stat.Sample
	for _, o := range list {
		for i := range o.Len() {
			s.Add(o.At(i))
		}
	}
	return s.Sorted()
}

// alikeSeries reports whether two metrics have the same values.
func alikeSeries(a, b []series) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		switch x := a[i].(type) {
		case *listed:
			y, ok := b[i].(*listed)
			if !ok || !slices.Equal(x.values, y.values) && !slices.Equal(x.ascending(), y.ascending()) {
				return false
			}
		case *binned:
			y, ok := b[i].(*binned)
			if !ok || !slices.Equal(x.edges, y.edges) || !slices.Equal(x.total, y.total) {
				return false
			}
		}
	}
	return true
}

// pooledQuantile is the p-quantile of the values of a and of those of b
// divided by ratio, all together.
func pooledQuantile(a, b []series, ratio, p float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	n := 0.0
	each := func(list []series, ratio float64) {
		for _, s := range list {
			l, h := s.extent()
			lo, hi = min(lo, l/ratio), max(hi, h/ratio)
			n += s.count()
		}
	}
	each(a, 1)
	each(b, ratio)
	want := p * n
	for i := 0; i < 100 && hi-lo > 1e-12*math.Abs(hi); i++ {
		mid := lo + (hi-lo)/2
		below := 0.0
		for _, s := range a {
			below += s.atMost(mid)
		}
		for _, s := range b {
			below += s.atMost(mid * ratio)
		}
		if below < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func some(v float64) opt { return timeline.Some(v) }
