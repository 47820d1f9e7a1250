package metric

import (
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// ScalarsOf is Of without the lists of gaps: icl_ms and itl_ms are null. It is
// what judging many requests needs.
func ScalarsOf(tl *timeline.Timeline) Record {
	r, _ := ScanRecord(tl, nil, nil)
	return r
}

// ScanRecord is ScalarsOf and Scan in one pass.
func ScanRecord(tl *timeline.Timeline, icl func(gapMS float64), itl func(gapMS float64, times int64)) (Record, Values) {
	v := Scan(tl, icl, itl)
	r := facts(tl)
	v.into(&r)
	r.normalised(tl)
	return r, v
}

// Gaps returns the pooled gaps of the successful requests in milliseconds, of
// itl_ms or icl_ms; nil for another name.
func (c *Collector) Gaps(name string) *stat.Counted {
	c.align()
	switch name {
	case "itl_ms":
		whole, _ := frozen(&c.gaps, &c.itl)
		return whole
	case "icl_ms":
		whole, _ := frozen(&c.gaps, &c.icl)
		return whole
	}
	return nil
}

// Nearest proposes the known name with the fewest edits; empty when none is near.
func Nearest(name string, known []string) string { return nearest(plain(name), known) }
