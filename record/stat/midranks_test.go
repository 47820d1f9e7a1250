package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// By its definition a mid-rank is the number of smaller values and half of the equal
// ones, the value itself among them.
func TestMidRanksAreTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inf := math.Inf(1)
	lists := [][]float64{{}, {3}, {3, 3, 3}, {2, 1}, {inf, 1, inf, 2}, {inf, inf}, {-inf, 0, inf}, {0, 0, 0, 5e-324}, {math.MaxFloat64, -math.MaxFloat64, 1}}
	for range 60 {
		list := make([]float64, 1+r.IntN(300))
		for i := range list {
			switch r.IntN(4) {
			case 0:
				list[i] = float64(r.IntN(9))
			case 1:
				list[i] = r.NormFloat64()
			case 2:
				list[i] = math.Exp(9 * r.NormFloat64())
			default:
				list[i] = []float64{0, inf, 1e300, 1e-300}[r.IntN(4)]
			}
		}
		lists = append(lists, list)
	}
	for _, values := range lists {
		sorted := slices.Sorted(slices.Values(values))
		for i, got := range MidRanks(values, sorted) {
			below, same := 0.0, 0.0
			for _, v := range values {
				if v < values[i] {
					below++
				} else if v == values[i] {
					same++
				}
			}
			if want := (below+same/2)/float64(len(values)) - 0.5; math.Abs(got-want) > 1e-12 {
				t.Fatalf("%v at %d: %v, want %v", values, i, got, want)
			}
		}
	}
}

// A million latencies, to the microsecond.
func BenchmarkMidRanks(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 1<<20)
	for i := range values {
		values[i] = math.Round(1000*math.Exp(r.NormFloat64())) / 1000
	}
	sorted := slices.Sorted(slices.Values(values))
	for b.Loop() {
		MidRanks(values, sorted)
	}
}
