package imports

import "bytes"

// summaries are files that are known and hold no request, only figures of a whole run,
// from which nothing can be computed anew.
var summaries = []struct {
	name    string
	marks   []string // all of which its start holds
	instead string
}{
	{"AIPerf's profile_export_aiperf.json", []string{`"request_latency"`, `"schema_version"`}, "import profile_export.jsonl, which stands beside it"},
	{"AIPerf's profile_export_aiperf.csv", []string{"Metric,avg,min,max"}, "import profile_export.jsonl, which stands beside it"},
	{"a row of InferenceX", []string{`"infmax_model_prefix"`, `"tput_per_gpu"`}, "import the file of vllm bench serve or AIPerf that it was made of, written with --save-detailed"},
	{"a result of MLPerf Endpoints", []string{`"n_samples_issued"`, `"legacy_loadgen_window_duration_ns"`}, "the requests are in its events, which are no table of times yet"},
	{"a log of MLPerf's LoadGen", []string{":::MLLOG"}, "LoadGen logs no single query"},
	{"a summary of MLPerf's LoadGen", []string{"MLPerf Results Summary"}, "LoadGen logs no single query"},
	{"a benchmark report of llm-d", []string{"request_performance", "version", "aggregate"}, "import the file of the tool that made it: AIPerf, GuideLLM, inference-perf or vLLM"},
	{"a table of llama-bench", []string{"| model ", "t/s |"}, "run llama-bench with -o json, which has every repetition"},
	{"a table of llama-bench", []string{"build_commit,", ",avg_ts"}, "run llama-bench with -o json, which has every repetition"},
	{"a summary of llmeter", []string{`"total_requests"`, `"requests_per_minute"`, `"failed_requests_rate"`}, "import responses.jsonl, which stands beside it"},
	{"a summary of inference-perf", []string{`"load_summary"`, `"successes"`}, "import per_request_lifecycle_metrics.json: report.request_lifecycle.per_request: true"},
}

// SummaryOf says what a file is that is known and can't be imported, and what to do
// instead; empty for any other.
func SummaryOf(head []byte) string {
next:
	for _, s := range summaries {
		for _, mark := range s.marks {
			if !bytes.Contains(head, []byte(mark)) {
				continue next
			}
		}
		return s.name + " holds the figures of a whole run and no request: " + s.instead
	}
	return ""
}
