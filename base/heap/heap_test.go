package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever is put in and taken out, the least comes first: a sorted list is the
// oracle.
func TestLeastFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	less := func(a, b int) bool { return a < b }
	var h, want []int
	for range 20_000 {
		switch x := rng.IntN(1000); {
		case len(h) == 0 || rng.IntN(5) > 1:
			h = Push(h, x, less)
			i, _ := slices.BinarySearch(want, x)
			want = slices.Insert(want, i, x)
		case rng.IntN(2) == 0:
			h[0] = x
			Sink(h, less)
			want = want[1:]
			i, _ := slices.BinarySearch(want, x)
			want = slices.Insert(want, i, x)
		default:
			var got int
			if got, h = Pop(h, less); got != want[0] {
				t.Fatalf("got %d, want %d", got, want[0])
			}
			want = want[1:]
		}
	}
}

// What was taken out is not kept alive by the heap's memory.
func TestPopForgets(t *testing.T) {
	less := func(a, b *int) bool { return *a < *b }
	h := Push(nil, new(int), less)
	_, h = Pop(h, less)
	if h[:1][0] != nil {
		t.Error("the value is still held")
	}
}
