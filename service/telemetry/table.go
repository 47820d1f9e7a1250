package telemetry

import "slices"

// Upper edges of buckets. Wide enough for reasoning models, fine enough for
// fast decoding; thresholds of objectives are added.
var (
	firstEdges  = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 30, 60, 120, 300, 600}
	paceEdges   = []float64{0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 10}
	wholeEdges  = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600}
	delayEdges  = []float64{0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1}
	readerEdges = []float64{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60, 300}
	tokenEdges  = []float64{1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576}
	speedEdges  = []float64{1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000, 2500}
)

// Of finished requests: counters.
var (
	Requests      = request("tokenmeter_requests_total", Counter, "requests", "Finished requests, by outcome class.", "outcome")
	Unmeasured    = request("tokenmeter_unmeasured_requests_total", Counter, "requests", "Requests that were passed on without being measured, by reason.", "reason")
	InputTokens   = request("tokenmeter_input_tokens_total", Counter, "tokens", "Input tokens that servers reported, cached ones among them.")
	CachedTokens  = request("tokenmeter_cached_input_tokens_total", Counter, "tokens", "Input tokens that came from a prefix cache; part of the input tokens.")
	OutputTokens  = request("tokenmeter_output_tokens_total", Counter, "tokens", "Output tokens of requests of any outcome, reasoning among them.")
	Reasoning     = request("tokenmeter_reasoning_output_tokens_total", Counter, "tokens", "Output tokens that were reasoning; part of the output tokens.")
	Wasted        = request("tokenmeter_wasted_output_tokens_total", Counter, "tokens", "Output tokens that were made after the client had hung up.")
	Stalls        = request("tokenmeter_stalls_total", Counter, "stalls", "Gaps over 5 times the request's median gap and over 200 ms.")
	RequestBytes  = request("tokenmeter_request_bytes_total", Counter, "bytes", "Bytes of request bodies that were sent upstream.")
	ResponseBytes = request("tokenmeter_response_bytes_total", Counter, "bytes", "Bytes of response bodies that were passed on.")
)

// Of finished requests: distributions. Only measured requests with outcome ok
// have latencies; the proxy's own delay and slow readers are of all that were
// measured.
var (
	TTFT         = times("tokenmeter_ttft_seconds", "ttft", firstEdges, "Time to first token of any channel, since the request was here whole.")
	Delivered    = times("tokenmeter_delivered_ttft_seconds", "delivered_ttft", firstEdges, "Time to first token as the proxy's caller saw it: with the time until it was written to the caller.")
	TTFO         = times("tokenmeter_ttfo_seconds", "ttfo", firstEdges, "Time to the first token that is not reasoning.")
	TPOT         = times("tokenmeter_tpot_seconds", "tpot", paceEdges, "Time per output token after the first: (last - first arrival) / (streamed tokens - 1). One value a request.")
	ITL          = fine("tokenmeter_itl_seconds", "itl", "Gaps between tokens, pooled. None where tokens per chunk are unknown.")
	ICL          = fine("tokenmeter_icl_seconds", "icl", "Gaps between chunks as they came, pooled.")
	MaxGap       = times("tokenmeter_max_gap_seconds", "max_gap", firstEdges, "Longest gap of a request.")
	E2E          = times("tokenmeter_e2e_seconds", "e2e", wholeEdges, "Time to the last token.")
	DecodeSpeed  = speed("tokenmeter_decode_tokens_per_second", "decode_tps", "Speed that a reader sees: 1 / TPOT.")
	RequestSpeed = speed("tokenmeter_e2e_tokens_per_second", "e2e_tps", "Output tokens / E2E of a request.")
	Input        = sizes("tokenmeter_request_input_tokens", "input_tokens", "Input tokens of a request.")
	Output       = sizes("tokenmeter_request_output_tokens", "output_tokens", "Output tokens of a request.")
	SendDelay    = times("tokenmeter_proxy_send_delay_seconds", "", delayEdges, "The proxy's own: from the request being here to its being sent upstream, connecting included.")
	FirstDelay   = times("tokenmeter_proxy_ttft_delay_seconds", "", delayEdges, "The proxy's own: from the first token's arrival to its being written to the client.")
	WorstDelay   = times("tokenmeter_proxy_max_delay_seconds", "", delayEdges, "The proxy's own: the longest time from an arrival to its being written, of a request.")
	SlowReader   = times("tokenmeter_slow_reader_seconds", "", readerEdges, "How long writes waited because the client did not read. Only requests whose client was slow have one.")
)

