package trend

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Spread is how a figure was distributed in a window. The percentiles are those
// of numpy's default (linear interpolation); null where nothing was measured.
type Spread struct {
	N   int                   `json:"n"`
	P5  timeline.Opt[float64] `json:"p5"`
	P25 timeline.Opt[float64] `json:"p25"`
	P50 timeline.Opt[float64] `json:"p50"`
	P75 timeline.Opt[float64] `json:"p75"`
	P95 timeline.Opt[float64] `json:"p95"`
	// Lo and Hi are the 95 % interval of the median; null where there are too few
	// values for one.
	Lo timeline.Opt[float64] `json:"p50_lo"`
	Hi timeline.Opt[float64] `json:"p50_hi"`
}

// Group is a target and a kind of probe.
type Group struct {
	Target string `json:"target"`
	Kind   string `json:"probe"`
	N      int    `json:"n"`
	Failed int    `json:"failed"`
	// Wrong of Checked answers were wrong.
	Wrong   int               `json:"wrong"`
	Checked int               `json:"checked"`
	Metrics map[string]Spread `json:"metrics"`
}

// ColdStart is the metric of what a cold start took beyond the same request
// asked again at once.
const ColdStart = "cold_start_ms"

// Medians groups rows, which are in order of time, by target and kind.
func Medians(rows []Row) (groups []Group) {
	type key struct{ target, kind string }
	values := map[key]*[len(names)][]float64{}
	starts := map[key][]float64{}
	at := map[key]int{}
	cold := map[key]Row{} // the last of each kind
	for i := range rows {
		r := &rows[i]
		k := key{r.Target, r.Kind}
		n, there := at[k]
		if !there {
			n = len(groups)
			at[k], values[k] = n, new([len(names)][]float64)
			groups = append(groups, Group{Target: r.Target, Kind: r.Kind})
		}
		g := &groups[n]
		g.N++
		if r.Failed {
			g.Failed++
		}
		if wrong, ok := r.Values[Wrong].Get(); ok {
			g.Checked++
			g.Wrong += int(wrong)
		}
		for m, v := range r.Values {
			if x, ok := v.Get(); ok && m != Errors && m != Wrong {
				values[k][m] = append(values[k][m], x)
			}
		}
		if first, ok := cutAgain(r.Kind); ok {
			was, warm := cold[key{r.Target, first}].Values[TTFT], r.Values[TTFT]
			if was.OK() && warm.OK() {
				k := key{r.Target, first}
				starts[k] = append(starts[k], was.Or(0)-warm.Or(0))
			}
			delete(cold, key{r.Target, first})
		} else {
			cold[k] = *r
		}
	}
	for k, n := range at {
		g := &groups[n]
		g.Metrics = map[string]Spread{}
		for m, name := range names {
			if m != Errors && m != Wrong {
				g.Metrics[name] = spreadOf(values[k][m])
			}
		}
		if list, ok := starts[k]; ok {
			g.Metrics[ColdStart] = spreadOf(list)
		}
	}
	sort.SliceStable(groups, func(i, j int) bool { return groups[i].Target < groups[j].Target })
	return groups
}

// Published is what a target's router said last of one of its providers.
type Published struct {
	Target string `json:"target"`
	run.Published
}

// PublishedOf is what was said last of each target within the rows' time.
func PublishedOf(rows []Row) (all []Published) {
	last := map[string][]run.Published{}
	for i := range rows {
		if r := &rows[i]; r.Published != nil {
			last[r.Target] = r.Published
		}
	}
	for _, target := range slices.Sorted(maps.Keys(last)) {
		for _, p := range last[target] {
			all = append(all, Published{target, p})
		}
	}
	return all
}

// again ends the kind of what follows a cold start (probe.Again).
const again = "-again"

func cutAgain(kind string) (first string, ok bool) {
	first, ok = strings.CutSuffix(kind, again)
	return first, ok && first != ""
}

// leastForMoments is from how many values on the dependence of values on each
// other is looked for: the fewest moments that an interval of a series needs.
const leastForMoments = 50

// spreadOf describes values in the order of their time.
func spreadOf(values []float64) (s Spread) {
	s.N = len(values)
	sorted := stat.Sorted(slices.Sorted(slices.Values(values)))
	for p, to := range map[float64]*timeline.Opt[float64]{.05: &s.P5, .25: &s.P25, .5: &s.P50, .75: &s.P75, .95: &s.P95} {
		*to = timeline.Maybe(stat.Quantile(sorted, p))
	}
	if s.N >= leastForMoments {
		series := stat.Series{Values: values}
		if in := series.Quantile(.5, .95); in.Given {
			s.Lo, s.Hi = timeline.Some(in.Lo), timeline.Some(in.Hi)
		}
		return s
	}
	// Probes that are hours apart share no queue.
	if lo, hi, ok := stat.QuantileInterval(sorted, float64(s.N), .5, .95); ok {
		s.Lo, s.Hi = timeline.Some(lo), timeline.Some(hi)
	}
	return s
}

// Window is what is told of: requests in [From, To).
type Window struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}
