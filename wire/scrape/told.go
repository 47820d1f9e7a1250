package scrape

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// told sums up what was read between the first reading and the last of the
// measured part; nil: there are none.
func (w *Watcher) told() *metric.ServerMetrics {
	m := &metric.ServerMetrics{EveryS: w.watch.Every.Seconds(), Gauges: map[string]metric.ServerGauge{},
		Counters: map[string]metric.ServerCounter{}, Times: map[string]metric.ServerTime{}}
	all := account{counts: map[string]float64{}, times: map[string]histogram{}}
	perS := map[string]float64{} // each page's over its own time: one may be read late, or fall silent
	from, to, read := int64(math.MaxInt64), int64(-1), false
	for _, p := range w.pages {
		if p.readings == 0 {
			if !p.Guessed {
				m.Sources = append(m.Sources, metric.ServerSource{URL: w.watch.Show(p.URL), Failed: p.failed})
			}
			continue
		}
		m.Sources = append(m.Sources, metric.ServerSource{URL: w.watch.Show(p.URL), Engine: p.book.engine.name,
			Readings: p.readings, Failed: p.failed, Restarts: p.book.restarts})
		read = true
		if m.Engine == "" && !p.book.engine.readsGPUs() {
			m.Engine = p.book.engine.name
		}
		if p.first == nil || p.final.atUS <= p.first.atUS {
			continue // one reading tells no growth
		}
		from, to = min(from, p.first.atUS), max(to, p.final.atUS)
		all.grow(p.first, p.final)
		for name, v := range p.final.counts {
			perS[name] += (v - p.first.counts[name]) / (float64(p.final.atUS-p.first.atUS) / 1e6)
		}
	}
	if !read {
		return nil
	}
	if to > from {
		m.FromS, m.ToS = timeline.Some(float64(from)/1e6), timeline.Some(float64(to)/1e6)
	}
	w.gauges(m)
	for name, v := range all.counts {
		m.Counters[name] = metric.ServerCounter{Total: v, PerS: timeline.Some(perS[name])}
	}
	for name, h := range all.times {
		m.Times[name] = h.time()
	}
	shares(m)
	return m
}

// grow adds what a page's counters grew from one account to another.
func (a *account) grow(from, to *account) {
	for name, v := range to.counts {
		a.counts[name] += v - from.counts[name]
	}
	for name, h := range to.times {
		sum, old := a.times[name], from.times[name]
		sum.n += h.n - old.n
		sum.sum += h.sum - old.sum
		if sum.upTo == nil {
			sum.upTo = map[float64]float64{}
		}
		for le, n := range h.upTo {
			sum.upTo[le] += n - old.upTo[le]
		}
		a.times[name] = sum
	}
}

// gauges are over the readings of the measured part. Of several pages each moment
// that one of them was read is a moment of all, with the others' last values, from
// when all that have the gauge were read; what a page said before it fell silent is
// nobody's reading of later.
func (w *Watcher) gauges(m *metric.ServerMetrics) {
	type reading struct {
		atUS  int64
		value float64
	}
	pages := map[string]map[int]bool{} // that have each gauge
	for _, r := range w.rows {
		if pages[r.Name] == nil {
			pages[r.Name] = map[int]bool{}
		}
		pages[r.Name][r.Source] = true
	}
	silentUS := max(StaleAfter, 2*w.watch.Every*time.Duration(w.keep)).Microseconds()
	type state struct {
		last map[int]reading
		seen int // pages so far
		sum  float64
		n    int
		g    metric.ServerGauge
	}
	states := map[string]*state{}
	for _, r := range w.rows {
		k, known := metrics[r.Name]
		if !known || k != amount && k != share {
			continue
		}
		s := states[r.Name]
		if s == nil {
			s = &state{last: map[int]reading{}, g: metric.ServerGauge{Min: math.Inf(1), Max: math.Inf(-1)}}
			states[r.Name] = s
		}
		if pages[r.Name][r.Source] {
			pages[r.Name][r.Source] = false
			s.seen++
		}
		s.last[r.Source] = reading{r.AtUS, r.Value}
		if w.measureUS < 0 || r.AtUS < w.measureUS || s.seen < len(pages[r.Name]) {
			continue
		}
		v := 0.0
		for page, x := range s.last {
			if r.AtUS-x.atUS > silentUS {
				delete(s.last, page)
				continue
			}
			v += x.value
		}
		if k == share || r.Name == "spec_accept_length" {
			v /= float64(len(s.last))
		}
		s.sum += v
		s.n++
		s.g.Min, s.g.Max = min(s.g.Min, v), max(s.g.Max, v)
	}
	for name, s := range states {
		if s.n > 0 {
			s.g.Mean = s.sum / float64(s.n)
			m.Gauges[name] = s.g
		}
	}
}

// shares are figures made of two counters; where there are none, a gauge that the
// engine makes itself.
func shares(m *metric.ServerMetrics) {
	of := func(part, whole string) timeline.Opt[float64] {
		n, ok := m.Counters[part]
		if all := m.Counters[whole].Total; ok && all > 0 {
			return timeline.Some(n.Total / all)
		}
		return timeline.Opt[float64]{}
	}
	gauge := func(name string) timeline.Opt[float64] {
		if g, ok := m.Gauges[name]; ok {
			return timeline.Some(g.Mean)
		}
		return timeline.Opt[float64]{}
	}
	m.PrefixHitRate = cmp.Or(of("prefix_hits", "prefix_queries"), gauge("prefix_hit_rate"))
	m.SpecAcceptance = cmp.Or(of("spec_accepted_tokens", "spec_draft_tokens"), gauge("spec_accept_rate"))
	m.SpecLength = gauge("spec_accept_length")
	if more, ok := of("spec_accepted_tokens", "spec_drafts").Get(); ok {
		m.SpecLength = timeline.Some(1 + more)
	}
}

func (h *histogram) time() metric.ServerTime {
	t := metric.ServerTime{N: int64(h.n)}
	if t.N > 0 {
		if mean := 1e3 * h.sum / h.n; finite(mean) {
			t.MeanMS = timeline.Some(mean)
		}
		t.P50MS, t.P90MS, t.P99MS = h.quantile(0.5), h.quantile(0.9), h.quantile(0.99)
	}
	return t
}

// quantile is interpolated within its bucket, as Prometheus's histogram_quantile
// does; null in the last one, which has no end, and in the first, which may be
// much wider than its values: vLLM's of the queue ends at 300 ms.
func (h *histogram) quantile(q float64) timeline.Opt[float64] {
	bounds := slices.Sorted(maps.Keys(h.upTo))
	low, below := 0.0, 0.0
	for i, le := range bounds {
		n := h.upTo[le]
		if n >= q*h.n && n > below {
			if i == 0 || math.IsInf(le, 1) {
				break
			}
			if ms := 1e3 * (low + (le-low)*(q*h.n-below)/(n-below)); finite(ms) {
				return timeline.Some(ms)
			}
			break
		}
		low, below = le, n
	}
	return timeline.Opt[float64]{}
}
