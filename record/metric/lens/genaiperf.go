package lens

import (
	"math"

	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

var genaiPerf = lens{
	name: "genai-perf", tool: "NVIDIA genai-perf", asOf: "0.0.16, 2025-08",
	differs: Differs{
		FirstToken: "first chunk with content; reasoning is not seen",
		Clock:      "the send",
		TPOT:       "called inter_token_latency: (E2E − TTFT) / (n − 1), rounded to whole ns",
		ITL:        "–",
		Tokens:     "the text tokenised again",
		End:        "last chunk with content",
		Failures:   "inside request_throughput, outside latency",
	},
	open: func(Facts) reader { return &genaiPerfReader{} },
}

type genaiPerfReader struct {
	ttft, latency, itl, perUser stat.Sample
	all                         int64
	span                        timeline.Span
	answers
}

func (r *genaiPerfReader) add(tl *timeline.Timeline) {
	r.all++
	start := startUS(tl)
	c := read(tl, hasContent, nil)
	r.span.Add(onRun(tl, start), onRun(tl, max(c.lastUS, closeUS(tl))))
	if !withoutError(tl) || tl.Streamed && c.n == 0 {
		return
	}
	end := c.lastUS
	if !tl.Streamed {
		end = closeUS(tl)
	}
	latency := since(start, end)
	r.latency.Add(latency)
	n, known := r.tokenized(tl)
	if known && latency > 0 {
		r.perUser.Add(float64(n) * 1000 / latency)
	}
	if c.n == 0 {
		return
	}
	ttft := since(start, c.firstUS)
	r.ttft.Add(ttft)
	if n > 1 {
		r.itl.Add(math.RoundToEven((latency-ttft)*1e6/float64(n-1)) / 1e6)
	}
}

func (r *genaiPerfReader) report(t *table) {
	d := r.span.Seconds()
	t.row("request_throughput", "requests/s", ratio(float64(r.all), d), "achieved_per_s|requests_per_s", "failed and empty requests count too")
	output, why := r.rate(d, "successes only, over another window")
	t.row("output_token_throughput", "tokens/s", output, "success_output_tps", why)
	avgAndPercentiles(t, "time_to_first_token", &r.ttft, "ttfo_ms", "does not see reasoning: it is our TTFO, from the send")
	avgAndPercentiles(t, "request_latency", &r.latency, "e2e_ms", "starts at the send")
	avgAndPercentiles(t, "inter_token_latency", &r.itl, "tpot_ms", "one mean a request, our TPOT, rounded to whole ns")
	t.row("output_token_throughput_per_request avg", "tokens/s", mean(&r.perUser), "e2e_tps.mean", "starts at the send")
	t.noteIf(r.standIn > 0, "%s counted by the server; genai-perf tokenises the text again", metric.Plural(r.standIn, "answer"))
	t.noteIf(true, "its goodput pairs values of different requests where one has a single token; it is not reproduced")
}
