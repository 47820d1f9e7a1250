package stat

import (
	"math"
	"slices"
)

const (
	radixBits = 11
	radixSize = 1 << radixBits
	// fewForRadix: fewer values are sorted faster by comparing them.
	fewForRadix = 4096
)

// sortFloats sorts in ascending order. NaN is not among the values.
func sortFloats(values []float64) {
	if len(values) < fewForRadix {
		slices.Sort(values)
		return
	}
	if slices.IsSorted(values) {
		return
	}
	from, to := make([]uint64, len(values)), make([]uint64, len(values))
	for i, v := range values {
		from[i] = keyOf(v)
	}
	for shift := 0; shift < 64; shift += radixBits {
		if pass(from, to, shift) {
			from, to = to, from
		}
	}
	for i, k := range from {
		values[i] = valueOf(k)
	}
}

// pass deals keys out by one digit, keeping their order; false: all have the same
// digit and nothing was done.
func pass(from, to []uint64, shift int) bool {
	var counts [radixSize]int
	for _, k := range from {
		counts[k>>shift&(radixSize-1)]++
	}
	if counts[from[0]>>shift&(radixSize-1)] == len(from) {
		return false
	}
	at := 0
	for i, n := range counts {
		counts[i] = at
		at += n
	}
	for _, k := range from {
		digit := k >> shift & (radixSize - 1)
		to[counts[digit]] = k
		counts[digit]++
	}
	return true
}

// keyOf turns a float into an integer of the same order.
func keyOf(v float64) uint64 {
	bits := math.Float64bits(v)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func valueOf(key uint64) float64 {
	if key>>63 != 0 {
		return math.Float64frombits(key &^ (1 << 63))
	}
	return math.Float64frombits(^key)
}
