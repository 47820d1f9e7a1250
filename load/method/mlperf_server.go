package method

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
)

func prepareServer(m *Method, o *Options) (*Steps, error) {
	l, err := m.limitsOf(o)
	if err != nil {
		return nil, err
	}
	texts := []string{fmt.Sprintf("p99 ttft < %gms", l.ttft), fmt.Sprintf("p99 tpot < %gms", l.tpot)}
	objectives, err := objective.ParseAll(texts)
	if err != nil {
		return nil, err
	}
	o.Base.Objectives = objectives
	rate := o.Base.Rate
	want := ask{duration: minTime, arrival: "poisson", grace: 10 * time.Minute, ignoreEOS: o.Base.IgnoreEOS}
	out := &Steps{}
	out.At = func(rate float64) {
		want.rate = rate
		out.Cells = []sweep.Cell{o.cell(rate, number(rate), want)}
	}
	if list := o.Lists[sweep.Rate]; len(list) > 0 {
		for _, r := range list {
			want.rate = r
			out.Cells = append(out.Cells, o.cell(r, number(r), want))
		}
		return out, nil
	}
	if rate > 0 {
		out.At(rate)
		return out, nil
	}
	out.Search = &sweep.Search{Objectives: objectives}
	out.Probes = o.Base
	out.Probes.Requests, out.Probes.Duration, out.Probes.AllowLowN = 0, 0, true
	return out, nil
}

// readServer reads the run at the rate that was found or asked for, or at one of several.
func readServer(m *Method, o *Options, s *result.Sweep, out *result.Method) {
	if s.Searched() || len(s.Points) < 2 {
		m.readRate(o, s, measured(s), out)
		return
	}
	*out = ofRates(s.Points, func(p *result.Point) result.Method {
		one := *out
		one.Why, one.Fields, one.Rules = slices.Clone(out.Why), slices.Clone(out.Fields), slices.Clone(out.Rules)
		m.readRate(o, s, p, &one)
		return one
	})
}

// ofRates chooses among runs at several rates: the largest whose run is VALID, which is
// what would be handed in; where none is, the smallest.
func ofRates(points []result.Point, read func(*result.Point) result.Method) (out result.Method) {
	order := make([]*result.Point, len(points))
	for i := range points {
		order[i] = &points[i]
	}
	slices.SortStableFunc(order, func(a, b *result.Point) int { return cmp.Compare(b.Value, a.Value) })
	for _, p := range order {
		if out = read(p); out.Verdict == valid {
			out.Rules = append(out.Rules, fmt.Sprintf("the figures are of the largest of %s whose run is VALID: %s requests/s", metric.Plural(int64(len(order)), "rate"), number(p.Value)))
			return out
		}
	}
	out.Why = append(out.Why, fmt.Sprintf("none of %s is VALID; the figures are of the smallest, %s requests/s", metric.Plural(int64(len(order)), "rate"), number(order[len(order)-1].Value)))
	return out
}

// readRate reads the run at one rate.
func (m *Method) readRate(o *Options, s *result.Sweep, p *result.Point, out *result.Method) {
	v, ok := lookOrWhy(s, p, out)
	if !ok {
		return
	}
	l := limitsOfObjectives(o)
	t := v.lastDone - v.from
	field(out, "Scheduled samples per second", "samples/s", some(p.OfferedPerS.Or(p.Value)), "")
	field(out, "Completed samples per second", "samples/s", ratio(float64(len(v.good)-1), t), "(N − 1) / T, T = when the query issued last was complete")
	field(out, "Completed tokens per second", "tokens/s", over(v.sum(outputs), t), "all tokens / T")
	firsts, paces := v.values(ttft), v.values(tpot)
	for _, x := range []struct {
		name  string
		v     stat.Sorted
		limit float64
		short string
	}{{"First Token latency", firsts, l.ttft, "TTFT"}, {"Time per Output Token", paces, l.tpot, "TPOT"}} {
		field(out, "99.00 percentile "+x.name, "ms", rank(x.v, tail), fmt.Sprintf("limit %g ms", x.limit))
		estimate := opt{}
		if b, ok := stat.UpperBound(x.v, tail, confidence); ok {
			estimate = some(b)
		}
		field(out, "99.00 percentile "+x.name+", early stopping estimate", "ms", estimate, fmt.Sprintf("n = %d; 662 are needed for any", len(x.v)))
		if got, ok := rank(x.v, tail).Get(); !ok || !(got < x.limit) {
			out.Why = append(out.Why, fmt.Sprintf("p99 of %s is not below %g ms", x.short, x.limit))
		}
		missing := 0
		if x.short == "TTFT" {
			missing = v.failed()
		}
		c := earlyStop(x.v, x.limit, missing)
		if c.more > 0 {
			out.Why = append(out.Why, c.words(x.short))
		}
	}
	conclude(out, p, &v, v.lasted, "ttft", "tpot", "system_output_tps")
}
