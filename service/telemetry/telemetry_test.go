package telemetry_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/service/slo/rules"
	. "tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"
	"tokenmeter/service/traffic"
)

var form = regexp.MustCompile(`^tokenmeter(_[a-z0-9]+)+$`)

func TestNamesKeepTheRules(t *testing.T) {
	seen := map[string]bool{}
	for i, m := range Table {
		if m.At() != i || telemetrytest.ByName(m.Name) != m {
			t.Errorf("%s is not in its place", m.Name)
		}
		if !form.MatchString(m.Name) || seen[m.Name] || seen["datadog "+m.Dotted()] || seen["otel "+m.OTel()] || m.Help == "" || !strings.HasSuffix(m.Help, ".") {
			t.Errorf("%s, %s: %q", m.Name, m.Dotted(), m.Help)
		}
		seen[m.Name], seen["datadog "+m.Dotted()], seen["otel "+m.OTel()] = true, true, true
		if total := strings.HasSuffix(m.Name, "_total"); total != (m.Kind == Counter) {
			t.Errorf("%s is a %s", m.Name, m.Kind)
		}
		slo := strings.HasPrefix(m.Name, "tokenmeter_slo_") && m.Kind == Counter // names that rules want
		if !slo && !strings.HasSuffix(strings.TrimSuffix(m.Name, "_total"), m.Unit) {
			t.Errorf("%s does not end in its unit, %s", m.Name, m.Unit)
		}
		for _, l := range m.Labels {
			if slices.Contains([]string{"session", "task", "request", "id", "user", "key"}, l) {
				t.Errorf("%s has the label %s", m.Name, l)
			}
		}
		if m.Kind == Histogram && (len(m.Buckets) == 0 || !slices.IsSorted(m.Buckets)) {
			t.Errorf("%s has the edges %v", m.Name, m.Buckets)
		}
	}
	if SLOBad.Name != rules.BadTotal || SLOValid.Name != rules.ValidTotal || SLOInfo.Name != rules.Info {
		t.Error("the rules read other counters")
	}
	if SLOGood.Dotted() != "tokenmeter.slo.good" || TTFT.OTel() != "tokenmeter.ttft" || TTFT.OTelUnit() != "s" ||
		DecodeSpeed.OTel() != "tokenmeter.decode.tokens" || DecodeSpeed.OTelUnit() != "{token}/s" || InFlight.OTel() != "tokenmeter.in.flight.requests" {
		t.Error("names of other systems", SLOGood.Dotted(), TTFT.OTel(), TTFT.OTelUnit())
	}
}

func TestThresholdsAreEdges(t *testing.T) {
	objectives, err := objective.ParseAll([]string{"p99 tpot < 120ms", "p95 ttft <= 333ms", "p99 itl < 37ms", "p50 icl < 41ms", "p90 decode_tps >= 33",
		"p95 e2e < 17s", "p95 max gap < 1.7s", "p99 ttfo < 7s", "ttft:450 tpot:51", "p95 output_tokens < 777"})
	if err != nil {
		t.Fatal(err)
	}
	for m, edge := range map[*Metric]float64{TPOT: 0.12, TTFT: 0.333, ITL: 0.037, ICL: 0.041, DecodeSpeed: 33, E2E: 17, MaxGap: 1.7, TTFO: 7, Output: 777} {
		if edges := m.Edges(objectives); !slices.Contains(edges, edge) || !slices.IsSorted(edges) {
			t.Errorf("%s has no edge at %v: %v", m.Name, edge, edges)
		}
	}
	for m, edge := range map[*Metric]float64{TTFT: 0.45, TPOT: 0.051} {
		if !slices.Contains(m.Edges(objectives), edge) {
			t.Errorf("the criterion %v is no edge of %s", edge, m.Name)
		}
	}
}

func gathered(r *traffic.Request) (counts map[string]float64, figures map[string][]float64) {
	counts, figures = map[string]float64{}, map[string][]float64{}
	Counts(r, func(m *Metric, own string, n float64) { counts[strings.TrimSpace(m.Name+" "+own)] += n })
	Figures(r, true, func(m *Metric, v float64, times int64) {
		for range times {
			figures[m.Name] = append(figures[m.Name], v)
		}
	})
	return counts, figures
}

// Tokens at 100, 130 and 190 ms: TTFT 100 ms, TPOT 45 ms, E2E 190 ms.
func TestAKnownRequest(t *testing.T) {
	counts, figures := gathered(telemetrytest.Streamed(100, 130, 190))
	for name, want := range map[string]float64{"tokenmeter_requests_total ok": 1, "tokenmeter_input_tokens_total": 10, "tokenmeter_output_tokens_total": 3,
		"tokenmeter_request_bytes_total": 100, "tokenmeter_response_bytes_total": 1000} {
		if counts[name] != want {
			t.Errorf("%s is %v, want %v", name, counts[name], want)
		}
	}
	for name, want := range map[string][]float64{"tokenmeter_ttft_seconds": {0.1}, "tokenmeter_ttfo_seconds": {0.1}, "tokenmeter_tpot_seconds": {0.045},
		"tokenmeter_e2e_seconds": {0.19}, "tokenmeter_max_gap_seconds": {0.06}, "tokenmeter_icl_seconds": {0.03, 0.06}, "tokenmeter_itl_seconds": {0.03, 0.06},
		"tokenmeter_proxy_ttft_delay_seconds": {0.00004}, "tokenmeter_proxy_send_delay_seconds": {0.00012}, "tokenmeter_proxy_max_delay_seconds": {0.00006},
		"tokenmeter_request_input_tokens": {10}, "tokenmeter_request_output_tokens": {3}, "tokenmeter_slow_reader_seconds": nil} {
		if !slices.Equal(figures[name], want) {
			t.Errorf("%s is %v, want %v", name, figures[name], want)
		}
	}
}

func TestFailedAndUnmeasuredRequestsHaveNoLatencies(t *testing.T) {
	unmeasured := telemetrytest.Streamed(100, 130)
	unmeasured.Unmeasured = traffic.TooLarge
	for _, r := range []*traffic.Request{telemetrytest.Failed(timeline.HTTP5xx), telemetrytest.Failed(timeline.CancelledUser), unmeasured} {
		counts, figures := gathered(r)
		if counts["tokenmeter_requests_total "+string(r.Outcome)] != 1 || len(figures["tokenmeter_ttft_seconds"]) > 0 || len(figures["tokenmeter_itl_seconds"]) > 0 {
			t.Errorf("%s: %v %v", r.Outcome, counts, figures)
		}
	}
	if counts, _ := gathered(unmeasured); counts["tokenmeter_unmeasured_requests_total too_large"] != 1 {
		t.Error(counts)
	}
}

func TestModelsAreFew(t *testing.T) {
	l := NewLimit(3)
	models := map[string]bool{}
	for i := range 10_000 {
		models[l.Set(traffic.Labels{Model: strings.Repeat("x", i%50+1)})[3]] = true
	}
	if len(models) != 4 || !models[traffic.Other] {
		t.Errorf("labels %v", models)
	}
}

func TestAFullQueueDropsAndDoesNotWait(t *testing.T) {
	hold := make(chan struct{})
	q := NewQueue(4, func(*traffic.Request) { <-hold })
	for range 100 {
		q.Done(nil)
	}
	if n := q.Dropped(); n < 95 || n > 96 { // one is being worked on, or not yet
		t.Errorf("%d were dropped", n)
	}
	close(hold)
	q.Close()
	before := q.Dropped()
	q.Done(nil)
	if q.Dropped() != before+1 {
		t.Error("a closed queue takes more")
	}
}
