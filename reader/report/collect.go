package report

import (
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// collected is what one pass over the requests of a run leaves for the charts.
// Its size is bounded: some 60 bytes a request, nothing per token.
type collected struct {
	n      int64 // measured requests seen
	broken int   // records that could not be read
	first  int64 // µs: the first measured request was due
	last   int64 // µs: the last event of a measured request
	reqs   []request
	icl    stat.Ints   // µs between chunks, of successful requests
	itl    stat.Shares // µs between tokens, of successful requests
	grid   *timeGrid
	worst  *ranking
	failed []*strip
	stalls []stall

	scratch []int64
}

// request is one measured request, small enough to keep all of them. What was
// not measured is NaN.
type request struct {
	id               int64
	due              int64 // µs
	ttft, tpot, e2e  float64
	input, inFlight  float64
	fresh            bool // on a new connection
	ok, reusedKnown  bool
	stalled, classed bool
	class            timeline.Outcome
}

// stall is a long pause in the middle of an answer.
type stall struct {
	request int64
	at      int64 // µs on the run's clock, when it ended
	us      int64
}

// keep bounds what is drawn request by request.
const (
	keepWorst  = 12
	keepFailed = 6
	keepStalls = 10_000
)

// collect goes through the requests once.
func collect(r *run.Run, requests timelines) *collected {
	c := &collected{first: math.MaxInt64, grid: newTimeGrid(expectedEnd(r)),
		worst: &ranking{keep: keepWorst}}
	if requests == nil {
		return c
	}
	for tl, err := range requests {
		switch {
		case err != nil || tl == nil:
			c.broken++
		case tl.Phase == timeline.Measure:
			c.add(tl)
		}
	}
	c.setInFlight()
	c.grid.settle()
	return c
}

// expectedEnd guesses the end of the run, so that columns begin with a good
// width. A wrong guess costs resolution, not truth.
func expectedEnd(r *run.Run) int64 {
	s := r.Throughput.WindowS.Or(0)
	if r.Finished != nil && !r.Started.IsZero() {
		s = max(s, r.Finished.Sub(r.Started).Seconds())
	}
	return int64(s * 1e6)
}

func (c *collected) add(tl *timeline.Timeline) {
	ok := tl.Outcome == timeline.OK
	v := metric.Scan(tl, nil, func(gapMS float64, times int64) {
		if ok {
			c.itl.Add(int64(math.Round(gapMS*1000*float64(times))), times)
		}
	})
	c.n++
	c.first = min(c.first, tl.DueUS)
	end := tl.DueUS + max(tl.Events.LastUS(), tl.CloseUS.Or(0))
	c.last = max(c.last, end)
	c.reqs = append(c.reqs, newRequest(tl, &v))
	c.grid.span(tl.StartUS, end)
	if tl.Outcome.Failed() {
		c.grid.fail(end)
		if len(c.failed) < keepFailed {
			c.failed = append(c.failed, newStrip(tl, &v))
		}
	}
	metric.Delivered(tl, &v, func(atUS int64, tokens float64) { c.grid.deliver(tl.DueUS+atUS, tokens) })
	if v.Gaps.OK() {
		c.gaps(tl, &v, ok)
	}
	if e2e, has := v.E2EMS.Get(); has && ok && c.worst.wants(e2e) {
		c.worst.push(e2e, newStrip(tl, &v))
	}
}

func newRequest(tl *timeline.Timeline, v *metric.Values) request {
	reused, known := tl.Reused.Get()
	return request{id: tl.Request, due: tl.DueUS,
		ttft: orNaN(v.TTFTMS), tpot: orNaN(v.TPOTMS), e2e: orNaN(v.E2EMS),
		input: float64(tl.Usage.Input.Or(0)), fresh: known && !reused, reusedKnown: known,
		ok: tl.Outcome == timeline.OK, classed: tl.Outcome.Failed(), class: tl.Outcome,
		stalled: v.Stalls.Or(0) > 0}
}

func orNaN(o timeline.Opt[float64]) float64 { return o.Or(math.NaN()) }

// gaps puts every pause between chunks into its column of time.
func (c *collected) gaps(tl *timeline.Timeline, v *metric.Values, ok bool) {
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		if last >= 0 {
			gap := ev.AtUS - last
			c.grid.gap(tl.DueUS+ev.AtUS, gap)
			if ok {
				c.icl.Add(gap)
			}
		}
		last = ev.AtUS
	}
	if v.Stalls.Or(0) > 0 && len(c.stalls) < keepStalls {
		c.findStalls(tl)
	}
}

// findStalls notes when the stalls of a request ended: gaps over 200 ms and
// over five times its median gap.
func (c *collected) findStalls(tl *timeline.Timeline) {
	c.scratch = c.scratch[:0]
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		if last >= 0 {
			c.scratch = append(c.scratch, ev.AtUS-last)
		}
		last = ev.AtUS
	}
	slices.Sort(c.scratch)
	limit := max(200_000, 5*c.scratch[len(c.scratch)/2])
	last = -1
	for ev := range tl.Events.Generation() {
		if last >= 0 && ev.AtUS-last > limit {
			c.stalls = append(c.stalls, stall{tl.Request, tl.DueUS + ev.AtUS, ev.AtUS - last})
		}
		last = ev.AtUS
	}
}

// setInFlight gives every request the load it met.
func (c *collected) setInFlight() {
	for i := range c.reqs {
		c.reqs[i].inFlight = c.grid.inFlightAt(c.reqs[i].due)
	}
}

// sample is the sorted values of one latency over the successful requests.
func (c *collected) sample(of func(*request) float64) stat.Sorted {
	var s stat.Sorted
	for i := range c.reqs {
		if v := of(&c.reqs[i]); c.reqs[i].ok && !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}
