package metric

import (
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"
)

// Values come back in the order in which their requests were due, whichever requests
// have one, and whichever part of the run each was taken in.
func TestOrderedIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type request struct {
			due   int64
			value float64
		}
		known := rapid.SampledFrom([]float64{math.NaN(), 1, 2, 3})
		var whole Order
		var values Ordered
		var all []request
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			var part Order
			var some Ordered
			for range rapid.IntRange(0, 12).Draw(t, "requests") {
				r := request{rapid.Int64Range(0, 50).Draw(t, "due"), known.Draw(t, "value")}
				some.Add(part.Add(r.due, r.due+5, int64(len(all))), r.value)
				all = append(all, r)
			}
			values.Merge(&some, whole.Merge(&part))
		}
		before, length := values.Snapshot(), values.Len()
		values.Add(whole.Add(60, 61, int64(len(all))), 9)
		if before.Len() != length {
			t.Fatal("a snapshot grew")
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].due < all[j].due })
		want := []float64{}
		for _, r := range all {
			if r.value == r.value {
				want = append(want, r.value)
			}
		}
		whole.Prepare()
		if got := whole.Series(&before).Values; !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if got := whole.Series(&values).Values; !slices.Equal(got, append(want, 9)) {
			t.Fatalf("%v, want %v and 9", got, want)
		}
	})
}
