package metric

import (
	"slices"

	"tokenmeter/record/timeline"
)

// gaps are the figures of the pauses between generation events.
func gaps(tl *timeline.Timeline, s *seen, v *Values) {
	if s.n == 0 || !v.Chunks.OK() {
		return
	}
	v.Gaps = timeline.Some(s.n - 1)
	if tokenGapsKnown(s, v) {
		v.TokenGaps = timeline.Some(tokenGaps(s))
	}
	v.LeftOut = leftOut(s, v)
	if s.n < 2 {
		return
	}
	v.MaxGapMS = timeline.Some(ms(s.maxGapUS))
	v.Stalls = timeline.Some(stalls(tl, s))
}

// tokenGapsKnown says whether gaps between tokens can be told from those
// between chunks: one sequence with a pace, tokens per event known, each event
// stamped by itself.
func tokenGapsKnown(s *seen, v *Values) bool {
	return s.k != unknown && !s.severalChoices && v.TPOTMS.OK() &&
		!v.Flags.Has(timeline.Burst) && !v.Flags.Has(timeline.Coalesced)
}

// tokenGaps is how many gaps between tokens there are.
func tokenGaps(s *seen) int64 {
	if s.k == oneEach {
		return s.n - 1
	}
	return max(s.told-s.toldOne, 0)
}

// stalls counts gaps over 5 × the request's median gap and over 200 ms.
func stalls(tl *timeline.Timeline, s *seen) int64 {
	if s.longGaps == 0 {
		return 0
	}
	if r := restOf(tl); r != nil {
		return r.stalls(tl)
	}
	all := make([]int64, 0, s.n-1)
	eachGapUS(tl, func(us int64, _ timeline.Event) { all = append(all, us) })
	slices.Sort(all)
	half := len(all) / 2
	twiceMedian := all[half] + all[half]
	if len(all)%2 == 0 {
		twiceMedian = all[half-1] + all[half]
	}
	var n int64
	for _, us := range slices.Backward(all) {
		if us <= stallUS || 2*us <= 5*twiceMedian {
			break
		}
		n++
	}
	return n
}

// eachGapUS calls f with each gap between generation events that were kept and
// the event that ended it.
func eachGapUS(tl *timeline.Timeline, f func(us int64, ev timeline.Event)) {
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		if last >= 0 {
			f(ev.AtUS-last, ev)
		}
		last = ev.AtUS
	}
}

// eachGap hands out the gaps of the record's lists and how often each counts, in
// order; those beyond the events that were kept by size.
func eachGap(tl *timeline.Timeline, s *seen, v *Values, icl, itl func(float64, int64)) {
	if !v.Gaps.OK() {
		icl = nil
	}
	if !v.TokenGaps.OK() {
		itl = nil
	}
	if icl == nil && itl == nil {
		return
	}
	var waited int64 // since the last token: an event may hold none
	eachGapUS(tl, func(us int64, ev timeline.Event) {
		if icl != nil {
			icl(ms(us), 1)
		}
		if itl == nil {
			return
		}
		waited += us
		if k := s.k.tokensOf(ev.Tokens); k > 0 {
			itl(ms(waited)/float64(k), k)
			waited = 0
		}
	})
	r := restOf(tl)
	if r == nil {
		return
	}
	if icl != nil {
		r.chunkGaps.each(func(us float64, n int64) { icl(us/1000, n) })
	}
	if itl != nil {
		bins := &r.chunkGaps
		if s.k == told {
			bins = &r.tokenGaps
		}
		bins.each(func(us float64, n int64) { itl(us/1000, n) })
	}
}

// mostListed is how many gaps a list may have: of a reply with more, those that
// a histogram knows are thinned evenly.
const mostListed = 2 << 20

// gapLists builds icl_ms and itl_ms: nil for null, empty for "no gap".
func gapLists(tl *timeline.Timeline, s *seen, v *Values) (icl, itl []float64) {
	list := func(to *[]float64, length timeline.Opt[int64]) func(gap float64, times int64) {
		n, ok := length.Get()
		if !ok {
			return nil
		}
		*to = make([]float64, 0, min(n, mostListed))
		return func(gap float64, times int64) {
			if n > mostListed && times > 1 {
				times = max(int64(float64(times)*mostListed/float64(n)), 1)
			}
			for range times {
				*to = append(*to, gap)
			}
		}
	}
	eachGap(tl, s, v, list(&icl, v.Gaps), list(&itl, v.TokenGaps))
	return icl, itl
}
