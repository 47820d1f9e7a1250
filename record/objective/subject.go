package objective

import (
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// class says what an objective's metric is a figure of.
type class uint8

const (
	ofRequest class = iota // each request has one
	ofGaps                 // each gap between tokens, pooled
	ofRatio                // a share of requests or tasks
	ofRun                  // the run has one
	ofSession              // each conversation, task or session of an agent has one
)

// subject is a metric that objectives can be made of. Adding one is a line
// here.
type subject struct {
	name   string // without unit
	key    string // in files
	class  class
	unit   dimension
	higher bool // more is better
	turns  bool // only requests that are of a session have one
	value  func(*metric.Record) timeline.Opt[float64]
	run    func(*metric.Summary) timeline.Opt[float64]
}

type opt = timeline.Opt[float64]

var subjects = []subject{
	{name: "ttft", key: "ttft_ms", unit: duration, value: func(r *metric.Record) opt { return r.TTFTMS }},
	{name: "ttfo", key: "ttfo_ms", unit: duration, value: func(r *metric.Record) opt { return r.TTFOMS }},
	{name: "ttfa", key: "ttfa_ms", unit: duration, value: func(r *metric.Record) opt { return r.TTFAMS }},
	{name: "ttfi", key: "ttfi_ms", unit: duration, value: func(r *metric.Record) opt { return r.TTFIMS }},
	{name: "tpot", key: "tpot_ms", unit: duration, value: func(r *metric.Record) opt { return r.TPOTMS }},
	{name: "tpot_adj", key: "tpot_adj_ms", unit: duration, value: func(r *metric.Record) opt { return r.TPOTAdjMS }},
	{name: "e2e", key: "e2e_ms", unit: duration, value: func(r *metric.Record) opt { return r.E2EMS }},
	{name: "max_gap", key: "max_gap_ms", unit: duration, value: func(r *metric.Record) opt { return r.MaxGapMS }},
	{name: "close", key: "close_ms", unit: duration, value: func(r *metric.Record) opt { return r.CloseMS }},
	{name: "first_byte", key: "first_byte_ms", unit: duration, value: func(r *metric.Record) opt { return r.FirstByteMS }},
	{name: "service_ttft", key: "service_ttft_ms", unit: duration, value: func(r *metric.Record) opt { return r.ServiceTTFTMS }},
	{name: "service_e2e", key: "service_e2e_ms", unit: duration, value: func(r *metric.Record) opt { return r.ServiceE2EMS }},
	{name: deliveredTTFT, key: "delivered_ttft_ms", unit: duration, value: func(r *metric.Record) opt { return r.DeliveredTTFTMS }},
	{name: "network", key: "network_ms", unit: duration, value: func(r *metric.Record) opt { return r.NetworkMS }},
	{name: "delay", key: "delay_ms", unit: duration, value: func(r *metric.Record) opt { return timeline.Some(r.DelayMS) }},
	{name: "dns", key: "dns_ms", unit: duration, value: func(r *metric.Record) opt { return r.DNSMS }},
	{name: "connect", key: "connect_ms", unit: duration, value: func(r *metric.Record) opt { return r.ConnectMS }},
	{name: "tls", key: "tls_ms", unit: duration, value: func(r *metric.Record) opt { return r.TLSMS }},
	{name: "stalls", key: "stalls", unit: number, value: func(r *metric.Record) opt { return timeline.Float(r.Stalls) }},
	{name: "rtf", key: "rtf", unit: number, value: func(r *metric.Record) opt { return r.RTF }},
	{name: "starved", key: "starved_ms", unit: duration, value: func(r *metric.Record) opt { return r.StarvedMS }},
	{name: "starvations", key: "starvations", unit: number, value: func(r *metric.Record) opt { return timeline.Float(r.Starvations) }},
	{name: "decode_tps", key: "decode_tps", unit: tokenRate, higher: true, value: func(r *metric.Record) opt { return r.DecodeTPS }},
	{name: "e2e_tps", key: "e2e_tps", unit: tokenRate, higher: true, value: func(r *metric.Record) opt { return r.E2ETPS }},
	{name: "norm_decode_tps", key: "norm_decode_tps", unit: tokenRate, higher: true, value: func(r *metric.Record) opt { return r.NormDecodeTPS }},
	{name: "norm_e2e_tps", key: "norm_e2e_tps", unit: tokenRate, higher: true, value: func(r *metric.Record) opt { return r.NormE2ETPS }},
	{name: "input_tokens", key: "input_tokens", unit: tokens, value: func(r *metric.Record) opt { return timeline.Float(r.InputTokens) }},
	{name: "cached_tokens", key: "cached_tokens", unit: tokens, value: func(r *metric.Record) opt { return timeline.Float(r.CachedTokens) }},
	{name: "output_tokens", key: "output_tokens", unit: tokens, value: func(r *metric.Record) opt { return timeline.Float(r.OutputTokens) }},
	{name: "reasoning_tokens", key: "reasoning_tokens", unit: tokens, value: func(r *metric.Record) opt { return timeline.Float(r.ReasoningTokens) }},
	{name: "cost", key: "cost_usd", unit: dollars, value: func(r *metric.Record) opt { return r.CostUSD }},

	{name: "turn_ttft", key: "turn_ttft_ms", unit: duration, turns: true, value: func(r *metric.Record) opt { return r.TTFTMS }},
	{name: sessionE2E, key: "session_e2e_ms", class: ofSession, unit: duration},

	{name: "itl", key: "itl_ms", class: ofGaps, unit: duration},
	{name: "icl", key: "icl_ms", class: ofGaps, unit: duration},

	{name: "error_rate", key: "error_rate", class: ofRatio, unit: ratio},
	{name: "goodput", key: "goodput.fraction", class: ofRatio, unit: ratio, higher: true},
	{name: "check_pass", key: "check", class: ofRatio, unit: ratio, higher: true},
	{name: "task_success", key: "task", class: ofRatio, unit: ratio, higher: true},

	{name: "system_output_tps", key: "system_output_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.SystemOutputTPS }},
	{name: "delivered_tps", key: "delivered_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.DeliveredTPS }},
	{name: "system_input_tps", key: "system_input_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.SystemInputTPS }},
	{name: "cache_hit_rate", key: "cache_hit_rate", class: ofRun, unit: ratio, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.CacheHitRate }},
	{name: "system_in_out_tps", key: "system_in_out_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.SystemInOutTPS }},
	{name: "success_output_tps", key: "success_output_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.SuccessOutputTPS }},
	{name: "best_1s_tps", key: "best_1s_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.Best1sTPS }},
	{name: "worst_30s_tps", key: "worst_30s_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.Worst30sTPS }},
	{name: "sustained_tps", key: "sustained_tps", class: ofRun, unit: tokenRate, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.SustainedTPS }},
	{name: "requests_per_s", key: "requests_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.RequestsPerS }},
	{name: "inputs_per_s", key: "inputs_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.InputsPerS }},
	{name: "chars_per_s", key: "chars_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.CharsPerS }},
	{name: "audio_s_per_s", key: "audio_s_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.AudioPerS }},
	{name: "images_per_s", key: "images_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.ImagesPerS }},
	{name: "tasks_per_s", key: "tasks_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.TasksPerS }},
	{name: "achieved_per_s", key: "achieved_per_s", class: ofRun, unit: perSecond, higher: true, run: func(s *metric.Summary) opt { return s.Throughput.AchievedPerS }},
	// The rate of good requests; its value comes from the judge.
	{name: goodputRate, key: "goodput.requests_per_s", class: ofRun, unit: perSecond, higher: true},
	{name: "usd_per_1k_output", key: "usd_per_1k_output", class: ofRun, unit: dollars, run: costs(func(c *metric.Cost) opt { return c.USDPer1kOutput })},
	{name: "usd_per_m_output", key: "usd_per_m_output", class: ofRun, unit: dollars, run: costs(func(c *metric.Cost) opt { return c.USDPerMOutput })},
	{name: "usd_per_m_total", key: "usd_per_m_total", class: ofRun, unit: dollars, run: costs(func(c *metric.Cost) opt { return c.USDPerMTotal })},
	{name: "usd_per_request", key: "usd_per_request", class: ofRun, unit: dollars, run: costs(func(c *metric.Cost) opt { return c.USDPerRequest })},
}

const (
	goodputRate   = "goodput_per_s"
	deliveredTTFT = "delivered_ttft"
	sessionE2E    = "session_e2e"
)

// OfProxies reports whether only live requests can be judged, as the metric is of
// what a proxy's callers saw.
func (o *Objective) OfProxies() bool { return o.Metric == deliveredTTFT }

func costs(of func(*metric.Cost) opt) func(*metric.Summary) opt {
	return func(s *metric.Summary) opt {
		if s.Cost == nil {
			return opt{}
		}
		return of(s.Cost)
	}
}

// ValueOf reads a metric, named as in objectives, off one request; nil where no
// request has a value of it.
func ValueOf(name string) func(*metric.Record) timeline.Opt[float64] {
	s, ok := byName(name)
	switch {
	case !ok:
		return nil
	case !s.turns:
		return s.value
	}
	return func(r *metric.Record) opt {
		if r.SessionName() == "" {
			return opt{}
		}
		return s.value(r)
	}
}

// spellings are names that people type beyond the catalogue's aliases.
var spellings = map[string]string{
	"e2el": "e2e", "latency": "e2e", "request_latency": "e2e", "e2e_latency": "e2e", "end_to_end": "e2e", "end_to_end_latency": "e2e",
	"inter_token_latency": "itl", "inter_chunk_latency": "icl", "gap": "itl", "longest_gap": "max_gap",
	"time_to_first_token": "ttft", "time_per_output_token": "tpot", "time_to_first_output": "ttfo", "time_to_first_audio": "ttfa", "time_to_first_image": "ttfi", "real_time_factor": "rtf",
	"session": sessionE2E, "session_duration": sessionE2E, "conversation_e2e": sessionE2E,
	"errors": "error_rate", "error": "error_rate", "failure_rate": "error_rate", "failures": "error_rate",
	"checks": "check_pass", "check": "check_pass", "check_passed": "check_pass", "checks_pass": "check_pass",
	"check_pass_rate": "check_pass", "tasks": "task_success", "task": "task_success", "task_success_rate": "task_success",
	"request_goodput": goodputRate, "goodput_rate": goodputRate, "goodput_requests_per_s": goodputRate,
	"output_tps": "system_output_tps", "throughput": "system_output_tps", "tpot_adjusted": "tpot_adj",
	"rps": "requests_per_s", "request_rate": "achieved_per_s", "cost_usd": "cost",
	"usd_per_1k_output_tokens": "usd_per_1k_output", "usd_per_million_output": "usd_per_m_output",
}

// byEveryName finds a subject by its name, its name in files and its spellings.
var byEveryName = func() map[string]*subject {
	all := map[string]*subject{}
	for i := range subjects {
		all[subjects[i].name], all[subjects[i].key] = &subjects[i], &subjects[i]
	}
	for spelling, name := range spellings {
		all[spelling] = all[name]
	}
	return all
}()

func byName(name string) (*subject, bool) {
	s, ok := byEveryName[name]
	return s, ok
}

// subject is the metric of the objective; a subject without a name for a
// metric that is none (an Objective that was not parsed).
func (o *Objective) subject() *subject {
	if s, ok := byName(o.Metric); ok {
		return s
	}
	return &subject{class: ofRun, run: func(*metric.Summary) opt { return opt{} }}
}

// Names lists the metrics that objectives can be made of.
func Names() []string {
	names := make([]string, len(subjects))
	for i, s := range subjects {
		names[i] = s.name
	}
	return names
}
