package main

import (
	"fmt"
	"math"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// llamacpp holds sums over all requests against llama-server's counters of seconds.
func llamacpp(h *holder, r *run.Run, s *sums, samples []metric.ServerSample) {
	page := r.ServerMetrics.Counters
	h.hold("prompt tokens", float64(s.input), page["prompt_tokens"].Total)
	h.hold("output tokens", float64(s.output), page["output_tokens"].Total)
	h.hold("decode, s: E2E − TTFT", s.decodeUS/1e6, page["decode_s"].Total)
	h.hold("decode, s: as the replies say", s.toldUS/1e6, page["decode_s"].Total)
	// The page counts the time in which prompts were computed, once for all that
	// shared it; a reply's prefill is its own, with what else was in the steps.
	h.hold("prompts, s: time in which any was computed", union(s.prefills)/1e6, page["prompt_s"].Total)
	if r.ServerMetrics.Gauges["running"].Max <= 1 {
		h.hold("prefill, s: as the replies say", s.prefillMS/1e3, page["prompt_s"].Total)
	}
	queue, running, deferred := s.atReadings(samples, r.ServerMetrics)
	h.hold("requests that run, at the page's readings", s.alive-queue, running)
	if deferred > 0.5 {
		// requests_deferred leaves out what the server's loop has not looked at since
		// its last step, or has just given a slot.
		h.hold("requests in the queue: at the server − running", queue, s.alive-running)
		fmt.Printf("  %-52s %10s  %10.3f\n", "of them deferred, as the page says", "", deferred)
	}
}

// union is the length of time that any of the spans covers.
func union(spans []span) (us float64) {
	slices.SortFunc(spans, func(a, b span) int { return int(a.from - b.from) })
	end := int64(math.MinInt64)
	for _, s := range spans {
		us += float64(max(s.to-max(s.from, end), 0))
		end = max(end, s.to)
	}
	return us
}
