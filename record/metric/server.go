package metric

import "tokenmeter/record/timeline"

// ServerMetrics is what a server told of itself on its metrics page while the
// run measured. It is read beside the requests and changes none of them.
type ServerMetrics struct {
	Engine  string         `json:"engine"` // whose names the pages use: vllm, sglang, …; empty where they tell of GPUs only
	Sources []ServerSource `json:"sources"`
	EveryS  float64        `json:"every_s"` // between two readings of a page
	// FromS and ToS are when the readings were taken that the figures lie between,
	// on the run's clock.
	FromS timeline.Opt[float64] `json:"from_s"`
	ToS   timeline.Opt[float64] `json:"to_s"`

	Gauges   map[string]ServerGauge   `json:"gauges"`   // running, waiting, kv_usage, …
	Counters map[string]ServerCounter `json:"counters"` // output_tokens, preemptions, …; seconds end in _s
	Times    map[string]ServerTime    `json:"times"`    // ttft, queue, prefill, decode, …

	// PrefixHitRate is the share of prompt tokens that the prefix cache had; null
	// where the server does not count it, or looked nothing up.
	PrefixHitRate timeline.Opt[float64] `json:"prefix_hit_rate"`
	// SpecAcceptance is the share of drafted tokens that were accepted, SpecLength
	// the tokens that a step gave on average; null without speculation.
	SpecAcceptance timeline.Opt[float64] `json:"spec_acceptance"`
	SpecLength     timeline.Opt[float64] `json:"spec_length"`
}

// ServerSource is one page: of several replicas each has its own.
type ServerSource struct {
	URL      string `json:"url"` // secrets removed
	Engine   string `json:"engine"`
	Readings int64  `json:"readings"`
	Failed   int64  `json:"failed"`   // readings that gave nothing
	Restarts int64  `json:"restarts"` // times its counters began anew
}

// ServerGauge is a value that goes up and down. Requests are added up over
// replicas, shares are averaged.
type ServerGauge struct {
	Mean float64 `json:"mean"` // of the readings
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// ServerCounter is how much a counter grew, over all replicas and across restarts.
type ServerCounter struct {
	Total float64               `json:"total"`
	PerS  timeline.Opt[float64] `json:"per_s"` // of each page between its own first and last reading, added up
}

// ServerTime is a histogram of times of the requests, or tokens, that ended
// between the readings. Its percentiles are interpolated within the server's
// buckets, as Prometheus does; null in the first bucket and above the last.
type ServerTime struct {
	N      int64                 `json:"n"`
	MeanMS timeline.Opt[float64] `json:"mean_ms"`
	P50MS  timeline.Opt[float64] `json:"p50_ms"`
	P90MS  timeline.Opt[float64] `json:"p90_ms"`
	P99MS  timeline.Opt[float64] `json:"p99_ms"`
}

// ServerSample is one value of one reading: a row of server_metrics.parquet.
// Counters count from the first reading of their page and go on over restarts.
type ServerSample struct {
	AtUS   int64   // on the run's clock
	Source int     // index in ServerMetrics.Sources
	Name   string  // running, kv_usage, output_tokens, …
	Value  float64 // in the name's own unit
}

// withServer completes a decomposition by what the server's own histograms say,
// where its replies tell nothing of themselves. These are means of all requests
// that ended at the server in that time, others' among them: ServerRequests says how many.
func (d *Decomposition) withServer(m *ServerMetrics, s *Summary) {
	if d.QueueMS.OK() || d.PrefillMS.OK() || d.DecodeMS.OK() {
		d.Source = "replies"
	}
	if m == nil {
		return
	}
	mean := func(name string) timeline.Opt[float64] { return m.Times[name].MeanMS }
	d.ServerTTFTMS, d.ServerE2EMS = mean("ttft"), mean("e2e")
	if d.ServerTPOTMS = mean("tpot"); !d.ServerTPOTMS.OK() {
		d.ServerTPOTMS = mean("itl")
	}
	if c, ok := m.Counters["output_tokens"]; ok {
		d.ServerOutputTPS = c.PerS
	}
	if n := max(m.Times["ttft"].N, m.Times["e2e"].N); n > 0 {
		d.ServerRequests = timeline.Some(n)
	}
	if d.Source != "" {
		return
	}
	d.QueueMS, d.PrefillMS, d.DecodeMS = mean("queue"), mean("prefill"), mean("decode")
	if !d.QueueMS.OK() && !d.PrefillMS.OK() && !d.ServerTTFTMS.OK() {
		return
	}
	d.Source = "server_metrics"
	server, told := d.ServerTTFTMS.Get()
	prefill, known := d.PrefillMS.Get()
	switch {
	case !told && !known:
		return
	case !told:
		server = prefill + d.QueueMS.Or(0)
	case known && d.QueueMS.OK():
		if rest := server - prefill - d.QueueMS.Or(0); rest >= -clockRounding*server {
			if rest < 1e-6 { // of the sums' last digits
				rest = 0
			}
			d.ServerRestMS = timeline.Some(rest)
		}
	}
	client, ok := s.Metrics["service_ttft_ms"].Mean.Get()
	if !ok {
		return
	}
	// Much less than nothing: the server counts other requests, or in another way.
	if rest := client - server; rest >= -clockRounding*client {
		d.NetworkMS = timeline.Some(max(rest, 0))
	}
}

// clockRounding is by how much two means of the same times may differ because
// each clock counts whole microseconds, or its own.
const clockRounding = 0.001

// WithServer puts what the server told of itself into the summary.
func (s *Summary) WithServer(m *ServerMetrics) {
	s.ServerMetrics = m
	s.GPU = gpuOf(m, s.Throughput.SystemOutputTPS)
	if s.Decomposition != nil {
		s.Decomposition.withServer(m, s)
	}
}
