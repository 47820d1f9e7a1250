package imports

import "bytes"

// summaries are files that are known and hold no request, only figures of a whole run,
// from which nothing can be computed anew.
var summaries = []struct {
	name    string
	marks   []string // all of which its start holds
	instead string
}{
	{"AIPerf's profile_export_aiperf.csv or genai-perf's profile_export_genai_perf.csv", []string{"Metric,avg,min,max"},
		"import profile_export.jsonl or genai-perf's profile_export.json, which stands beside it"},
	{"AIPerf's server_metrics_export.csv", []string{"# AIPerf Server Metrics Export"}, "import server_metrics_export.json, which stands beside it and is not rounded"},
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
