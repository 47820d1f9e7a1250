package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: open-telemetry/semantic-conventions-genai, docs/gen-ai/client-inference.md.
var otel = lens{
	name: "otel", tool: "OpenTelemetry GenAI conventions, client", asOf: "v0.1.0",
	differs: Differs{
		FirstToken: "first chunk of the answer, whatever is in it",
		Clock:      "when the client issued the request; retries are inside",
		TPOT:       "–",
		ITL:        "time_per_output_chunk: gaps between chunks, whatever is in them",
		Tokens:     "usage; 0 where none came",
		End:        "end of the answer",
		Failures:   "inside the duration, with error.type",
	},
	open: func(Facts) reader { return &otelReader{} },
	ends: true,
}

type otelReader struct {
	duration, first stat.Sample
	gaps            stat.Ints
	answers
	failed int64
}

// isChunk: whatever comes of an answer's data before the end of the stream.
func isChunk(k timeline.Kind) bool { return hasChoice(k) || k == timeline.UsageEvent }

func (r *otelReader) add(tl *timeline.Timeline) {
	start := startUS(tl)
	r.duration.Add(since(start, closeUS(tl)) / 1000)
	if tl.Outcome != timeline.OK {
		r.failed++
	}
	gap := func(us int64, _ timeline.Event) { r.gaps.Add(us) }
	if tl.Evidence != timeline.Arrivals {
		gap = nil
	}
	if c := read(tl, isChunk, gap); c.n > 0 {
		r.first.Add(since(start, c.firstUS) / 1000)
	}
	n, known := usage(tl)
	r.count(tl, n, true, known)
}

func (r *otelReader) report(t *table) {
	t.row("gen_ai.client.inference.duration mean", "s", mean(&r.duration), "e2e_ms.mean", "failures are inside; ends with the answer, not with the last token; starts at the send")
	t.row("gen_ai.client.inference.time_to_first_chunk mean", "s", mean(&r.first), "ttft_ms.mean", "a role chunk is a chunk")
	gaps := r.gaps.Frozen(1e6)
	t.row("gen_ai.client.inference.time_per_output_chunk mean", "s", mean(gaps), "icl_ms.mean", "chunks with the role, the finish and the usage count too; a chunk may hold many tokens")
	t.row("gen_ai.client.inference.usage.input_tokens", "tokens", whole(r.in), "", "a sum over all requests; 0 where no usage came")
	t.row("gen_ai.client.inference.usage.output_tokens", "tokens", whole(r.out), "", "a sum over all requests; 0 where no usage came")
	t.noteIf(r.uncounted > 0, "%s without usage counted as 0 tokens", metric.Plural(r.uncounted, "request"))
	t.noteIf(r.failed > 0, "%s in the duration", metric.Plural(r.failed, "failed request"))
	t.noteIf(true, "percentiles depend on the buckets of whoever stores the histogram: means only")
}
