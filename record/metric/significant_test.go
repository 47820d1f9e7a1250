package metric

import (
	"math"
	"testing"
)

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{0, 3, "0"}, {1372.4, 3, "1,372"}, {79.24, 3, "79.2"}, {0.05, 3, "0.05"}, {0.012345, 3, "0.0123"}, {20, 3, "20"},
		{1234567, 3, "1,234,567"}, {999.96, 4, "1,000"}, {-3.5, 2, "−3.5"}, {10, 4, "10"}, {123456, 4, "123,456"},
		{math.NaN(), 3, "–"}, {math.Inf(1), 3, "–"},
	} {
		if got := Significant(c.v, c.digits); got != c.want {
			t.Errorf("%v with %d digits: %q, want %q", c.v, c.digits, got, c.want)
		}
	}
}
