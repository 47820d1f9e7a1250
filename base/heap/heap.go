// Package heap keeps values so that the first of them is at hand: a slice with
// it at 0, each value before those at twice its place and one or two further.
package heap

// Push adds a value. before is the order, the same in every call.
func Push[T any](h []T, x T, before func(a, b T) bool) []T {
	h = append(h, x)
	for i := len(h) - 1; i > 0 && before(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	return h
}

// Pop takes the first value of a heap that has one.
func Pop[T any](h []T, before func(a, b T) bool) (T, []T) {
	var none T
	last := len(h) - 1
	first := h[0]
	h[0], h[last] = h[last], none
	Sink(h[:last], before)
	return first, h[:last]
}

// Sink puts the value at 0, which has changed, in its place.
func Sink[T any](h []T, before func(a, b T) bool) {
	for i := 0; ; {
		first := 2*i + 1
		if first+1 < len(h) && before(h[first+1], h[first]) {
			first++
		}
		if first >= len(h) || !before(h[first], h[i]) {
			return
		}
		h[i], h[first] = h[first], h[i]
		i = first
	}
}
