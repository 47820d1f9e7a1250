package sweep

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	g := Grid{Cells: make([]Cell, 8), Repeats: 3, Seed: 1}
	order := g.order()
	if len(order) != 24 || slices.IsSorted(order) {
		t.Fatalf("%v", order)
	}
	for r := range 3 { // each repeat has every cell once
		seen := map[int]bool{}
		for _, i := range order[8*r : 8*r+8] {
			if i%3 != r {
				t.Errorf("repeat %d measures %d", r, i)
			}
			seen[i/3] = true
		}
		if len(seen) != 8 {
			t.Errorf("repeat %d measures %d cells", r, len(seen))
		}
	}
	if again := g.order(); !slices.Equal(order, again) {
		t.Error("the same seed has another order")
	}
	g.Ordered, g.Repeats = true, 1
	if got := g.order(); !slices.IsSorted(got) {
		t.Errorf("asked for in order: %v", got)
	}
}
