package view

import (
	"fmt"
	"math"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// precision is what a percentile is worth asking for: an interval of ± 10 %.
const precision = 0.10

// next is the one thing worth doing now.
func next(r *run.Run) string {
	if r.Told != nil {
		return ""
	}
	if r.Requests.Total == 0 || r.Requests.OK == 0 {
		return check(r)
	}
	if v := verdict(r); v == Invalid || v == Suspect {
		return "" // the failing checks say what to do
	}
	if s := unsettled(r); s != "" {
		return s
	}
	return loose(r)
}

// check is the command that finds out why nothing answers.
func check(r *run.Run) string {
	if r.Target.URL == "" {
		return "tokenmeter doctor"
	}
	return "tokenmeter doctor " + typeset.Quote(r.Target.URL)
}

// unsettled asks for the requests that would settle an objective.
func unsettled(r *run.Run) string {
	if r.Goodput == nil {
		return ""
	}
	for _, o := range r.Goodput.Objectives {
		v, ok := o.Value.Get()
		if settled, known := o.Settled.Get(); !known || settled || !ok || o.CI95 == nil || o.N == 0 {
			continue
		}
		gap := math.Abs(v - o.Limit)
		half := (o.CI95[1] - o.CI95[0]) / 2
		if gap == 0 || half <= gap {
			continue
		}
		more := float64(o.N)*(half/gap)*(half/gap) - float64(o.N)
		if more > 100*float64(o.N) {
			return fmt.Sprintf("%q is too close to its limit to be settled by more requests", o.Text)
		}
		return fmt.Sprintf("%q is not settled; about %s more requests may settle it", o.Text, typeset.Count(up(more)))
	}
	return ""
}

// loose names the percentile that rests on too little.
func loose(r *run.Run) string {
	best, text := 0.0, ""
	for _, m := range []struct{ key, name string }{{"ttft_ms", "TTFT"}, {"tpot_ms", "TPOT"}} {
		d := r.Metrics[m.key]
		v, ok := d.P99.Get()
		if !ok || v <= 0 || d.N == 0 {
			continue
		}
		ci, has := d.CI95["p99"]
		if !has {
			if d.Needs["p99"] == 0 { // an older folder, or another tool's
				continue
			}
			return shortRun(r, m.name, d)
		}
		half := max(ci[1]-v, v-ci[0]) / v
		if half <= precision || half <= best {
			continue
		}
		more := float64(d.N) * (half*half/precision/precision - 1)
		best, text = half, fmt.Sprintf("p99 %s rests on %s requests: %s; %s more for ± 10 %%",
			m.name, typeset.Count(d.N), rangeWords(ci, d), typeset.Count(up(more)))
	}
	return text
}

// shortRun says what the run is worth and how long one would do for a p99.
func shortRun(r *run.Run, name string, d metric.Dist) string {
	factor := d.Needs["p99"]
	text := fmt.Sprintf("p99 of %s: %s%s", name, typeset.Plural(d.N, "request"), WorthWords(d.N, d.Worth))
	window, ok := r.Throughput.WindowS.Get()
	if !ok || factor >= 1000 {
		return text + "; " + TimesWords(factor) + " the run at least"
	}
	return text + "; about " + spanWords(window*factor) + " would do"
}

// spanWords is a length of time for people, rounded up: 40 s, 8 min, 3 h.
func spanWords(s float64) string {
	switch {
	case s < 100:
		return fmt.Sprintf("%.0f s", math.Ceil(s))
	case s < 100*60:
		return fmt.Sprintf("%.0f min", math.Ceil(s/60))
	}
	return fmt.Sprintf("%.0f h", math.Ceil(s/3600))
}

// rangeWords is an interval with its unit.
func rangeWords(ci [2]float64, d metric.Dist) string {
	scale, unit := 1.0, "ms"
	if d.P99.Or(0) >= 10_000 {
		scale, unit = 1e3, "s"
	}
	_, lo, hi := typeset.Digits{}.Interval(d.P99.Or(0)/scale, ci[0]/scale, ci[1]/scale)
	return lo + "–" + hi + " " + unit
}

// up rounds a count of requests up, so that it is not more exact than it can be.
func up(n float64) int64 {
	if n < 100 {
		return int64(math.Ceil(n))
	}
	step := math.Pow10(typeset.Magnitude(n) - 1)
	return int64(math.Ceil(n/step) * step)
}

// offer proposes an objective to who has none, somewhat above what was
// measured.
func offer(r *run.Run) string {
	if r.Goodput != nil && len(r.Goodput.Objectives) > 0 {
		return ""
	}
	if r.Requests.OK == 0 {
		return ""
	}
	v, ok := r.Metrics["ttft_ms"].P95.Get()
	name := "ttft"
	if !ok || v <= 0 {
		v, ok = r.Metrics["e2e_ms"].P95.Get()
		name = "e2e"
	}
	if !ok || v <= 0 {
		return ""
	}
	limit := nice(v * 1.2)
	unit := "ms"
	if limit >= 1000 {
		limit, unit = limit/1000, "s"
	}
	return fmt.Sprintf(`none set; try --objective "p95 %s < %s%s"`, name, metric.Significant(limit, 1), unit)
}

// nice is the next number of the series 1, 2, 3, 5.
func nice(v float64) float64 {
	p := math.Pow10(typeset.Magnitude(v))
	for _, m := range []float64{1, 2, 3, 5} {
		if m*p >= v {
			return m * p
		}
	}
	return 10 * p
}
