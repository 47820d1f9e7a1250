package stat

import (
	"math"
	"testing"
)

// Where x is at the bound between the two fractions, to the last digit, both sides
// of it may seem to be beyond.
func TestBetaIncAtTheMean(t *testing.T) {
	for a := 0.05; a < 400; a *= 1.07 {
		for b := 0.05; b < 400; b *= 1.09 {
			x := (a + 1) / (a + b + 2)
			for _, at := range []float64{math.Nextafter(x, 0), x, math.Nextafter(x, 1), 1 - (b+1)/(a+b+2)} {
				if got := BetaInc(a, b, at) + BetaInc(b, a, 1-at); math.Abs(got-1) > 1e-9 {
					t.Fatalf("%g, %g at %g: the sides add up to %g", a, b, at, got)
				}
			}
		}
	}
}