// Read when asked for.
var (
	SLOBad          = state("tokenmeter_slo_bad_total", Counter, "events", "Events that missed an objective. The rules of `tokenmeter slo rules` read this and tokenmeter_slo_valid_total; of one run and one page they always fit. A new series shows 0 first (docs/slo.md).", SLOLabels...)
	SLOValid        = state("tokenmeter_slo_valid_total", Counter, "events", "Events that an objective could judge: good and bad ones.", SLOLabels...)
	SLOGood         = state("tokenmeter_slo_good_total", Counter, "events", "Events that met an objective: valid less bad.", SLOLabels...)
	SLOExcluded     = state("tokenmeter_slo_excluded_total", Counter, "events", "Events that an objective could not judge.", SLOLabels...)
	SLOInfo         = state("tokenmeter_slo_info", Gauge, "info", "Always 1: the objective is counted here. Rules see by its absence that nobody does.", "slo", "hash", "source", "objective", "target", "window")
	SLOTarget       = state("tokenmeter_slo_target_ratio", Gauge, "ratio", "Share of good among valid that an objective promises.", "slo", "hash", "objective")
	ObjectiveCount  = state("tokenmeter_objective_requests_total", Counter, "requests", "Requests by what an objective found them: good, bad or excluded (cancelled, or it does not apply). Exact: no request is sampled.", slices.Concat(RequestLabels, []string{"objective", "hash", "verdict"})...)
	InFlight        = state("tokenmeter_in_flight_requests", Gauge, "requests", "Requests on their way.", "listener")
	Refused         = state("tokenmeter_refused_requests_total", Counter, "requests", "Requests that were refused, by why.", "listener", "why")
	Passed          = state("tokenmeter_passed_requests_total", Counter, "requests", "Requests that are no completions: models, health.", "listener")
	Retries         = state("tokenmeter_upstream_retries_total", Counter, "retries", "Requests that another upstream got, as the first could not be reached.", "listener")
	Healthy         = state("tokenmeter_upstream_healthy_ratio", Gauge, "ratio", "1: requests go there. 0: it is spared.", "listener", "upstream")
	KeyInFlight     = state("tokenmeter_client_in_flight_requests", Gauge, "requests", "Requests on their way that showed a client's key, by its name.", "listener", "client")
	KeyRequests     = state("tokenmeter_client_requests_total", Counter, "requests", "Requests that a client's key let in, by its name.", "listener", "client")
	KeyLimited      = state("tokenmeter_client_limited_requests_total", Counter, "requests", "Requests that were refused as their key was over its limits.", "listener", "client")
	KeyInput        = state("tokenmeter_client_input_tokens_total", Counter, "tokens", "Input tokens of finished requests, by the name of the client's key.", "listener", "client")
	KeyOutput       = state("tokenmeter_client_output_tokens_total", Counter, "tokens", "Output tokens of finished requests, by the name of the client's key.", "listener", "client")
	Reloads         = state("tokenmeter_config_reloads_total", Counter, "reloads", "Configurations that were taken.")
	ReloadErrors    = state("tokenmeter_config_reload_failures_total", Counter, "failures", "Configurations that were not taken.")
	HistoryFailed   = state("tokenmeter_history_write_failures_total", Counter, "failures", "Times that the history of objectives could not be written (disk full, no right). What was counted is kept in memory and written later.")
	HistoryLate     = state("tokenmeter_history_unwritten_seconds", Gauge, "s", "For how long the history of objectives could not be written; 0: it is. A daemon that ends meanwhile loses what it counted.")
	Dropped         = state("tokenmeter_telemetry_dropped_requests_total", Counter, "requests", "Requests whose figures an exporter dropped because it could not keep up, or write. Counters of Prometheus are never dropped.", "exporter")
	ScrapeErrors    = state("tokenmeter_scrape_failures_total", Counter, "failures", "Times that an exporter of GPU telemetry gave no reading: a gap.", "scrape")
	ServerRunning   = server("tokenmeter_server_running_requests", Gauge, "requests", "Requests in the batch, as the server says itself.")
	ServerWaiting   = server("tokenmeter_server_waiting_requests", Gauge, "requests", "Requests in the server's queue, as it says itself.")
	ServerKV        = server("tokenmeter_server_kv_usage_ratio", Gauge, "ratio", "Share of the KV cache that is in use, as the server says itself.")
	ServerInput     = server("tokenmeter_server_input_tokens_total", Counter, "tokens", "Prompt tokens that the server counted, of all its clients, since it was first read.")
	ServerOutput    = server("tokenmeter_server_output_tokens_total", Counter, "tokens", "Output tokens that the server counted, likewise.")
	ServerLookups   = server("tokenmeter_server_prefix_query_tokens_total", Counter, "tokens", "Prompt tokens that the server looked up in its prefix cache.")
	ServerHits      = server("tokenmeter_server_prefix_hit_tokens_total", Counter, "tokens", "Of these, those that it found.")
	ServerPreempted = server("tokenmeter_server_preempted_requests_total", Counter, "requests", "Requests that the server put back for want of memory.")
	ServerDrafted   = server("tokenmeter_server_draft_tokens_total", Counter, "tokens", "Tokens that the server's draft model proposed.")
	ServerAccepted  = server("tokenmeter_server_accepted_tokens_total", Counter, "tokens", "Of these, those that it accepted.")
	ServerTime      = server("tokenmeter_server_time_seconds_total", Counter, "seconds", "Time by the server's own clock, summed over what ended there: queue, prefill, decode, ttft, e2e (of requests), itl, tpot (of tokens).", "of")
	ServerTimed     = server("tokenmeter_server_timed_values_total", Counter, "values", "How many times tokenmeter_server_time_seconds_total adds up: their quotient is the mean.", "of")
	ServerGPU       = server("tokenmeter_server_gpu_utilization_ratio", Gauge, "ratio", "Share of the time in which any kernel ran, mean of the GPUs on the page.")
	ServerPower     = server("tokenmeter_server_gpu_power_watts", Gauge, "watts", "Power of the GPUs on the page together.")
	ServerUnread    = server("tokenmeter_server_metrics_failures_total", Counter, "failures", "Times that a server's own metrics could not be read: a gap.")
	DroppedSends    = state("tokenmeter_telemetry_failed_sends_total", Counter, "sends", "Batches or packets that an exporter could not deliver.", "exporter")
)

