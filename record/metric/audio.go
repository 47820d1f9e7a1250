package metric

import "tokenmeter/record/timeline"

// sound are the figures of sound that was made of a text. Its events of the kind media carry bytes of
// it, which have no pace of tokens: what counts is whether they come faster than
// they are played.
//
//	TTFA          first event with sound − due
//	E2E           last event with sound − due; of a body of JSON its end
//	RTF           E2E / how long the sound is
//	starved_ms    how long a player waits that begins with the first sound: whenever
//	              all that has come is played, until more comes
//	starvations   how often it does
//
// A player that begins d later waits max(starved_ms − d, 0): the waits of one only
// move what follows, so starved_ms is the shortest delay with which it never waits.
func sound(tl *timeline.Timeline) Values {
	v := Values{OutputTokens: tl.Usage.Output, Flags: tl.Flags}
	if v.OutputTokens.OK() {
		v.TokenSource = FromUsage
	}
	if !tl.Streamed { // a text of JSON with all of it
		if end, ok := tl.CloseUS.Get(); ok && tl.Outcome == timeline.OK {
			v.E2EMS, v.ServiceE2EMS = timeline.Some(ms(end)), sinceSent(tl, end)
		}
		return v
	}
	var p reading
	rate, steady := tl.AudioRate.Get()
	if steady = steady && rate > 0 && restOf(tl) == nil && !tl.Flags.Has(timeline.ArrivalsCapped); steady {
		p.perTokenUS = 1e6 / float64(rate)
	}
	came := spanOf(tl)
	if came.n == 0 {
		return v
	}
	v.Chunks = timeline.Some(came.n)
	v.TTFAMS, v.E2EMS = timeline.Some(ms(max(came.firstUS, 0))), timeline.Some(ms(max(came.lastUS, 0)))
	v.ServiceE2EMS = sinceSent(tl, came.lastUS)
	if steady {
		for ev := range tl.Events.Generation() {
			if ev.Kind == timeline.Media {
				p.take(ev.AtUS, float64(ev.Bytes))
			}
		}
		v.StarvedMS, v.Starvations = timeline.Some(p.waited/1000), timeline.Some(p.waits)
	}
	return v
}

// spanOf is when sound or pictures came, and in how many events.
func spanOf(tl *timeline.Timeline) (s choiceSpan) {
	for ev := range tl.Events.Generation() {
		if ev.Kind == timeline.Media {
			s.add(ev.AtUS)
		}
	}
	// The rest counts events of all kinds: when the first sound came, it does not tell.
	if r := restOf(tl); r != nil && s.n > 0 {
		s.n, s.lastUS = r.whole.n, r.whole.lastUS
	}
	return s
}

// addAudioFigures adds the figures of sound that came beside words, as a voice's does with its
// transcript. Where none of the tokens are the sound's, all that is no text is sound, be its
// rate known or not (see atOnce).
func addAudioFigures(tl *timeline.Timeline, v *Values) {
	if tokens, told := tl.Server["output_audio_tokens"]; tl.AudioRate.OK() || told && tokens == 0 {
		s := sound(tl)
		v.TTFAMS, v.StarvedMS, v.Starvations = s.TTFAMS, s.StarvedMS, s.Starvations
	}
}

// realTime is the real-time factor: how long the server took for sound of a length.
func realTime(tl *timeline.Timeline, v *Values) {
	us, known := tl.AudioUS.Get()
	if e2e, ok := v.E2EMS.Get(); ok && known && us > 0 && tl.Outcome == timeline.OK {
		v.RTF = timeline.Some(e2e * 1000 / float64(us))
	}
}
