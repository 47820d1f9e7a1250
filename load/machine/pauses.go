package machine

import (
	"math"
	"runtime/metrics"
)

// pauses is the runtime's histogram of stops for garbage collection.
type pauses struct {
	counts  []uint64
	buckets []float64 // seconds; one more than counts
}

const pauseMetric = "/sched/pauses/total/gc:seconds"

func readPauses() pauses {
	s := []metrics.Sample{{Name: pauseMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return pauses{}
	}
	h := s[0].Value.Float64Histogram()
	return pauses{counts: h.Counts, buckets: h.Buckets}
}

// longestUntil is the longest pause between two readings, in ms, as the upper
// edge of its bucket; 0 when there was none, false when the runtime can't tell.
func (a pauses) longestUntil(b pauses) (ms float64, ok bool) {
	if len(b.counts) == 0 || len(a.counts) != len(b.counts) {
		return 0, false
	}
	for i := len(b.counts) - 1; i >= 0; i-- {
		if b.counts[i] > a.counts[i] {
			edge := b.buckets[i+1]
			if math.IsInf(edge, 1) {
				edge = b.buckets[i]
			}
			return 1000 * edge, true
		}
	}
	return 0, true
}
