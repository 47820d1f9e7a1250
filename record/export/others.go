//go:build !lean

package export

// others are the forms of other tools. A lean build leaves them out.
var others = []Exporter{
	{"aiperf", "AIPerf's profile_export.jsonl: a line a request", writeAIPerf, false},
	{"aiperf-profile", "AIPerf's profile_export_aiperf.json: the figures of the run", writeAIPerfProfile, false},
	{"vllm", "the file of vllm bench serve --save-result --save-detailed", writeVLLM, false},
	{"llm-d", "llm-d's benchmark report 0.2.1, as JSON, which is YAML too", writeLLMD, true},
	{"benchstat", "Go's benchmark format for benchstat, a line a request that went well", writeBenchstat, false},
	{"openmetrics", "the figures of the run as OpenMetrics text", writeOpenMetrics, true},
}
