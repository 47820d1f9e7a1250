package compare

import "slices"

// pool is percentiles of all values of several runs together, exact, as a
// baseline file keeps them: its histograms alone would give them nearly.
type pool struct {
	runs        []*Run
	percentiles map[string]map[string]float64 // metric key → p95 → value
}

// keptPercentiles are those a file holds exactly, of every metric.
var keptPercentiles = append(slices.Clone(drawnPercentiles), "p99.9")

// percentilesKept are those a file holds exactly of a metric: the usual ones,
// and what gates name.
func percentilesKept(key string, gates []Gate) []string {
	list := keptPercentiles
	for _, g := range gates {
		if g.measure == nil || g.measure.key != key || slices.Contains(list, g.Stat) {
			continue
		}
		if _, ok := percentileOf(g.Stat); ok {
			list = append(slices.Clip(list), g.Stat)
		}
	}
	return list
}

// pooledPercentiles are the percentiles of all values of several runs.
func pooledPercentiles(runs []*Run, gates []Gate) map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for i := range measures {
		m := &measures[i]
		if m.kind == ofShare || m.kind == ofRate || !keeps(m.key, gates) || len(seriesOf(runs, m)) == 0 {
			continue
		}
		out[m.key] = map[string]float64{}
		for _, name := range percentilesKept(m.key, gates) {
			v, _ := figureOf(runs, m, name)
			if x, ok := v.Get(); ok {
				out[m.key][name] = x
			}
		}
	}
	return out
}

// pooled is a percentile that a baseline file keeps of just these runs.
func pooled(runs []*Run, key, name string) (v float64, ok bool) {
	if len(runs) == 0 {
		return 0, false
	}
	for _, p := range runs[0].pools {
		if slices.Equal(p.runs, runs) {
			v, ok = p.percentiles[key][name]
		}
	}
	return v, ok
}

// figureOf is the figure of runs together, and of how many values it is. Of several
// summaries there is none.
func figureOf(runs []*Run, m *measure, name string) (v opt, n int64) {
	if slices.ContainsFunc(runs, isTold) {
		if len(runs) == 1 {
			return runs[0].figure(m, name)
		}
		return opt{}, 0
	}
	v, n = value(seriesOf(runs, m), m, name)
	if x, ok := pooled(runs, m.key, name); ok {
		v = finite(x)
	}
	return v, n
}
