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
