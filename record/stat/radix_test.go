package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Values sorted digit by digit are in the order that comparing them gives.
func TestSortFloats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 1000),
			rapid.SampledFrom([]float64{0, 1, math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64})), 1, 50).Draw(t, "values")
		scale := rapid.Float64Range(0.5, 2).Draw(t, "scale")
		var values []float64
		for i := 0; len(values) < fewForRadix+7; i++ {
			values = append(values, some[i%len(some)]*math.Pow(scale, float64(i%13)))
		}
		want := slices.Sorted(slices.Values(values))
		sortFloats(values)
		if !slices.Equal(values, want) {
			t.Fatal("not in order")
		}
	})
}

// Counts beyond what a counter of a page holds are kept, however they come.
func TestManyOfOneValue(t *testing.T) {
	var m, o Ints
	for range 3 * math.MaxUint16 {
		m.Add(5)
	}
	o.AddN(5, math.MaxUint16)
	o.Add(5)
	o.Add(6)
	o.Merge(&m)
	got := map[int64]uint64{}
	for v, times := range o.All() {
		got[v] = times
	}
	if len(got) != 2 || got[5] != 4*math.MaxUint16+1 || got[6] != 1 || o.Len() != 4*math.MaxUint16+2 {
		t.Errorf("%v, %d values", got, o.Len())
	}
}
