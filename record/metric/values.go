package metric

import "tokenmeter/record/timeline"

// Values are the figures of one request without its lists: what a summary
// needs of each of many requests. Computing them allocates nothing.
type Values struct {
	TTFTMS timeline.Opt[float64]
	TTFOMS timeline.Opt[float64]
	TTFAMS timeline.Opt[float64] // of sound only
	TTFIMS timeline.Opt[float64] // of pictures only
	E2EMS  timeline.Opt[float64]

	TPOTMS    timeline.Opt[float64]
	TPOTAdjMS timeline.Opt[float64]
	MaxGapMS  timeline.Opt[float64]
	Stalls    timeline.Opt[int64]
	DecodeTPS timeline.Opt[float64]
	E2ETPS    timeline.Opt[float64]

	RTF         timeline.Opt[float64]
	StarvedMS   timeline.Opt[float64]
	Starvations timeline.Opt[int64]

	ServiceTTFTMS timeline.Opt[float64]
	ServiceE2EMS  timeline.Opt[float64]
	NetworkMS     timeline.Opt[float64]

	OutputTokens    timeline.Opt[int64] // N
	StreamedTokens  timeline.Opt[int64] // S = N less what was not streamed as text; null without a stream
	ReasoningTokens timeline.Opt[int64]
	Chunks          timeline.Opt[int64]
	TokenSource     TokenSource

	// Gaps and TokenGaps are the lengths of icl_ms and itl_ms; null where the
	// list is.
	Gaps      timeline.Opt[int64]
	TokenGaps timeline.Opt[int64]
	// LeftOut names why there are gaps between chunks and none between tokens; empty
	// otherwise.
	LeftOut string

	Flags timeline.FlagSet

	events int64    // generation events
	aside  int64    // tokens that came and are not in S
	k      perEvent // what is known of the tokens in each
}

// ValuesOf computes the figures of one request in one pass over its events
// (two with several choices or a long pause).
func ValuesOf(tl *timeline.Timeline) Values {
	v, _ := valuesOf(tl)
	return v
}

// Scan computes the figures and hands out the gaps without building lists.
// icl gets each gap between generation events; itl gets each gap between
// tokens with the number of times it counts. Either may be nil. Where the
// record's list is null the function is not called. Gaps beyond the events that
// were kept come last and with the mean of their bin; see KeepFirst.
func Scan(tl *timeline.Timeline, icl func(gapMS float64), itl func(gapMS float64, times int64)) Values {
	v, s := valuesOf(tl)
	var each func(float64, int64)
	if icl != nil {
		each = func(gap float64, times int64) {
			for range times {
				icl(gap)
			}
		}
	}
	eachGap(tl, &s, &v, each, itl)
	return v
}

func valuesOf(tl *timeline.Timeline) (Values, seen) {
	switch timeline.ProductOf(tl.API) {
	case timeline.Speech:
		v := sound(tl)
		realTime(tl, &v)
		return v, seen{}
	case timeline.Pictures:
		return pictures(tl), seen{}
	}
	s := observe(tl)
	c := count(tl, &s)
	v := Values{
		OutputTokens: c.output, ReasoningTokens: c.reasoning,
		TokenSource: c.source, Chunks: chunks(tl, &s),
		events: s.n, aside: c.aside, k: s.k,
	}
	if tl.Streamed {
		v.StreamedTokens = c.streamed
	}
	latencies(tl, &s, &v)
	v.Flags = tl.Flags | tokenFlags(tl, &s, &c) | deliveryFlags(tl, &s, &c)
	pace(tl, &s, &c, &v)
	gaps(tl, &s, &v)
	rates(&v)
	addAudioFigures(tl, &v)
	realTime(tl, &v)
	return v, s
}

// rates are the two speeds of a request: as a reader sees it, and as a whole.
func rates(v *Values) {
	if tpot, ok := v.TPOTMS.Get(); ok {
		v.DecodeTPS = timeline.Some(1000 / tpot)
	}
	n, known := v.OutputTokens.Get()
	if e2e, ok := v.E2EMS.Get(); ok && known && e2e > 0 {
		v.E2ETPS = timeline.Some(float64(n) * 1000 / e2e)
	}
}
