package lens

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Source: SemiAnalysisAI/InferenceX, utils/process_result.py and MODELS.md, and the
// rows that it publishes.
var inferenceX = lens{
	name: "inferencex", tool: "SemiAnalysis InferenceX", asOf: "2026-08",
	differs: Differs{
		FirstToken: "as vLLM in Rust, whose client it uses",
		Clock:      "as vLLM in Rust",
		TPOT:       "as vLLM in Rust; interactivity is 1 / TPOT of the same statistic, so 1 / p99 TPOT is called p99",
		ITL:        "as vLLM in Rust",
		Tokens:     "as vLLM in Rust",
		End:        "as vLLM in Rust",
		Failures:   "as vLLM in Rust",
	},
	open: func(Facts) reader { return &inferenceXReader{vllm: vllmReader{counts: hasChoice}} },
}

type inferenceXReader struct {
	vllm    vllmReader
	perUnit stat.Sample // E2E of a request / its output tokens, in s
}

func (r *inferenceXReader) add(tl *timeline.Timeline) {
	before := r.vllm.completed
	r.vllm.add(tl)
	if n, ok := usageOrTokenizer(tl); ok && n > 0 && r.vllm.completed > before {
		c := read(tl, hasChoice, nil)
		r.perUnit.Add(since(startUS(tl), c.lastUS) / 1000 / float64(n))
	}
}

func (r *inferenceXReader) report(t *table) {
	v := &r.vllm
	inSeconds := func(o opt) opt { return timeline.Map(o, func(ms float64) float64 { return ms / 1000 }) }
	figures := func(name string, s sample, ours, why string) {
		t.row("mean_"+name, "s", inSeconds(mean(s)), withStat(ours, "mean"), why)
		t.row("median_"+name, "s", inSeconds(linear(s, 0.5)), withStat(ours, "p50"), why)
		t.row("p99_"+name, "s", inSeconds(linear(s, 0.99)), withStat(ours, "p99"), why)
	}
	figures("ttft", &v.ttft, "ttft_ms", "counts the role chunk as first token and starts after the client's own queue")
	figures("tpot", &v.tpot, "tpot_ms", "starts at the role chunk and ends with the finish chunk")
	figures("itl", v.itl.Frozen(1000), "itl_ms|icl_ms", "gaps between chunks: k times too large with k tokens a chunk")
	figures("e2el", &v.e2el, "e2e_ms", "ends with the finish chunk")
	rate := func(o opt) opt { return ratio(1000, o.Or(0)) }
	t.row("mean_intvty", "tokens/s", rate(mean(&v.tpot)), "decode_tps.mean", "1 / mean TPOT, which is below the mean of the speeds")
	t.row("median_intvty", "tokens/s", rate(linear(&v.tpot, 0.5)), "decode_tps.p50", "1 / median TPOT")
	t.row("p99_intvty", "tokens/s", rate(linear(&v.tpot, 0.99)), "", "1 / p99 TPOT: the speed that 99 % reach or exceed, our p01")
	normal, why := opt{}, noCount
	if p, ok := linear(&r.perUnit, 0.9).Get(); ok {
		normal, why = ratio(1, p), "1 / p90 of E2E / n: TTFT is inside"
	}
	t.row("p90 E2E-normalised interactivity", "tokens/s", normal, "", why)
	for _, name := range []string{"tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu"} {
		t.row(name, "tokens/s", opt{}, "", "needs the number of GPUs, which a record does not have")
	}
	t.noteIf(true, "std_intvty in its rows is 1 / the deviation of TPOT, which means nothing; it is not reproduced")
}
