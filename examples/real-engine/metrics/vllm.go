package main

import (
	"cmp"
	"fmt"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// vllm holds means of the records against those of vLLM's histograms, of requests
// that ended between the first reading of its page and the last.
func vllm(h *holder, r *run.Run, s *sums, samples []metric.ServerSample) {
	page := r.ServerMetrics
	ours := func(name string) float64 { return r.Metrics[name].Mean.Or(0) }
	theirs := func(name string) float64 { return page.Times[name].MeanMS.Or(0) }
	h.hold("requests", float64(s.n), float64(page.Times["e2e"].N))
	h.hold("prompt tokens", float64(s.input), page.Counters["prompt_tokens"].Total)
	h.hold("output tokens", float64(s.output), page.Counters["output_tokens"].Total)
	h.hold("TTFT, ms (time_to_first_token)", ours("ttft_ms"), theirs("ttft"))
	h.hold("TPOT, ms (request_time_per_output_token)", ours("tpot_ms"), theirs("tpot"))
	h.hold("gap between tokens, ms (inter_token_latency)", s.decodeUS/1e3/float64(s.output-int64(s.n)), theirs("itl"))
	h.hold("E2E, ms (e2e_request_latency)", ours("e2e_ms"), theirs("e2e"))
	h.hold("E2E − TTFT, ms (request_decode_time)", s.decodeUS/1e3/float64(s.n), theirs("decode"))
	if r.ServerMetrics.Gauges["running"].Max <= 1 { // nobody waits in front of the engine
		h.hold("TTFT, ms (request_queue_time + request_prefill_time)", ours("ttft_ms"), theirs("queue")+theirs("prefill"))
	}
	_, running, waiting := s.atReadings(samples, page)
	if waiting > 0.5 {
		// Its queue begins when the engine looks for requests, which it does after each
		// step; its TTFT less the prefill is all of the wait.
		h.hold("wait, ms (time_to_first_token − request_prefill_time)", s.placeMS(h.places), theirs("ttft")-theirs("prefill"))
		fmt.Printf("  %-52s %10s  %10.3f\n", "of it in the queue (request_queue_time)", "", theirs("queue"))
	}
	// Its gauges are as the last step left them: while a long prompt is computed they
	// tell of before.
	fmt.Printf("  %-52s %10.3f  %10.3f\n", "requests at the server, at the page's readings", s.alive, running+waiting)
}

// placeMS is how long a request waits, on average, until one of so many places is
// free, first come first served: by when the requests came and when they ended.
func (s *sums) placeMS(places int) (ms float64) {
	free := make([]int64, places)
	for _, life := range slices.SortedFunc(slices.Values(s.lives), func(a, b span) int { return cmp.Compare(a.from, b.from) }) {
		slices.Sort(free)
		ms += float64(max(free[0]-life.from, 0)) / 1e3
		free[0] = life.to
	}
	return ms / float64(len(s.lives))
}
