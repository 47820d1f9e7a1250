package workload

import (
	"math"
	"testing"

	"tokenmeter/base/random"
)

// Lengths follow the asked distributions: Kolmogorov-Smirnov at a significance of
// 0.001 (critical D·√n = 1.949; for whole numbers the test is conservative),
// with fixed seeds. A length is the nearest whole number.
func TestLengthsFollowTheirDistribution(t *testing.T) {
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	sigma := math.Sqrt(math.Log(1 + 400.0*400/(600*600)))
	mu := math.Log(600) - sigma*sigma/2
	for text, below := range map[string]func(x float64) float64{
		"normal:512,64":     func(x float64) float64 { return phi((x - 512) / 64) },
		"lognormal:600,400": func(x float64) float64 { return phi((math.Log(x) - mu) / sigma) },
		"exponential:3000":  func(x float64) float64 { return -math.Expm1(-x / 3000) },
		"uniform:100,2000":  func(x float64) float64 { return (x - 99.5) / 1901 },
	} {
		l, err := ParseLengths(text)
		if err != nil {
			t.Fatal(err)
		}
		const n, top = 20_000, 60_000
		counts := make([]float64, top+1)
		for i := range uint64(n) {
			src := random.New(7, 0x6b73, i)
			counts[min(l.Draw(&src), top)]++
		}
		worst, seen := 0.0, 0.0
		for k := range top {
			seen += counts[k]
			if seen > 0 && seen < n {
				worst = math.Max(worst, math.Abs(seen/n-below(float64(k)+0.5)))
			}
		}
		if d := worst * math.Sqrt(n); d > 1.949 {
			t.Errorf("%s: D·√n = %.3f", text, d)
		} else {
			t.Logf("%s: D·√n = %.3f", text, d)
		}
	}
}
