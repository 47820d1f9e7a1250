package metric

import (
	"math"
	"testing"

	"tokenmeter/record/timeline"
)

// answered is a request written after 1 ms whose first token came at ttftMS; below 0,
// its connection was reused.
func answered(i int64, ttftMS, connectMS float64, phase timeline.Phase) *timeline.Timeline {
	tl := made{request: i, due: float64(i) * 1000, ttft: ttftMS, gap: 10, events: 3}.timeline()
	tl.Phase, tl.SentUS = phase, timeline.Some(int64(1000))
	if connectMS >= 0 {
		tl.ConnectUS = timeline.Some(us(connectMS))
	}
	return tl
}

func TestNetwork(t *testing.T) {
	type request struct {
		ttft, connect float64
		phase         timeline.Phase
	}
	reused := []request{{101, -1, timeline.Measure}, {201, -1, timeline.Measure}, {301, -1, timeline.Measure}}
	warm := append([]request{{400, 9, timeline.Warmup}, {400, 7, timeline.Warmup}}, reused...)
	for name, c := range map[string]struct {
		requests []request
		asked    *RTT
		rtt, p50 float64 // NaN: null
		source   string
		warned   bool
	}{
		"from the warm-up's connects": {warm, &RTT{}, 7, 193, "connect", false},
		"given":                       {warm, &RTT{GivenMS: timeline.Some(20.0)}, 20, 180, "given", false},
		"none measured":               {reused, &RTT{}, math.NaN(), math.NaN(), "", false},
		"ahead of the requests":       {reused, &RTT{ConnectMS: timeline.Some(5.0)}, 5, 195, "connect", false},
		"ahead, and the warm-up's":    {warm, &RTT{ConnectMS: timeline.Some(8.0)}, 7, 193, "connect", false},
		"given, none measured":        {reused, &RTT{GivenMS: timeline.Some(0.0)}, 0, 200, "given", false},
		"longer than TTFT":            {reused, &RTT{GivenMS: timeline.Some(100.5)}, 100.5, math.NaN(), "given", true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := NewCollector(CollectorOpts{}), NewCollector(CollectorOpts{})
			for i, r := range c.requests {
				into := a
				if i%2 == 1 {
					into = b
				}
				into.Add(answered(int64(i), r.ttft, r.connect, r.phase))
			}
			a.Merge(b)
			s, facts := a.Results()
			raw := s.Metrics["ttft_ms"]
			s.WithRTT(c.asked, &facts)
			if got := s.Network.RTTMS.Or(math.NaN()); got != c.rtt && !math.IsNaN(c.rtt) || s.Network.Source != c.source {
				t.Errorf("round trip %v by %q", got, s.Network.Source)
			}
			p50 := math.NaN()
			if s.Network.TTFTMS != nil {
				p50 = s.Network.TTFTMS.P50.Or(p50)
			}
			if math.Abs(p50-c.p50) > 1e-9 || math.IsNaN(p50) != math.IsNaN(c.p50) {
				t.Errorf("TTFT without it %v, want %v", p50, c.p50)
			}
			if now := s.Metrics["ttft_ms"]; now.P50 != raw.P50 || now.P50.Or(0) != 201 {
				t.Errorf("the TTFT that was seen is %v", now.P50)
			}
			warned := len(s.Warnings) > 0 && s.Warnings[len(s.Warnings)-1].Name == "rtt_too_long"
			if warned != c.warned {
				t.Errorf("warnings %v", s.Warnings)
			}
		})
	}
	var none Summary
	if none.WithRTT(nil, &Facts{}); none.Network != nil {
		t.Error("nobody asked")
	}
}
