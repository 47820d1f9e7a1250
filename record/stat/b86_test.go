package stat

import (
	"math"
	"slices"
	"testing"
)

// B86: no bucket is too low for a value, and no percentile lies above the largest.
func TestB86SketchHasNoCap(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{slices.Repeat([]float64{75000}, 20), 75000}, {slices.Repeat([]float64{1050}, 10), 1050}, {slices.Repeat([]float64{36e6}, 5), 36e6}} {
		var s Sketch
		for _, v := range c.values {
			s.Add(v)
		}
		got, ok := s.Quantile(0.99)
		most, _ := s.hi, s.finite() > 0
		if !ok || math.Abs(got-c.want) > 0.01*c.want || got > most {
			t.Errorf("p99 of %v is %v, at most %v", c.values[0], got, most)
		}
	}
}
