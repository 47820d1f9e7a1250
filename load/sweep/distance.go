package sweep

import (
	"math"

	"tokenmeter/record/stat"
)

// distant reports whether answers were written so much faster than the limit that it
// holds, though they are worth too few independent ones to show it by counting alone.
// Requests that take seconds tell of each other for seconds: a probe then sees many
// requests, but few independent moments. Two things must be shown:
// counted one by one, as if independent, so many requests were good; and the tail of
// how near they came, continued beyond what was seen and as uncertain as the few
// moments leave it, reaches the limit rarely enough. The first speaks for what
// strikes single requests, the second for what strikes all at once.
//
// It is for the pace of answers only. A queue that has just begun to grow is far from
// any limit on waiting, in a probe that is shorter than its memory.
func (t *test) distant(own pool, level float64) bool {
	if t.target == 0 || !t.o.OfPace() {
		return false
	}
	seen := own.and(t.above)
	if one, _ := stat.ShareEvidence(seen.one, float64(len(seen.near)), t.target); one < level+distantShare {
		return false
	}
	// Each doubling of what was seen is a fresh chance to be fooled; the first look is
	// where counting one by one allows it.
	looks := 1 + math.Max(0, math.Log2(float64(len(seen.near))/fewestGood(t.target, level+distantShare)))
	beyond, ok := stat.ExceedanceBound(seen.near, seen.moments, 1, math.Exp(-level-distantShare)/(looks*(looks+1)))
	return ok && beyond <= 1-t.target
}

// distantShare makes the chance of being wrong by the distance about a quarter of that
// by counting (a logarithm).
const distantShare = 1.35

// fewestGood is how many independent requests, all of them good, show at a level of
// evidence that a share is above the target.
func fewestGood(target, level float64) (n float64) {
	for n = fewest; n < 1e6; n *= 1.05 {
		if e, _ := stat.ShareEvidence(n, n, target); e >= level {
			break
		}
	}
	return n
}
