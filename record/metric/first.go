package metric

import "tokenmeter/record/timeline"

// latencies are the times from due to a moment of the reply, and the same from
// the request written.
//
//	TTFT  first generation event, of any channel
//	TTFO  first generation event that is not reasoning
//	E2E   last generation event; of a body that is no stream, its end
func latencies(tl *timeline.Timeline, s *seen, v *Values) {
	if s.n > 0 {
		v.TTFTMS = timeline.Some(ms(max(s.firstUS, 0)))
		v.E2EMS = timeline.Some(ms(max(s.lastUS, 0)))
		v.ServiceTTFTMS = sinceSent(tl, s.firstUS)
		v.ServiceE2EMS = sinceSent(tl, s.lastUS)
	}
	v.TTFOMS = timeline.Maybe(ms(max(s.answerUS, 0)), s.answer)
	if end, ok := tl.CloseUS.Get(); ok && end >= 0 && !tl.Streamed && tl.Outcome == timeline.OK {
		v.E2EMS = timeline.Some(ms(end))
		v.ServiceE2EMS = sinceSent(tl, end)
	}
	v.NetworkMS = network(tl, v)
}

// sinceSent counts from the request written. An answer that began before the
// request was complete has no such time.
func sinceSent(tl *timeline.Timeline, atUS int64) timeline.Opt[float64] {
	sent, ok := tl.SentUS.Get()
	return timeline.Maybe(ms(atUS-sent), ok && atUS >= sent)
}

// network is the part of the service TTFT that the server did not report as
// its own: the way there and back, and whatever stands between.
func network(tl *timeline.Timeline, v *Values) timeline.Opt[float64] {
	ttft, ok := v.ServiceTTFTMS.Get()
	prefill, reported := tl.Server["prefill_ms"]
	// A server that cannot tell its queue has counted it in the prefill.
	rest := ttft - prefill - tl.Server["queue_ms"]
	return timeline.Maybe(rest, ok && reported && rest >= 0 && rest <= ttft)
}
