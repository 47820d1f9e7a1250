package history

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/stat"
	"tokenmeter/service/slo"
	"tokenmeter/service/traffic"
)

// Distribution is a metric of the requests of one source that went one way.
// Those of all ways are merged when they are read.
type Distribution struct {
	Metric string // as objectives call it: ttft
	Source slo.Source
	Labels slo.Labels
}

// Name is what the sketches of a distribution are kept under: readable for
// those who look into the store, "ttft?model=m&route=chat&source=live".
func (d Distribution) Name() string {
	values := url.Values{"source": {string(d.Source)}}
	for name, value := range d.Labels {
		if value != "" {
			values.Set(name, value)
		}
	}
	return d.Metric + "?" + values.Encode()
}

// ParseDistribution reads a Name; ok is false for one of another kind.
func ParseDistribution(name string) (d Distribution, ok bool) {
	metric, rest, found := strings.Cut(name, "?")
	values, err := url.ParseQuery(rest)
	if !found || err != nil || values.Get("source") == "" {
		return d, false
	}
	d = Distribution{metric, slo.Source(values.Get("source")), slo.Labels{}}
	for name := range values {
		if name != "source" {
			d.Labels[name] = values.Get(name)
		}
	}
	return d, true
}

// distributed are the metrics whose distributions are kept: times of a request,
// in milliseconds.
var distributed = []string{"ttft", "ttfo", "tpot", "e2e"}

// LabelsOf are the dimensions of a live request.
func LabelsOf(l *traffic.Labels) slo.Labels {
	return slo.Labels{"listener": l.Listener, "route": l.Route, "upstream": l.Upstream, "model": l.Model, "api": l.API}
}

// Request adds a finished request to its distributions. One that failed is
// beyond every value, as objectives count it as bad; one that was cancelled, and
// a metric that does not apply, add nothing.
func (r *Recorder) Request(source slo.Source, labels slo.Labels, at time.Time, record *metric.Record) {
	if !record.Phase.Counts() || record.Outcome.Cancelled() {
		return
	}
	way := Distribution{"", source, labels}.Name()
	for _, name := range distributed {
		v, ok := objective.ValueOf(name)(record).Get()
		if record.Outcome.Failed() {
			v, ok = math.Inf(1), true
		}
		if ok {
			r.Observe(name+way, at, v)
		}
	}
}

// Percentiles fills in those of the metrics that objectives are about, each over
// the objective's window, from what stores keep of live requests. What lies in
// corrections is in them; what came at until or later, unless that is zero, is
// not, and neither is the step in which it lies.
func Percentiles(ctx context.Context, stores []Reader, objectives []*slo.Objective, results []slo.Result, until time.Time) error {
	names := make([][]string, len(stores))
	for i, s := range stores {
		var err error
		if names[i], err = s.SketchNames(ctx); err != nil {
			return err
		}
	}
	for i := range results {
		r := &results[i]
		to := until
		if to.IsZero() {
			to = r.To.Add(SketchTiers[len(SketchTiers)-1].Step) // nothing came yet
		}
		at := slices.IndexFunc(objectives, func(o *slo.Objective) bool { return o.Name == r.Name })
		if at < 0 {
			continue
		}
		o := objectives[at]
		for _, m := range metricsOf(o) {
			merged := &stat.Sketch{}
			for k, s := range stores {
				for _, name := range names[k] {
					d, ok := ParseDistribution(name)
					if !ok || d.Metric != m || d.Source != r.Source || !o.Applies(d.Labels) || r.Group != "" && o.Group(d.Labels) != r.Group {
						continue
					}
					part, err := s.Sketch(ctx, name, r.From, to)
					if err != nil {
						return err
					}
					merged.Merge(part)
				}
			}
			if leavesOutFailed(o, m) {
				merged.DropInf()
			}
			if merged.Len() > 0 {
				r.Percentiles = append(r.Percentiles, slo.PercentilesOf(m, merged))
			}
		}
	}
	return nil
}

// leavesOutFailed reports whether an objective does not count failed requests,
// so that its percentiles do not either.
func leavesOutFailed(o *slo.Objective, metric string) bool {
	return slices.ContainsFunc(o.Promises, func(p objective.Objective) bool { return p.Metric == metric && p.Valid == "success" })
}

// metricsOf are the kept metrics of an objective's promises.
func metricsOf(o *slo.Objective) (names []string) {
	for _, p := range o.Promises {
		if slices.Contains(distributed, p.Metric) && !slices.Contains(names, p.Metric) {
			names = append(names, p.Metric)
		}
	}
	return names
}
