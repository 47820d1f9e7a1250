package metric

import "tokenmeter/record/timeline"

// Summary is the part of run.json that is computed from the records.
type Summary struct {
	Warnings   []Warning       `json:"warnings"`
	Requests   Requests        `json:"requests"`
	Metrics    map[string]Dist `json:"metrics"` // by name with unit: ttft_ms, …
	Throughput Throughput      `json:"throughput"`
	Checks     *Checks         `json:"checks"`  // null when no answer was checked
	Tasks      *Tasks          `json:"tasks"`   // null without tasks
	Media      *Media          `json:"media"`   // null where no segments were played
	Classes    []ClassSummary  `json:"classes"` // of a mix, by name; null without one
	Readers    []Reader        `json:"readers"` // null where no reading speeds were given
	Cold       *Cold           `json:"cold"`
	Cost       *Cost           `json:"cost"`

	ServerMetrics *ServerMetrics `json:"server_metrics"` // null where no page was read
	GPU           *GPU           `json:"gpu"`            // null where no page told of GPUs
	Decomposition *Decomposition `json:"decomposition"`
	Network       *Network       `json:"network"`  // null where it was not asked for
	Roofline      *Roofline      `json:"roofline"` // null where no hardware was named
}

// Warning is a fact to read beside the figures.
type Warning struct {
	Name  string                `json:"name"`
	Value timeline.Opt[float64] `json:"value"`
	Says  string                `json:"says"`
}

// Requests counts requests by their end. Warm-up requests are counted apart.
type Requests struct {
	Total    int64                      `json:"total"`
	OK       int64                      `json:"ok"`
	Failed   int64                      `json:"failed"`
	Untold   Untold                     `json:"-"` // which of these three are not known
	ByClass  map[timeline.Outcome]int64 `json:"by_class"`
	Excluded map[string]int64           `json:"excluded"` // cancelled_run_end, cancelled_user, never_sent
	// Unanswered counts those of cancelled_run_end that had no token yet.
	Unanswered int64 `json:"unanswered"`
	Warmup     int64 `json:"warmup"`
	// WarmupFailed counts those of the warm-up that failed, but for want of what this
	// machine lacks, or had no token when it ended.
	WarmupFailed int64 `json:"warmup_failed,omitempty"`
	Cooldown     int64 `json:"cooldown"` // sent after the measured part, to keep the load up
	// FirstError is the first failure's words; null without failures.
	FirstError *string `json:"first_error"`
	// TokenSources counts measured requests by where their token count came from.
	TokenSources map[string]int64 `json:"token_sources"`
	// ServedModels counts measured requests by the model that the server says answered.
	ServedModels map[string]int64 `json:"served_models,omitempty"`
	// ServiceTiers counts measured requests by the class of service that the server
	// says it gave; those that it said nothing of are not in it.
	ServiceTiers map[string]int64 `json:"service_tiers,omitempty"`
	// Unread counts measured requests by what of their answers is not read (unread).
	Unread map[string]int64 `json:"unread,omitempty"`
	// Clocks counts measured requests by what stamped their arrivals.
	Clocks map[timeline.Clock]int64 `json:"clocks"`
	// Attempts counts tries of measured requests, retries included; those never sent had none.
	Attempts int64 `json:"attempts"`
	// Flags counts the records that carry each flag.
	Flags map[string]int64 `json:"flags"`
	// ITLLeftOut counts the successful answers with gaps between chunks that are not in
	// itl_ms, by reason: coalesced, burst, several_choices, tokens_per_chunk, no_pace.
	ITLLeftOut map[string]int64 `json:"itl_left_out,omitempty"`
}

// NeverSent is the name in excluded of requests that were planned and never sent: their
// time lay after the end, or it came before a place under the cap was free for them.
const NeverSent = "never_sent"

// Unsent is how many of the measured requests were never sent.
func (r *Requests) Unsent() int64 { return r.Excluded[NeverSent] }

