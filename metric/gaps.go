package metric

import (
	"slices"

	"tokenmeter/timeline"
)

// gaps are the figures of the pauses between generation events.
func gaps(tl *timeline.Timeline, s *seen, v *Values) {
	if s.n == 0 || !v.Chunks.OK() {
		return
	}
	v.Gaps = timeline.Some(s.n - 1)
	if tokenGapsKnown(s, v) {
		v.TokenGaps = timeline.Some(tokenGaps(s, v))
	}
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
func tokenGaps(s *seen, v *Values) int64 {
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

// eachGapUS calls f with each gap between generation events and the event
// that ended it.
func eachGapUS(tl *timeline.Timeline, f func(us int64, ev timeline.Event)) {
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		if last >= 0 {
			f(ev.AtUS-last, ev)
		}
		last = ev.AtUS
	}
}

// eachGap hands out the gaps of the record's lists, in order.
func eachGap(tl *timeline.Timeline, s *seen, v *Values, icl func(float64), itl func(float64, int64)) {
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
			icl(ms(us))
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
}

// gapLists builds icl_ms and itl_ms: nil for null, empty for "no gap".
func gapLists(tl *timeline.Timeline, s *seen, v *Values) (icl, itl []float64) {
	if n, ok := v.Gaps.Get(); ok {
		icl = make([]float64, 0, n)
	}
	if n, ok := v.TokenGaps.Get(); ok {
		itl = make([]float64, 0, n)
	}
	eachGap(tl, s, v,
		func(gap float64) { icl = append(icl, gap) },
		func(gap float64, times int64) {
			for range times {
				itl = append(itl, gap)
			}
		})
	return icl, itl
}
