package cost

import "tokenmeter/record/timeline"

// Of is what a request cost by token prices; empty when a price or a count that
// it needs is unknown.
//
// Usage is normalised: input includes what was read from a cache and written to
// one, output includes reasoning, whatever the API's own convention.
func (p *Pricing) Of(tl *timeline.Timeline) timeline.Opt[float64] {
	if Refused(tl) {
		return timeline.Some(0.0)
	}
	prices, ok := p.of(tl.Model)
	if !ok {
		return timeline.Opt[float64]{}
	}
	if prices, ok = prices.tier(tl.ServiceTier); !ok {
		return timeline.Opt[float64]{}
	}
	u := tl.Usage
	if tl.Wordless() && !u.Output.OK() {
		u.Output = timeline.Some(int64(0)) // vectors, scores, sound and pictures are no tokens
	}
	return prices.Of(u)
}

// withoutTier reports whether it is only the class of service that has no price.
func (p *Pricing) withoutTier(tl *timeline.Timeline) bool {
	prices, ok := p.of(tl.Model)
	if ok {
		_, ok = prices.tier(tl.ServiceTier)
		return !ok
	}
	return false
}

// Of is the cost of a usage, at the prices of the standard class.
func (t Tokens) Of(u timeline.Usage) timeline.Opt[float64] {
	input, okIn := u.Input.Get()
	output, okOut := u.Output.Get()
	cached, written, reasoning := u.Cached.Or(0), u.CacheWrite.Or(0), u.Reasoning.Or(0)
	fresh, plain := input-cached-written, output-reasoning
	if !okIn || !okOut || fresh < 0 || plain < 0 || cached < 0 || written < 0 || reasoning < 0 {
		return timeline.Opt[float64]{}
	}
	thought := t.Reasoning
	if !thought.OK() {
		thought = t.Output
	}
	total := 0.0
	for _, part := range []struct {
		n     int64
		price timeline.Opt[float64]
	}{{fresh, t.Input}, {cached, t.CachedRead}, {written, t.CacheWrite}, {plain, t.Output}, {reasoning, thought}} {
		if part.n == 0 {
			continue
		}
		usd, known := part.price.Get()
		if !known {
			return timeline.Opt[float64]{}
		}
		total += float64(part.n) * usd
	}
	return timeline.Some(total / 1e6)
}

// Refused reports whether the server turned the request away, or was never
// reached: nobody bills that.
func Refused(tl *timeline.Timeline) bool {
	switch tl.Outcome {
	case timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect, timeline.HTTP429, timeline.HTTP4xx,
		timeline.HTTP5xx, timeline.RedirectRefused, timeline.ClientResource:
	default:
		return false
	}
	for range tl.Events.Generation() {
		return false
	}
	return !tl.Usage.Output.OK()
}
