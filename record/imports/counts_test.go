package imports

import (
	"path/filepath"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// No file tells how long the text of a token is, and many tell of the first and the
// last token only: nothing there speaks against their counts of tokens.
func TestCountsAreNotDoubted(t *testing.T) {
	var of = map[string][]*timeline.Timeline{}
	for _, name := range []string{"guidellm-plain.json", "guidellm-reasoning.json", "llmeter-plain.jsonl", "vllm-many-tokens.json", "aiperf-many-tokens.jsonl"} {
		_, of[name] = imported(t, filepath.Join("played", name))
	}
	_, of["a table"] = read(t, "a.csv", []byte("start_s,e2e_ms,ttft_ms,input_tokens,output_tokens\n0,2272,36,869,235\n0.1,97,42,3294,6\n"))
	// Speculative decoding: twelve tokens in four events.
	_, of["speculative"] = read(t, "v.json", []byte(`{"model_id":"m","request_rate":"inf","input_lens":[10],"output_lens":[12],"ttfts":[0.1],"itls":[[0.05,0.05,0.05]],"start_times":[100],"errors":[""]}`))
	for name, all := range of {
		for _, tl := range all {
			rec := metric.Of(tl)
			if rec.Flags.Has(timeline.TokenCountMismatch) {
				t.Errorf("%s: request %d, of %d tokens in %d events, has %v", name, rec.Request, rec.OutputTokens.Or(-1), tl.Events.Len(), rec.Flags)
			}
			if tl.Evidence == timeline.RequestOnly && rec.Flags.Has(timeline.MultiTokenChunks) {
				t.Errorf("%s: request %d: %v, of chunks nobody knows", name, rec.Request, rec.Flags)
			}
			if name == "speculative" && !rec.Flags.Has(timeline.MultiTokenChunks) {
				t.Errorf("%s: %v", name, rec.Flags)
			}
		}
	}
}

// An answer that came in one chunk, as of one token, has no gaps: its only arrival is known.
// Sources: calculate_metrics in vllm/benchmarks/serve.py, which has a TTFT of such answers;
// InterChunkLatencyMetric of AIPerf, which has no value of fewer than two.
func TestAnswersOfOneChunk(t *testing.T) {
	for name, text := range map[string]string{
		"vllm":             `{"model_id":"m","request_rate":"inf","input_lens":[10,10],"output_lens":[1,4],"ttfts":[0.1,0.2],"itls":[[],[]],"latencies":[0.1,0.2],"start_times":[100,100.5],"errors":["",""]}`,
		"vllm, no latency": `{"model_id":"m","request_rate":"inf","input_lens":[10,10],"output_lens":[1,4],"ttfts":[0.1,0.2],"itls":[[],[]],"start_times":[100,100.5],"errors":["",""]}`,
		"aiperf": `{"metadata":{"request_start_ns":1000000000,"request_end_ns":1300000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":100,"unit":"ms"},"request_latency":{"value":100,"unit":"ms"},"output_sequence_length":{"value":1,"unit":"tokens"}}}
{"metadata":{"request_start_ns":1500000000,"request_end_ns":1800000000,"benchmark_phase":"profiling"},"metrics":{"time_to_first_token":{"value":200,"unit":"ms"},"request_latency":{"value":200,"unit":"ms"},"output_sequence_length":{"value":4,"unit":"tokens"}}}`,
	} {
		_, all := read(t, "f.json", []byte(text))
		for i, tl := range all {
			if r := metric.Of(tl); tl.Evidence != timeline.Arrivals || tl.Events.Len() != 1 || r.TTFTMS.Or(0) != float64(100*(i+1)) || r.E2EMS != r.TTFTMS || r.Outcome != timeline.OK {
				t.Errorf("%s: %v of %d events, TTFT %v, E2E %v, %s", name, tl.Evidence, tl.Events.Len(), r.TTFTMS, r.E2EMS, r.Outcome)
			}
		}
	}
}

// An embedding and a ranking have no tokens of output, and are complete: AIPerf counts them
// as requests that went well. These are records that AIPerf 0.13 wrote of both, shortened; an
// answer without content has its error.
func TestAIPerfsAnswersWithoutTokens(t *testing.T) {
	_, all := read(t, "f.jsonl", []byte(`{"metadata":{"request_start_ns":1000000000,"request_end_ns":1099900000,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":99.75,"unit":"ms"},"output_sequence_length":{"value":0,"unit":"tokens"},"input_sequence_length":{"value":30,"unit":"tokens"}}}
{"metadata":{"request_start_ns":1500000000,"request_end_ns":1580400000,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":80.25,"unit":"ms"},"output_sequence_length":{"value":0,"unit":"tokens"}}}
{"metadata":{"request_start_ns":1600000000,"request_end_ns":1700000000,"benchmark_phase":"profiling"},"metrics":{},"error":{"type":"InvalidInferenceResultError","message":"no content"}}`))
	for i, e2e := range []float64{99.75, 80.25} {
		r := metric.Of(all[i])
		if r.Outcome != timeline.OK || r.E2EMS.Or(0) != e2e || r.OutputTokens.OK() || r.TTFTMS.OK() {
			t.Errorf("%s, E2E %v, %v tokens, TTFT %v", r.Outcome, r.E2EMS, r.OutputTokens, r.TTFTMS)
		}
	}
	if all[2].Outcome == timeline.OK {
		t.Error("an answer without content is taken for one")
	}
}