// SLOLabels are those of the counters of objectives. run is new whenever a
// counter begins at zero again, so that no series of one run ever falls.
var SLOLabels = []string{"slo", "hash", "source", "group", Run}

// Run is the label that tells the lives of a counter apart.
const Run = "run"

// Table lists every metric.
var Table []*Metric

// The table is filled by the declarations above, in their order. What they call is kept
// from being inlined: a hundred times over it would weigh 20 kB.
//
//go:noinline
func add(m *Metric) *Metric {
	m.at = len(Table)
	Table = append(Table, m)
	return m
}

//go:noinline
func request(name string, kind Kind, unit, help string, own ...string) *Metric {
	return add(&Metric{Name: name, Kind: kind, Unit: unit, Help: help, Labels: slices.Concat(RequestLabels, own)})
}

//go:noinline
func state(name string, kind Kind, unit, help string, labels ...string) *Metric {
	return add(&Metric{Name: name, Kind: kind, Unit: unit, Help: help, Labels: labels, state: true})
}

// server is what an upstream tells of itself: read off one of its pages.
//
//go:noinline
func server(name string, kind Kind, unit, help string, own ...string) *Metric {
	return state(name, kind, unit, help, append([]string{"upstream", "page"}, own...)...)
}

//go:noinline
func histogram(name, unit, objective string, edges []float64, help string) *Metric {
	m := request(name, Histogram, unit, help)
	m.Buckets, m.Objective, m.PerUnit = edges, objective, 1
	return m
}

//go:noinline
func times(name, objective string, edges []float64, help string) *Metric {
	m := histogram(name, "seconds", objective, edges, help)
	m.PerUnit = 1000
	return m
}

func fine(name, objective, help string) *Metric {
	m := times(name, objective, paceEdges, help)
	m.Fine = true
	return m
}

func speed(name, objective, help string) *Metric {
	return histogram(name, "tokens_per_second", objective, speedEdges, help)
}

func sizes(name, objective, help string) *Metric {
	return histogram(name, "tokens", objective, tokenEdges, help)
}
