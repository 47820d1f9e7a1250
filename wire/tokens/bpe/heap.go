package bpe

// heap is a binary heap of numbers, the least on top: a rank in the high half,
// a place in the low one, so that the leftmost of equals comes first.
type heap []uint64

func (h heap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap) push(x uint64) {
	*h = append(*h, x)
	s := *h
	i := len(s) - 1
	for i > 0 {
		up := (i - 1) / 2
		if s[up] <= x {
			break
		}
		s[i] = s[up]
		i = up
	}
	s[i] = x
}

func (h *heap) pop() uint64 {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	*h = s[:last]
	if last > 0 {
		h.down(0)
	}
	return top
}

func (h heap) down(i int) {
	x := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if x <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}
