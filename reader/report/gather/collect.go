package gather

import (
	"iter"
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Gathered is what one pass over the requests of a run leaves for the charts.
// Its size is bounded: some 60 bytes a request, nothing per token.
type Gathered struct {
	N        int64 // measured requests seen
	Broken   int   // records that could not be read
	First    int64 // µs: the first measured request was due
	Last     int64 // µs: the last event of a measured request
	Requests []Request
	ICL      stat.Ints   // µs between chunks, of successful requests
	ITL      stat.Shares // µs between tokens, of successful requests
	Grid     *TimeGrid
	Worst    *Ranking
	Failed   []*Strip
	Stalls   []Stall

	scratch []int64
}

// Request is one measured request, small enough to keep all of them. What was
// not measured is NaN.
type Request struct {
	ID              int64
	Due             int64 // µs
	TTFT, TPOT, E2E float64
	Input, InFlight float64
	Fresh           bool // on a new connection
	OK, ReusedKnown bool
	Stalled         bool // stood still in the middle of its answer, as of Gathered.Stalls
	Classed         bool
}

// Stall is a long pause in the middle of an answer.
type Stall struct {
	Request int64
	At      int64 // µs on the run's clock, when it ended
	US      int64 // how long
}

// keep bounds what is drawn request by request.
const (
	keepWorst  = 12
	keepFailed = 6
	keepStalls = 10_000
)

// From goes through the requests once.
func From(r *run.Run, requests iter.Seq2[*timeline.Timeline, error]) *Gathered {
	c := &Gathered{First: math.MaxInt64, Grid: newTimeGrid(expectedEnd(r)),
		Worst: &Ranking{keep: keepWorst}}
	if requests == nil {
		return c
	}
	for tl, err := range requests {
		switch {
		case err != nil || tl == nil:
			c.Broken++
		case tl.Phase == timeline.Measure:
			c.add(tl)
		}
	}
	for i := range c.Requests { // the load that each met
		c.Requests[i].InFlight = c.Grid.inFlightAt(c.Requests[i].Due)
	}
	c.Grid.settle()
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

func (c *Gathered) add(tl *timeline.Timeline) {
	ok := tl.Outcome == timeline.OK
	v := metric.Scan(tl, nil, func(gapMS float64, times int64) {
		if ok {
			c.ITL.Add(int64(math.Round(gapMS*1000*float64(times))), times)
		}
	})
	c.N++
	c.First = min(c.First, tl.DueUS)
	end := tl.DueUS + max(tl.Events.LastUS(), tl.CloseUS.Or(0))
	c.Last = max(c.Last, end)
	c.Requests = append(c.Requests, newRequest(tl, &v))
	c.Grid.span(tl.StartUS, end)
	if tl.Outcome.Failed() {
		c.Grid.fail(end)
		if len(c.Failed) < keepFailed {
			c.Failed = append(c.Failed, newStrip(tl, &v))
		}
	}
	metric.Delivered(tl, &v, func(atUS int64, tokens float64) { c.Grid.deliver(tl.DueUS+atUS, tokens) })
	if v.Gaps.OK() {
		c.gaps(tl, &v, ok)
	}
	if e2e, has := v.E2EMS.Get(); has && ok && c.Worst.wants(e2e) {
		c.Worst.push(e2e, newStrip(tl, &v))
	}
}

func newRequest(tl *timeline.Timeline, v *metric.Values) Request {
	reused, known := tl.Reused.Get()
	return Request{ID: tl.Request, Due: tl.DueUS,
		TTFT: orNaN(v.TTFTMS), TPOT: orNaN(v.TPOTMS), E2E: orNaN(v.E2EMS),
		Input: float64(tl.Usage.Input.Or(0)), Fresh: known && !reused, ReusedKnown: known,
		OK: tl.Outcome == timeline.OK, Classed: tl.Outcome.Failed(),
		Stalled: v.Stalls.Or(0) > 0}
}

func orNaN(o timeline.Opt[float64]) float64 { return o.Or(math.NaN()) }

// eachGap calls f with each pause between chunks in µs, and when it ended.
func eachGap(tl *timeline.Timeline, f func(gap, at int64)) {
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		if last >= 0 {
			f(ev.AtUS-last, ev.AtUS)
		}
		last = ev.AtUS
	}
}

// gaps puts every pause between chunks into its column of time.
func (c *Gathered) gaps(tl *timeline.Timeline, v *metric.Values, ok bool) {
	eachGap(tl, func(gap, at int64) {
		c.Grid.gap(tl.DueUS+at, gap)
		if ok {
			c.ICL.Add(gap)
		}
	})
	if v.Stalls.Or(0) > 0 && len(c.Stalls) < keepStalls {
		c.findStalls(tl)
	}
}

// findStalls notes when the stalls of a request ended: gaps over 200 ms and
// over five times its median gap.
func (c *Gathered) findStalls(tl *timeline.Timeline) {
	c.scratch = c.scratch[:0]
	eachGap(tl, func(gap, _ int64) { c.scratch = append(c.scratch, gap) })
	slices.Sort(c.scratch)
	limit := max(200_000, 5*c.scratch[len(c.scratch)/2])
	eachGap(tl, func(gap, at int64) {
		if gap > limit {
			c.Stalls = append(c.Stalls, Stall{tl.Request, tl.DueUS + at, gap})
		}
	})
}

// Sample is the sorted values of one latency over the successful requests.
func (c *Gathered) Sample(of func(*Request) float64) stat.Sorted {
	var s stat.Sorted
	for i := range c.Requests {
		if v := of(&c.Requests[i]); c.Requests[i].OK && !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}