// Dist describes one sample. Percentiles are type 7; an interval is missing
// where the sample is worth too few independent values for one.
type Dist struct {
	N    int64                 `json:"n"`
	Mean timeline.Opt[float64] `json:"mean"`
	SD   timeline.Opt[float64] `json:"sd"` // n − 1
	Min  timeline.Opt[float64] `json:"min"`
	P50  timeline.Opt[float64] `json:"p50"`
	P90  timeline.Opt[float64] `json:"p90"`
	P95  timeline.Opt[float64] `json:"p95"`
	P99  timeline.Opt[float64] `json:"p99"`
	P999 timeline.Opt[float64] `json:"p999"`
	Max  timeline.Opt[float64] `json:"max"`
	CI95 map[string][2]float64 `json:"ci95"` // p50, p90, p95, p99, p999, mean
	// Worth is how many independent values these are worth, since what shares a
	// queue is alike; null where there are none.
	Worth timeline.Opt[float64] `json:"worth"`
	// Needs says of each interval that is missing how many times as long a run
	// would do, at least.
	Needs map[string]float64 `json:"needs,omitempty"`
}

// Figure is one of the figures of a sample, by its name in files.
type Figure struct {
	Name  string
	Value *timeline.Opt[float64]
}

// Figures are all of a sample, in their order; what is written through them changes it.
func (d *Dist) Figures() [9]Figure {
	return [...]Figure{{"mean", &d.Mean}, {"sd", &d.SD}, {"min", &d.Min}, {"p50", &d.P50}, {"p90", &d.P90},
		{"p95", &d.P95}, {"p99", &d.P99}, {"p999", &d.P999}, {"max", &d.Max}}
}

// Stat is a statistic by its name in files: mean, sd, min, p50, p90, p95, p99, p999
// or max; kept is false for any other. It is absent where the sample has none.
func (d *Dist) Stat(name string) (v timeline.Opt[float64], kept bool) {
	for _, f := range d.Figures() {
		if f.Name == name {
			return *f.Value, true
		}
	}
	return v, false
}

// Throughput holds rates over the measured window: first due time to last
// generation event.
type Throughput struct {
	WindowS          timeline.Opt[float64]        `json:"window_s"`
	SystemOutputTPS  timeline.Opt[float64]        `json:"system_output_tps"` // every output token the server spent
	DeliveredTPS     timeline.Opt[float64]        `json:"delivered_tps"`     // streamed ones
	SystemInputTPS   timeline.Opt[float64]        `json:"system_input_tps"`
	CacheHitRate     timeline.Opt[float64]        `json:"cache_hit_rate"` // of input tokens
	SystemInOutTPS   timeline.Opt[float64]        `json:"system_in_out_tps"`
	RequestsPerS     timeline.Opt[float64]        `json:"requests_per_s"` // successful
	InputsPerS       timeline.Opt[float64]        `json:"inputs_per_s"`   // texts of successful requests that were embedded or ranked; null where none were
	CharsPerS        timeline.Opt[float64]        `json:"chars_per_s"`    // characters of successful requests that were spoken; null where none were
	AudioPerS        timeline.Opt[float64]        `json:"audio_s_per_s"`  // seconds of sound of successful requests; null where none is known
	ImagesPerS       timeline.Opt[float64]        `json:"images_per_s"`   // pictures of successful requests; null where none were made
	TasksPerS        timeline.Opt[float64]        `json:"tasks_per_s"`
	SuccessOutputTPS timeline.Opt[float64]        `json:"success_output_tps"`
	ByOutcome        map[timeline.Outcome]float64 `json:"by_outcome"` // output tokens/s
	Best1sTPS        timeline.Opt[float64]        `json:"best_1s_tps"`
	Worst30sTPS      timeline.Opt[float64]        `json:"worst_30s_tps"`
	SustainedTPS     timeline.Opt[float64]        `json:"sustained_tps"`
	Steady           *Steady                      `json:"steady"`
	OfferedPerS      timeline.Opt[float64]        `json:"offered_per_s"`
	AchievedPerS     timeline.Opt[float64]        `json:"achieved_per_s"`
}

// Rates are all of a run that are one figure each, by their names in files, in order; what
// is written through them changes them.
func (t *Throughput) Rates() [18]Figure {
	return [...]Figure{{"window_s", &t.WindowS}, {"system_output_tps", &t.SystemOutputTPS}, {"delivered_tps", &t.DeliveredTPS},
		{"system_input_tps", &t.SystemInputTPS}, {"cache_hit_rate", &t.CacheHitRate}, {"system_in_out_tps", &t.SystemInOutTPS},
		{"requests_per_s", &t.RequestsPerS}, {"inputs_per_s", &t.InputsPerS}, {"chars_per_s", &t.CharsPerS},
		{"audio_s_per_s", &t.AudioPerS}, {"images_per_s", &t.ImagesPerS}, {"tasks_per_s", &t.TasksPerS},
		{"success_output_tps", &t.SuccessOutputTPS}, {"best_1s_tps", &t.Best1sTPS}, {"worst_30s_tps", &t.Worst30sTPS},
		{"sustained_tps", &t.SustainedTPS}, {"offered_per_s", &t.OfferedPerS}, {"achieved_per_s", &t.AchievedPerS}}
}

