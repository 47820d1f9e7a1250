package metric

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Summary computes the summary of what has been added so far.
func (c *Collector) Summary() Summary {
	s, _ := c.Results()
	return s
}

// Results computes summary and facts together, which share most of the work.
func (c *Collector) Results() (Summary, Facts) {
	w := c.windows()
	c.order.Prepare()
	c.align()
	s := Summary{
		Requests: c.requests.Copied(), Metrics: c.dists(), Throughput: c.throughput(&w),
		Cold: c.cold(), Cost: c.Opts.Cost, Decomposition: c.decomposition(),
		Checks: c.checksOf(&c.items.checks), Tasks: c.taskSummary(), Media: c.media(), Classes: c.classSummaries(),
		Readers: c.readerSummaries(),
	}
	facts := c.facts(&w)
	if !c.Opts.Outline {
		s.Warnings = c.warnings(&s, &facts)
	}
	return s, facts
}

// dists describes every sample.
func (c *Collector) dists() map[string]Dist {
	paced := c.order.Series(c.at("tpot_ms"))
	out := map[string]Dist{"itl_ms": pooledDist(paced, &c.gaps, &c.itl), "icl_ms": pooledDist(paced, &c.gaps, &c.icl)}
	if c.Opts.Outline {
		return out
	}
	if c.events.kernel > 0 {
		out["client_lag_ms"] = pooledDist(paced, &c.lag)
	}
	for _, name := range shown {
		out[name] = Dist{CI95: map[string][2]float64{}}
	}
	var names []string
	for name := range c.samples {
		if !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	described := make([]Dist, len(names))
	onAll(len(names), func(i int) { described[i] = seriesDist(c.order.Series(c.samples[names[i]])) })
	for i, name := range names {
		out[name] = described[i]
	}
	return out
}

// onAll calls f for 0 to n−1 on all processors.
func onAll(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

func mean(v *Ordered) timeline.Opt[float64] {
	if v == nil {
		return timeline.Opt[float64]{}
	}
	var s stat.Sample
	for _, x := range v.values {
		s.Add(x)
	}
	m, ok := s.Moments()
	return timeline.Maybe(m.Mean, ok)
}

// decomposition splits the mean request; nil when no request was streamed.
func (c *Collector) decomposition() *Decomposition {
	ttft, ok := mean(c.samples[partTTFT]).Get()
	e2e, ok2 := mean(c.samples[partE2E]).Get()
	if !ok || !ok2 {
		return nil
	}
	d := &Decomposition{
		N:         c.samples[partE2E].Len(),
		NetworkMS: mean(c.samples["network_ms"]),
		QueueMS:   mean(c.samples["server_queue_ms"]),
		PrefillMS: mean(c.samples["server_prefill_ms"]),
		DecodeMS:  mean(c.samples["server_decode_ms"]),
	}
	if e2e > 0 {
		d.TTFTShare = timeline.Some(ttft / e2e)
		d.DecodeShare = timeline.Some(1 - ttft/e2e)
	}
	return d
}

// idleUS: a target without requests for this long has gone cold.
const idleUS = 5_000_000

// cold is what the first request of the run paid (warm-up included), and the
// medians for requests that opened a connection or came after an idle spell.
// The rows are in order of start.
func (c *Collector) cold() *Cold {
	var newConnection, afterIdle stat.Sample
	var out Cold
	var lastEnd int64
	for i, r := range c.rows {
		if r.ok && r.ttft >= 0 {
			switch {
			case i == 0:
				out.FirstRequestTTFTMS = timeline.Some(r.ttft)
			case r.start-lastEnd >= idleUS:
				afterIdle.Add(r.ttft)
			}
			if i > 0 && r.newConnection {
				newConnection.Add(r.ttft)
			}
		}
		if i == 0 || r.end > lastEnd {
			lastEnd = r.end
		}
	}
	out.FirstOnNewConnectionTTFTMS = quantile(newConnection.Sorted(), 0.5)
	out.AfterIdleTTFTMS = quantile(afterIdle.Sorted(), 0.5)
	if out == (Cold{}) {
		return nil
	}
	return &out
}
