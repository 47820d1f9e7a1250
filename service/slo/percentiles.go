package slo

import (
	"fmt"
	"math"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Percentiles are those of a metric of an objective, in milliseconds and to
// within 1 %: what the promise would have had to be. A failed request is beyond
// every value, so a percentile that lies among the failed ones is null; with
// valid: success they are left out here too.
type Percentiles struct {
	Metric string `json:"metric"`
	N      int64  `json:"n"`      // requests, failed ones included
	Failed int64  `json:"failed"` // of them
	P50    opt    `json:"p50_ms"`
	P90    opt    `json:"p90_ms"`
	P95    opt    `json:"p95_ms"`
	P99    opt    `json:"p99_ms"`
}

// PercentilesOf reads a sketch.
func PercentilesOf(metric string, s *stat.Sketch) Percentiles {
	p := Percentiles{Metric: metric, N: s.Len()}
	s.Buckets()(func(lower, _ float64, n uint64) bool {
		if math.IsInf(lower, 1) {
			p.Failed += int64(n)
		}
		return true
	})
	for _, q := range []struct {
		share float64
		to    *opt
	}{{0.5, &p.P50}, {0.9, &p.P90}, {0.95, &p.P95}, {0.99, &p.P99}} {
		v, ok := s.Quantile(q.share)
		*q.to = timeline.Maybe(v, ok && !math.IsInf(v, 0) && !math.IsNaN(v))
	}
	return p
}

// says is them in a line.
func (p *Percentiles) says() string {
	show := func(v opt) string {
		if x, ok := v.Get(); ok {
			return milliseconds(x)
		}
		return "failed"
	}
	text := fmt.Sprintf("%s: p50 %s, p90 %s, p95 %s, p99 %s of %s requests", p.Metric, show(p.P50), show(p.P90), show(p.P95), show(p.P99), thousands(p.N))
	if p.Failed > 0 {
		text += fmt.Sprintf(", %s of them failed", thousands(p.Failed))
	}
	return text + "."
}

// milliseconds writes three significant digits: 12.3 ms, 1.25 s.
func milliseconds(x float64) string {
	unit := "ms"
	if x >= 1000 {
		x, unit = x/1000, "s"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(max(x, 0.001)))))
	scale := math.Pow(10, float64(digits))
	return number(math.Round(x*scale)/scale) + " " + unit
}
