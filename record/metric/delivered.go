package metric

import "tokenmeter/record/timeline"

// Delivered calls f with each generation event (µs since due) and the output
// tokens it brought. Where those are not known, each event gets S / chunks.
// The parts add up to S. Nothing is called for a body that is no stream, nor
// where the number of tokens is unknown. v are the timeline's own values.
func Delivered(tl *timeline.Timeline, v *Values, f func(atUS int64, tokens float64)) {
	streamed, ok := v.StreamedTokens.Get()
	if !ok || v.events == 0 {
		return
	}
	share := float64(streamed) / float64(v.events)
	// What usage counts and no event carries (a stop token) goes to the last.
	rest := float64(streamed)
	left := v.events
	for ev := range tl.Events.Generation() {
		tokens := share
		if v.k == told {
			tokens = float64(ev.Tokens.Or(0))
		}
		if left--; left == 0 {
			tokens = rest
		}
		rest -= tokens
		f(ev.AtUS, tokens)
	}
}

// normalised takes the count that the run made by another tokenizer.
func (r *Record) normalised(tl *timeline.Timeline) {
	if n, ok := tl.Norm.Get(); ok {
		r.Normalise(n, tl.NormBy)
	}
}

// Normalise adds the count of another tokenizer, so that models with different
// vocabularies can be compared: tokens is the whole streamed text's length in
// it. The speeds are those of the record for that count.
func (r *Record) Normalise(tokens int64, tokenizer string) {
	if tokens < 0 {
		return
	}
	r.NormTokens, r.NormTokenizer = timeline.Some(tokens), optional(tokenizer)
	r.NormDecodeTPS, r.NormE2ETPS = timeline.Opt[float64]{}, timeline.Opt[float64]{}
	if e2e, ok := r.E2EMS.Get(); ok && e2e > 0 {
		r.NormE2ETPS = timeline.Some(float64(tokens) * 1000 / e2e)
		// TPOT says whether the pace could be measured at all.
		if ttft, ok := r.TTFTMS.Get(); ok && r.TPOTMS.OK() && e2e > ttft && tokens > 1 {
			r.NormDecodeTPS = timeline.Some(float64(tokens-1) * 1000 / (e2e - ttft))
		}
	}
}
