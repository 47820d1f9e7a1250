package compare

import (
	"cmp"
	"math"
	"slices"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

func lengthOf(s *stat.Sample) Length {
	m, ok := s.Moments()
	if !ok {
		return Length{}
	}
	p90, _ := stat.Quantile(s.Sorted(), 0.9)
	return Length{Mean: timeline.Some(m.Mean), P90: timeline.Some(p90)}
}

// column is a figure of the requests in the order in which these were due.
func (c *Collector) column(of, inFlight []float64) series {
	n := 0
	for _, v := range of {
		if !math.IsNaN(v) {
			n++
		}
	}
	values := make([]float64, 0, n)
	flying := inFlight // which all columns share that lack no request
	if inFlight != nil && n < len(c.rows) {
		flying = make([]float64, 0, n)
	}
	for j := range c.rows {
		at := int(c.rows[j].at)
		if at >= len(of) || math.IsNaN(of[at]) {
			continue
		}
		values = append(values, of[at])
		if inFlight != nil && n < len(c.rows) {
			flying = append(flying, inFlight[j])
		}
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
	n := 0
	for i := range c.gaps {
		n += len(c.gaps[i].lists[which])
	}
	values, times := make([]float64, 0, n), make([]float64, 0, n)
	var flying []float64
	var cuts []int
	j := 0
	for i := range c.gaps {
		list := c.gaps[i].lists[which]
		if len(list) == 0 {
			continue
		}
		for c.rows[j].at != c.gaps[i].at { // both are in order of due times
			j++
		}
		for _, g := range list {
			values, times = append(values, g.ms), append(times, g.times)
		}
		cuts, flying = append(cuts, len(values)), appendAt(flying, inFlight, j)
	}
	return newListed(values, times, cuts, flying)
}

func (c *Collector) shares(put func(string, series), inFlight []float64) {
	put("error_rate", newFixed(c.share(func(t *taken) timeline.Opt[bool] { return timeline.Some(t.failed) }), inFlight))
	put("goodput", newFixed(c.share(func(t *taken) timeline.Opt[bool] { return t.good }), nil))
	put("check_pass", newFixed(c.share(func(t *taken) timeline.Opt[bool] { return t.check }), nil))
}

// share has a pair for each request of which the answer is known: 1 or 0 of 1.
func (c *Collector) share(of func(*taken) timeline.Opt[bool]) []stat.Pair {
	n := 0
	for i := range c.rows {
		if of(&c.rows[i]).OK() {
			n++
		}
	}
	list := make([]stat.Pair, 0, n)
	for i := range c.rows {
		if yes, known := of(&c.rows[i]).Get(); known {
			list = append(list, one(yes))
		}
	}
	return list
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
	order := make([]uint32, len(c.rows))
	for i := range order {
		order[i] = uint32(i)
	}
	closed := c.facts.Load.Kind == "closed"
	if !closed {
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(c.rows[a].end, c.rows[b].end), cmp.Compare(a, b)) })
	}
	last, first := c.rows[0].due, c.rows[0].due
	tokens, requests := make([]stat.Pair, 0, len(order)), make([]stat.Pair, 0, len(order))
	var sum, sumGood, done float64
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
		sum, sumGood, done = sum+t.tokens, sumGood+t.tokens*ended, done+ended
	}
	good := tokens
	if sumGood < sum { // failed requests brought some
		good = slices.Clone(tokens)
		for j, i := range order {
			if !c.rows[i].ok {
				good[j].Num = 0
			}
		}
	}
	rate := func(key string, list []stat.Pair, n float64) {
		if f, ok := newFixed(list, nil).(*fixed); ok && n > 0 && last > first {
			f.whole = stat.Pair{Num: n, Den: last - first}
			put(key, f)
		}
	}
	rate("system_output_tps", tokens, sum)
	rate("success_output_tps", good, sumGood)
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
