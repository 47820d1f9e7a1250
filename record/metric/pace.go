package metric

import "tokenmeter/record/timeline"

// pace is the time per output token: (last − first generation event) / (S − 1),
// null when S < 2, when there is one arrival, or in a burst. A count that is
// smaller than the number of events is wrong: each of them held a token.
func pace(tl *timeline.Timeline, s *seen, c *counted, v *Values) {
	streamed := c.streamed.Or(0)
	if c.streamed.OK() {
		streamed = max(streamed, c.events)
	}
	if v.Flags.Has(timeline.Burst) {
		return
	}
	if c.partly() {
		us, runs := s.spokenUS, s.spoken
		if c.pictured {
			us, runs = textRuns(tl, c.summary)
		}
		v.TPOTMS = paceOfRuns(us, runs, c.events, streamed)
		if s.severalChoices {
			v.TPOTMS = timeline.Opt[float64]{}
		}
		return
	}
	span := s.spanUS()
	if s.n < 2 || streamed < 2 || span <= 0 {
		return
	}
	tpot := ms(span) / float64(streamed-1)
	if s.severalChoices {
		tpot = paceOfChoices(tl, float64(streamed)/float64(s.n))
	}
	if tpot <= 0 {
		return
	}
	v.TPOTMS = timeline.Some(tpot)
	if !s.severalChoices {
		v.TPOTAdjMS = adjusted(s, streamed)
	}
	if inBursts(s, tpot) {
		v.Flags |= timeline.CoalescedBursts
	}
}

// paceOfRuns is the pace where S has no tokens of some events: of the reasoning's summary,
// of pictures. Each run of the others has a gap less than tokens; what was made between
// two runs took time of its own.
func paceOfRuns(us, runs, events, streamed int64) timeline.Opt[float64] {
	paced := events > runs && streamed > runs && us > 0 && (streamed < 5 || us > burstUS)
	return timeline.Maybe(ms(us)/float64(streamed-runs), paced)
}

// textRuns is the time between events with nothing else between them, and how many runs of
// such events there are. A picture ends a run, and reasoning of which a summary came.
// Where not every event was kept there is none.
func textRuns(tl *timeline.Timeline, summary bool) (us, runs int64) {
	if restOf(tl) != nil {
		return 0, 0
	}
	last := int64(-1)
	for ev := range tl.Events.Generation() {
		switch {
		case ev.Kind == timeline.Media || summary && ev.Kind == timeline.Reasoning:
			last = -1
			continue
		case last < 0:
			runs++
		default:
			us += ev.AtUS - last
		}
		last = ev.AtUS
	}
	return us, runs
}

// adjusted is TPOT over S − k1: the tokens of the first delivery took no time
// of their own. Null where their number is not known.
func adjusted(s *seen, streamed int64) timeline.Opt[float64] {
	k1 := s.firstTold
	switch s.k {
	case unknown:
		return timeline.Opt[float64]{}
	case oneEach:
		k1 = s.firstN
	}
	return timeline.Maybe(ms(s.spanUS())/float64(streamed-k1), streamed > k1)
}

// paceOfChoices is the mean pace of the choices; share is S / events. Pace
// belongs to a sequence, not to a mixture of several.
func paceOfChoices(tl *timeline.Timeline, share float64) float64 {
	var own [256]choiceSpan
	choices := &own
	if r := restOf(tl); r != nil {
		choices = &r.choices
	} else {
		for ev := range tl.Events.Generation() {
			choices[ev.Choice].add(ev.AtUS)
		}
	}
	var sum, paces float64
	for _, c := range choices {
		if tokens := float64(c.n) * share; c.n > 1 && tokens > 1 {
			sum += ms(c.lastUS-c.firstUS) / (tokens - 1)
			paces++
		}
	}
	if paces == 0 {
		return 0
	}
	return sum / paces
}

// inBursts reports deliveries in bursts with long pauses between: at least
// 80 % of the gaps are short and every other one is 10 × TPOT or longer.
func inBursts(s *seen, tpot float64) bool {
	gaps := s.n - 1
	return s.smallGaps*5 >= gaps*4 && (s.smallGaps == gaps || ms(s.minBigUS) >= 10*tpot)
}
