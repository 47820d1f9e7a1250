package compare

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// kind says what a measure is a figure of.
type kind uint8

const (
	ofRequest kind = iota // each request has one
	ofGaps                // each gap between tokens, pooled
	ofShare               // a share of requests; compared in points
	ofRate                // so many a second of the run
	ofSession             // each session has one
)

// measure is a metric that can be compared. Adding one is a line here.
type measure struct {
	key    string // in files
	name   string // in gates, without unit
	title  string // for people
	unit   string
	kind   kind
	better metric.Better
	stats  []string // rows made without being asked; none: only for gates
	// paced figures depend on when tokens arrived one by one, counted ones on
	// what a token is.
	paced, counted bool
	value          func(*metric.Record) timeline.Opt[float64] // nil: no request has one
}

type opt = timeline.Opt[float64]

var percentiles = []string{"p50", "p95", "p99"}

var measures = []measure{
	{key: "ttft_ms", name: "ttft", title: "TTFT", unit: "ms", better: metric.Lower, stats: percentiles},
	{key: "ttfo_ms", name: "ttfo", title: "TTFO", unit: "ms", better: metric.Lower, stats: []string{"p50", "p95"}},
	{key: "tpot_ms", name: "tpot", title: "TPOT", unit: "ms", better: metric.Lower, stats: percentiles, paced: true, counted: true},
	{key: "tpot_adj_ms", name: "tpot_adj", title: "TPOT adj.", unit: "ms", better: metric.Lower, counted: true},
	{key: "itl_ms", name: "itl", title: "ITL", unit: "ms", kind: ofGaps, better: metric.Lower, stats: []string{"p99"}, paced: true, counted: true},
	{key: "icl_ms", name: "icl", title: "ICL", unit: "ms", kind: ofGaps, better: metric.Lower, stats: []string{"p99"}, paced: true},
	{key: "ttfa_ms", name: "ttfa", title: "TTFA", unit: "ms", better: metric.Lower, stats: percentiles},
	{key: "ttfi_ms", name: "ttfi", title: "TTFI", unit: "ms", better: metric.Lower, stats: percentiles},
	{key: "starved_ms", name: "starved", title: "starved", unit: "ms", better: metric.Lower, stats: []string{"p95"}},
	{key: "rtf", name: "rtf", title: "RTF", better: metric.Lower, stats: percentiles},
	{key: "e2e_ms", name: "e2e", title: "E2E", unit: "ms", better: metric.Lower, stats: percentiles},
	{key: "session_e2e_ms", name: "session_e2e", title: "session E2E", unit: "ms", kind: ofSession, better: metric.Lower, stats: []string{"p50", "p95"}},
	{key: "turn_ttft_ms", name: "turn_ttft", title: "TTFT of turns", unit: "ms", better: metric.Lower},
	{key: "max_gap_ms", name: "max_gap", title: "longest gap", unit: "ms", better: metric.Lower, paced: true},
	{key: "service_ttft_ms", name: "service_ttft", title: "service TTFT", unit: "ms", better: metric.Lower},
	{key: "service_e2e_ms", name: "service_e2e", title: "service E2E", unit: "ms", better: metric.Lower},
	{key: "close_ms", name: "close", title: "close", unit: "ms", better: metric.Lower},
	{key: "first_byte_ms", name: "first_byte", title: "first byte", unit: "ms", better: metric.Lower},
	{key: "network_ms", name: "network", title: "network", unit: "ms", better: metric.Lower},
	{key: "decode_tps", name: "decode_tps", title: "decode TPS", unit: "tokens/s", better: metric.Higher, paced: true, counted: true},
	{key: "e2e_tps", name: "e2e_tps", title: "E2E TPS", unit: "tokens/s", better: metric.Higher, counted: true},
	{key: "norm_decode_tps", name: "norm_decode_tps", title: "decode TPS, normalised", unit: "tokens/s", better: metric.Higher, paced: true},
	{key: "norm_e2e_tps", name: "norm_e2e_tps", title: "E2E TPS, normalised", unit: "tokens/s", better: metric.Higher},
	{key: "cost_usd", name: "cost", title: "cost of a request", unit: "USD", better: metric.Lower},
	{key: "system_output_tps", name: "system_output_tps", title: "output", unit: "tokens/s", kind: ofRate, better: metric.Higher, stats: []string{statRate}, counted: true},
	{key: "success_output_tps", name: "success_output_tps", title: "output of successes", unit: "tokens/s", kind: ofRate, better: metric.Higher, counted: true}, // as most summaries tell it
	{key: "requests_per_s", name: "requests_per_s", title: "requests", unit: "requests/s", kind: ofRate, better: metric.Higher},
	{key: "error_rate", name: "error_rate", title: "failed", unit: "ratio", kind: ofShare, better: metric.Lower, stats: []string{statShare}},
	{key: "goodput", name: "goodput", title: "goodput", unit: "ratio", kind: ofShare, better: metric.Higher, stats: []string{statShare}},
	{key: "check_pass", name: "check_pass", title: "checks passed", unit: "ratio", kind: ofShare, better: metric.Higher, stats: []string{statShare}},
}

func init() {
	for i := range measures {
		measures[i].value = objective.ValueOf(measures[i].name)
	}
}

// ones are what a measure is a figure of, in words.
func (m *measure) ones() string {
	if m.kind == ofSession {
		return "sessions"
	}
	return "requests"
}

// Names of the statistics that are no percentile.
const (
	statMean  = "mean"
	statShare = "share"
	statRate  = "rate"
)

func measureNamed(name string) *measure {
	for i := range measures {
		if m := &measures[i]; m.name == name || m.key == name {
			return m
		}
	}
	return nil
}

func everyMeasure() []*measure {
	list := make([]*measure, len(measures))
	for i := range measures {
		list[i] = &measures[i]
	}
	return list
}

func measureNames() []string {
	list := make([]string, len(measures))
	for i := range measures {
		list[i] = measures[i].name
	}
	return list
}

// chosen are the measures that make rows.
func chosen(list []string) ([]*measure, error) {
	var out []*measure
	for i := range measures {
		if len(list) == 0 && len(measures[i].stats) > 0 {
			out = append(out, &measures[i])
		}
	}
	for _, name := range list {
		m := measureNamed(name)
		if d, err := metric.Lookup(name); m == nil && err == nil {
			m = measureNamed(d.Name)
		}
		if m == nil {
			hint := ""
			if near := metric.Nearest(name, measureNames()); near != "" {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			return nil, fmt.Errorf("no metric called %q can be compared%s (%s)", name, hint, strings.Join(measureNames(), ", "))
		}
		if len(m.stats) == 0 {
			c := *m
			c.stats = percentiles
			if m.kind == ofRate {
				c.stats = []string{statRate}
			}
			m = &c
		}
		if !slices.ContainsFunc(out, func(o *measure) bool { return o.key == m.key }) {
			out = append(out, m)
		}
	}
	return out, nil
}
