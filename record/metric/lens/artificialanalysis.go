package lens

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: artificialanalysis.ai, "Performance Benchmarking Methodology".
var artificialAnalysis = lens{
	name: "artificial-analysis", tool: "Artificial Analysis", asOf: "2026-11",
	differs: Differs{
		FirstToken: "first chunk; of models that reason also the first token of the answer",
		Clock:      "the send, from one place: its network is inside",
		TPOT:       "–; output speed is tokens after the first chunk / time after it",
		ITL:        "–",
		Tokens:     "the text tokenised again by o200k_base",
		End:        "last chunk",
		Failures:   "not said; left out here",
	},
	open: func(Facts) reader { return &artificialReader{} },
}

// artificialReader states medians, as its pages do over 72 hours.
type artificialReader struct {
	first, answer, speed stat.Sample
	reasoning            stat.Sample // time from the first chunk to the answer, s
	standIn, unknown     int64
	uncounted            int64 // of unknown: no count at all
}

func (r *artificialReader) add(tl *timeline.Timeline) {
	if tl.Outcome != timeline.OK || !tl.Streamed {
		return
	}
	start := startUS(tl)
	c := read(tl, hasToken, nil)
	if c.n == 0 {
		return
	}
	r.first.Add(since(start, c.firstUS) / 1000)
	if a := read(tl, isAnswer, nil); a.n > 0 {
		r.answer.Add(since(start, a.firstUS) / 1000)
		r.reasoning.Add(since(c.firstUS, a.firstUS) / 1000)
	}
	n, known := usageOrTokenizer(tl)
	after, split := afterFirst(tl, n, c.n)
	if !known || !split {
		r.unknown++
		if !known {
			r.uncounted++
		}
		return
	}
	speed := float64(after) * 1000
	if norm, ok := tl.Norm.Get(); ok && n > 0 {
		speed *= float64(norm) / float64(n)
	} else {
		r.standIn++
	}
	if gone := since(c.firstUS, c.lastUS); after > 0 && gone > 0 {
		r.speed.Add(speed / gone)
	}
}

func (r *artificialReader) report(t *table) {
	t.row("time to first token P50", "s", linear(&r.first, 0.5), "ttft_ms.p50", "starts at the send")
	t.row("time to first answer token P50", "s", linear(&r.answer, 0.5), "ttfo_ms.p50", "starts at the send")
	why := "tokens after the first chunk; bursts are not left out"
	switch {
	case r.speed.Len() > 0 || r.unknown == 0:
	case r.unknown > r.uncounted:
		why = needsFirst
	default:
		why = noCount
	}
	speed := linear(&r.speed, 0.5)
	t.row("output speed P50", "tokens/s", speed, "norm_decode_tps.p50|decode_tps.p50", why)
	for _, p := range []struct {
		name string
		p    float64
	}{{"P5", 0.05}, {"P25", 0.25}, {"P75", 0.75}, {"P95", 0.95}} {
		t.row("output speed "+p.name, "tokens/s", linear(&r.speed, p.p), "", why)
	}
	whole := opt{}
	if s, ok := speed.Get(); ok && s > 0 && r.first.Len() > 0 {
		whole = timeline.Some(linear(&r.first, 0.5).Or(0) + linear(&r.reasoning, 0.5).Or(0) + answerLength/s)
	}
	t.row("end-to-end response time", "s", whole, "", "of an answer of 500 tokens that nobody sent: TTFT + reasoning + 500 / output speed")
	t.noteIf(r.standIn > 0, "%s counted in the model's own tokens, not in those of o200k_base: no tokenizer to count by was named", metric.Plural(r.standIn, "answer"))
	t.noteIf(r.unknown > 0, "%s without a count of tokens after the first chunk", metric.Plural(r.unknown, "answer"))
	t.noteIf(true, "its pages show the median of what was asked eight times a day over 72 hours, from one place: tokenmeter probe measures so")
}

// answerLength is how many tokens its end-to-end response time is of.
const answerLength = 500
