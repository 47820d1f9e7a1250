package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: envoyproxy/ai-gateway, internal/metrics/metrics_impl.go.
var envoy = lens{
	name: "envoy", tool: "Envoy AI Gateway", asOf: "2026-09",
	differs: Differs{
		FirstToken: "first piece of the body, whatever is in it",
		Clock:      "the request at the gateway",
		TPOT:       "(end of the stream − first piece) / (n − 1)",
		ITL:        "–",
		Tokens:     "usage, the largest that came",
		End:        "end of the stream",
		Failures:   "inside the duration, with error.type; what came of them is in the other figures",
	},
	open: func(Facts) reader { return &envoyReader{} },
}

// envoyReader stands where the gateway does only if nothing lies between: it sees
// what the client saw.
type envoyReader struct {
	duration, first, perToken stat.Sample
	answers
	failed int64
}

func (r *envoyReader) add(tl *timeline.Timeline) {
	start, end := startUS(tl), closeUS(tl)
	r.duration.Add(since(start, end) / 1000)
	if tl.Outcome != timeline.OK {
		r.failed++
	}
	n, known := usage(tl)
	r.count(tl, n, true, known)
	if c := read(tl, func(timeline.Kind) bool { return true }, nil); c.n > 0 {
		r.first.Add(since(start, c.firstUS) / 1000)
		if known && n > 1 && c.n > 1 {
			r.perToken.Add(since(c.firstUS, end) / 1000 / float64(n-1))
		}
	}
}

func (r *envoyReader) report(t *table) {
	t.row("gen_ai.server.request.duration mean", "s", mean(&r.duration), "e2e_ms.mean", "failures are inside; ends with the stream, not with the last token; starts at the send")
	t.row("gen_ai.server.time_to_first_token mean", "s", mean(&r.first), "ttft_ms.mean", "a role chunk or a comment is a first token")
	why := "from the first piece to the end of the stream: the finish and the usage chunk are inside"
	if r.perToken.Len() == 0 && r.uncounted > 0 {
		why = "needs usage: no count came"
	}
	t.row("gen_ai.server.time_per_output_token mean", "s", mean(&r.perToken), "tpot_ms.mean", why)
	t.row("gen_ai.client.token.usage input", "tokens", whole(r.in), "", "a sum over all requests, which its histogram has too")
	t.row("gen_ai.client.token.usage output", "tokens", whole(r.out), "", "a sum over all requests, which its histogram has too")
	t.noteIf(r.uncounted > 0, "%s without usage, in no token figure", metric.Plural(r.uncounted, "request"))
	t.noteIf(r.failed > 0, "%s in the duration", metric.Plural(r.failed, "failed request"))
	t.noteIf(true, "the gateway adds nothing of its own here: this is the client's view; percentiles depend on the buckets of whoever stores the histogram")
}
