package compare

import (
	"cmp"
	"math"
	"slices"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

func (c *Collector) length(of func(*taken) opt) Length {
	var s stat.Sample
	for i := range c.rows {
		if v, ok := of(&c.rows[i]).Get(); ok {
			s.Add(v)
		}
	}
	m, ok := s.Moments()
	if !ok {
		return Length{}
	}
	p90, _ := stat.Quantile(s.Sorted(), 0.9)
	return Length{Mean: timeline.Some(m.Mean), P90: timeline.Some(p90)}
}

// column is a figure of the requests in the order in which these were due.
func (c *Collector) column(of, inFlight []float64) series {
	values := make([]float64, 0, len(of))
	var flying []float64
	for j := range c.rows {
		if at := c.rows[j].at; at < len(of) && !math.IsNaN(of[at]) {
			values, flying = append(values, of[at]), appendAt(flying, inFlight, j)
		}
	}
	if len(values) == len(inFlight) {
		flying = inFlight // all columns share it
	}
	return newListed(values, nil, nil, flying)
}

// wholeSessions is how long the sessions took that succeeded, in the order in which
// they began.
func (c *Collector) wholeSessions() series {
	var values []float64
	var due, ends []int64
	for _, t := range c.sessions.InOrder() {
		if !t.Failed && !t.Cancelled {
			values, due, ends = append(values, t.MS()), append(due, t.DueUS), append(ends, t.EndUS)
		}
	}
	if c.facts.Load.Kind == "closed" {
		return newListed(values, nil, nil, nil)
	}
	return newListed(values, nil, nil, stat.InFlight(due, ends))
}

func (c *Collector) pooled(which int, inFlight []float64) series {
	var values, times, flying []float64
	var cuts []int
	for j := range c.rows {
		list := c.rows[j].gaps[which]
		if len(list) == 0 {
			continue
		}
		for _, g := range list {
			values, times = append(values, g.ms), append(times, g.times)
		}
		cuts, flying = append(cuts, len(values)), appendAt(flying, inFlight, j)
	}
	return newListed(values, times, cuts, flying)
}

func (c *Collector) shares(put func(string, series), inFlight []float64) {
	var failed, good, checks []stat.Pair
	for i := range c.rows {
		t := &c.rows[i]
		failed = append(failed, one(t.failed))
		if g, ok := t.good.Get(); ok {
			good = append(good, one(g))
		}
		if passed, ok := t.check.Get(); ok {
			checks = append(checks, one(passed))
		}
	}
	put("error_rate", newFixed(failed, inFlight))
	put("goodput", newFixed(good, nil))
	put("check_pass", newFixed(checks, nil))
}

func one(yes bool) stat.Pair {
	if yes {
		return stat.Pair{Num: 1, Den: 1}
	}
	return stat.Pair{Num: 0, Den: 1}
}

// rates are tokens and requests over time. In a closed loop every stream is
// always busy, so how the rate varies is told by the requests one by one: what
// each brought over the time it kept its stream. In an open loop the run's time
// is cut where requests ended.
func (c *Collector) rates(put func(string, series)) {
	if len(c.rows) == 0 {
		return
	}
	order := make([]int32, len(c.rows))
	for i := range order {
		order[i] = int32(i)
	}
	closed := c.facts.Load.Kind == "closed"
	if !closed {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(c.rows[a].end, c.rows[b].end) })
	}
	last, first := c.rows[0].due, c.rows[0].due
	tokens, requests := make([]stat.Pair, 0, len(order)), make([]stat.Pair, 0, len(order))
	var sum, done float64
	for _, i := range order {
		t := &c.rows[i]
		s := max(t.end-last, 0)
		last = max(last, t.end)
		if closed {
			s = max(t.end-t.due, 0)
		}
		ended := 0.0
		if t.ok {
			ended = 1
		}
		tokens = append(tokens, stat.Pair{Num: t.tokens, Den: s})
		requests = append(requests, stat.Pair{Num: ended, Den: s})
		sum, done = sum+t.tokens, done+ended
	}
	rate := func(key string, list []stat.Pair, n float64) {
		if f, ok := newFixed(list, nil).(*fixed); ok && n > 0 && last > first {
			f.whole = stat.Pair{Num: n, Den: last - first}
			put(key, f)
		}
	}
	rate("system_output_tps", tokens, sum)
	rate("requests_per_s", requests, done)
}

// appendAt appends the j-th of list, where there is a list.
func appendAt(to, list []float64, j int) []float64 {
	if list == nil {
		return nil
	}
	return append(to, list[j])
}

// inFlight is how many requests were in flight when each row's was due. nil in
// a closed loop, whose width is fixed.
func (c *Collector) inFlight() []float64 {
	if c.facts.Load.Kind == "closed" {
		return nil
	}
	due, ends := make([]float64, len(c.rows)), make([]float64, len(c.rows))
	for i := range c.rows {
		due[i], ends[i] = c.rows[i].due, c.rows[i].end
	}
	return stat.InFlight(due, ends)
}
