package scrape

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"time"
)

// ledger keeps the counters of a page: what they grew since the first reading,
// also where they began anew because the server did.
type ledger struct {
	engine   *engine // nil: not known yet
	restarts int64
	counts   map[string]float64
	times    map[string]histogram
	seen     map[string]float64 // a series' last value
	begun    bool
}

// histogram is how many values there were, their sum, and how many up to a bound.
type histogram struct {
	n, sum float64
	upTo   map[float64]float64
}

// mostSeries bounds the memory for a page that makes up new labels each time.
const mostSeries = 1 << 16

var (
	errNoMetrics  = errors.New("it has none of the metrics that are known")
	errTooManyOne = errors.New("it shows ever new series")
)

// entry is a line of a page that leads somewhere.
type entry struct {
	target
	is    part
	le    float64
	key   string // of the series
	value float64
}

// enter takes a page into the books, and returns what is to be kept of it: gauges
// as they are, counters since the first reading.
func (l *ledger) enter(body []byte, now time.Time) (map[string]float64, error) {
	var found []entry
	told := map[string]bool{} // of devices that are there several times: a GPU in slices, or shared by pods
	err := samples(body, func(s *sample) {
		if !(s.value >= 0) || s.at != 0 && now.Sub(time.UnixMilli(s.at)) > StaleAfter {
			return
		}
		to, is := find(s.name)
		if to == nil || again(s) {
			return
		}
		e := entry{is: is, value: s.value, key: string(s.name) + "{" + string(s.labels)}
		if is == bucket {
			le, _ := s.label("le")
			bound, err := strconv.ParseFloat(string(le), 64)
			if err != nil || math.IsNaN(bound) || !math.IsInf(bound, 1) && !finite(bound) {
				return
			}
			e.le = bound
		}
		for _, e.target = range to {
			a := tablesRead().engines[e.engine].aliases[e.alias]
			if (metrics[a.as] == times) == (is == whole) {
				continue
			}
			if a.label != "" {
				if v, _ := s.label(a.label); string(v) != a.value {
					continue
				}
			}
			e := e // in our unit, of its alias and its device
			e.value *= a.unit
			e.key = a.as + " " + e.key
			if !finite(e.value) || tables[e.engine] == dcgm && blank(s.value) || a.as == "gpu_power_w" && e.value > mostPower {
				continue
			}
			if id := device(s); id != "" && (a.as == "gpu_power_w" || a.as == "gpu_energy_j") {
				if e.key = a.as + " " + string(s.name) + "{" + id; told[e.key] {
					continue
				}
				told[e.key] = true
			}
			found = append(found, e)
		}
	})
	if err != nil {
		return nil, err
	}
	if l.engine == nil {
		l.engine = mostNamed(found)
	}
	if l.engine == nil {
		return nil, errNoMetrics
	}
	return l.post(found)
}

// mostNamed is the engine whose metrics a page has most of.
func mostNamed(found []entry) (best *engine) {
	engines := tablesRead().engines
	seen, n := map[target]bool{}, make([]int, len(engines))
	for _, e := range found {
		e.rank = 0
		if !seen[e.target] {
			seen[e.target] = true
			n[e.engine]++
		}
	}
	most := 0
	for i, e := range engines {
		if n[i] > most {
			best, most = e, n[i]
		}
	}
	return best
}

// post adds what was found to the books.
func (l *ledger) post(found []entry) (map[string]float64, error) {
	if len(l.seen) > mostSeries { // labels that are new each time: no page adds to them any more
		return nil, errTooManyOne
	}
	engines := tablesRead().engines
	rank := map[int]int{} // of each alias the newest name that is there
	for _, e := range found {
		if engines[e.engine] != l.engine {
			continue
		}
		if r, ok := rank[e.alias]; !ok || e.rank < r {
			rank[e.alias] = e.rank
		}
	}
	if len(rank) == 0 {
		return nil, errNoMetrics
	}
	if l.seen == nil {
		l.seen, l.counts, l.times = map[string]float64{}, map[string]float64{}, map[string]histogram{}
	}
	out, n, again := map[string]float64{}, map[string]float64{}, false
	for _, e := range found {
		if engines[e.engine] != l.engine || rank[e.alias] != e.rank {
			continue
		}
		as := l.engine.aliases[e.alias].as
		switch k := metrics[as]; k {
		case amount, share:
			if k == share && e.value > 1 {
				continue // no share: a gap, never a made up value
			}
			out[as] += e.value
			n[as]++
			continue
		}
		before, known := l.seen[e.key]
		grown := e.value - before
		switch {
		case !known && !l.begun, metrics[as] == meter && (!known || grown < 0):
			grown = 0 // what was before we came; a meter that went back tells nothing
		case grown < 0:
			again = true
			grown = e.value
		}
		l.seen[e.key] = e.value
		l.add(as, e, grown)
	}
	if len(l.seen) > mostSeries {
		return nil, errTooManyOne
	}
	for as, many := range n {
		if metrics[as] == share {
			out[as] /= many
		}
	}
	if many := cmp.Or(n["gpu_power_w"], n["gpu_utilization"], n["gpu_active"], n["gpu_memory_used"]); many > 0 {
		out["gpus"] = many
	}
	divide(out)
	if again {
		l.restarts++
	}
	l.begun = true
	for as, v := range l.counts {
		out[as] = v
	}
	for as, h := range l.times {
		out[as+"_n"], out[as+"_sum_s"] = h.n, h.sum
	}
	return out, nil
}

// add lets a counter, or a part of a histogram, grow.
func (l *ledger) add(as string, e entry, by float64) {
	if k := metrics[as]; k == counter || k == meter {
		l.counts[as] += by
		return
	}
	h := l.times[as]
	switch e.is {
	case count:
		h.n += by
	case sum:
		h.sum += by
	case bucket:
		if h.upTo == nil {
			h.upTo = map[float64]float64{}
		}
		h.upTo[e.le] += by
	}
	l.times[as] = h
}
