package metric

import "tokenmeter/record/timeline"

// pictures are the figures of pictures. Of a stream:
//
//	TTFI   first event with a picture, finished or on the way − due
//	E2E    last event with a picture − due
//
// A reply that is no stream has only the second: all of it came at its end.
func pictures(tl *timeline.Timeline) Values {
	v := Values{OutputTokens: tl.Usage.Output, Flags: tl.Flags | deliveryFlags(tl, &seen{}, &counted{})}
	if v.OutputTokens.OK() {
		v.TokenSource = FromUsage
	}
	came := spanOf(tl)
	if came.n == 0 {
		return v
	}
	v.Chunks = timeline.Some(came.n)
	v.E2EMS = timeline.Some(ms(max(came.lastUS, 0)))
	v.ServiceE2EMS = sinceSent(tl, came.lastUS)
	v.TTFIMS = timeline.Maybe(ms(max(came.firstUS, 0)), tl.Streamed)
	return v
}