// Rate is one of Rates by its name; absent where it is none.
func (t *Throughput) Rate(name string) (v timeline.Opt[float64]) {
	for _, f := range t.Rates() {
		if f.Name == name {
			return *f.Value
		}
	}
	return v
}

// Steady is the window in which all planned concurrency was busy.
type Steady struct {
	FromS           float64               `json:"from_s"`
	ToS             float64               `json:"to_s"`
	OutputTokens    timeline.Opt[float64] `json:"output_tokens"`     // null where answers have no tokens
	SystemOutputTPS timeline.Opt[float64] `json:"system_output_tps"` // likewise
}

// Cold is what a first request paid.
type Cold struct {
	FirstRequestTTFTMS         timeline.Opt[float64] `json:"first_request_ttft_ms"`
	FirstOnNewConnectionTTFTMS timeline.Opt[float64] `json:"first_on_new_connection_ttft_ms"`
	AfterIdleTTFTMS            timeline.Opt[float64] `json:"after_idle_ttft_ms"`
}

// Cost holds prices at the measured mix.
type Cost struct {
	USDPerMOutput     timeline.Opt[float64] `json:"usd_per_m_output"`
	USDPerMTotal      timeline.Opt[float64] `json:"usd_per_m_total"`
	USDPer1kOutput    timeline.Opt[float64] `json:"usd_per_1k_output"`
	USDPerRequest     timeline.Opt[float64] `json:"usd_per_request"`
	USDPerGoodRequest timeline.Opt[float64] `json:"usd_per_good_request"`
	USDPerTask        timeline.Opt[float64] `json:"usd_per_task"` // that succeeded in time; null without tasks
	// RequestsPerSPerUSDHour is requests/s for a dollar an hour: QPS per dollar.
	RequestsPerSPerUSDHour timeline.Opt[float64] `json:"requests_per_s_per_usd_hour"`
	USDPerHour             timeline.Opt[float64] `json:"usd_per_hour"` // of GPUs; null by token prices
	// USDTotal is what all measured requests cost; null when one has no known
	// price. USDKnown is the sum of those that have one: at least so much.
	USDTotal         timeline.Opt[float64] `json:"usd_total"`
	USDKnown         timeline.Opt[float64] `json:"usd_known"`
	PricedRequests   int64                 `json:"priced_requests"`
	UnpricedRequests int64                 `json:"unpriced_requests"`
	// AtTokenPrices is the same by token prices, where GPU hours lead; null without both.
	AtTokenPrices *Cost  `json:"at_token_prices"`
	Basis         string `json:"basis"`
}

// Decomposition splits the mean request into parts; shares of E2E.
type Decomposition struct {
	N           int64                 `json:"n"`
	TTFTShare   timeline.Opt[float64] `json:"ttft_share"`   // of E2E
	DecodeShare timeline.Opt[float64] `json:"decode_share"` // of E2E
	NetworkMS   timeline.Opt[float64] `json:"network_ms"`
	// Source is who told queue, prefill and decode: replies, or server_metrics (the
	// means of all requests that ended at the server meanwhile); empty: nobody.
	Source string `json:"source"`
	// What the server's own clock says; null where its page does not tell.
	ServerRequests  timeline.Opt[int64]   `json:"server_requests"` // that ended there meanwhile, others' too
	ServerTTFTMS    timeline.Opt[float64] `json:"server_ttft_ms"`
	ServerTPOTMS    timeline.Opt[float64] `json:"server_tpot_ms"`
	ServerE2EMS     timeline.Opt[float64] `json:"server_e2e_ms"`
	ServerOutputTPS timeline.Opt[float64] `json:"server_output_tps"`
	// ServerRestMS is what of the server's own TTFT is neither queue nor prefill; null
	// where it does not tell all three, or they contradict each other.
	ServerRestMS timeline.Opt[float64] `json:"server_rest_ms"`
	QueueMS      timeline.Opt[float64] `json:"queue_ms"`
	PrefillMS    timeline.Opt[float64] `json:"prefill_ms"`
	DecodeMS     timeline.Opt[float64] `json:"decode_ms"`
}
