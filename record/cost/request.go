package cost

import "tokenmeter/record/timeline"

// Of is what a request cost by token prices; empty when a price or a count that
// it needs is unknown.
//
// Usage is normalised: input includes what was read from a cache and written to
// one, output includes reasoning, whatever the API's own convention.
func (p *Pricing) Of(tl *timeline.Timeline) timeline.Opt[float64] {
	usd, _ := p.price(tl)
	return usd
}

// What a request may lack to have a known cost, beside a class of tokens without a
// price, which is called as in a price file.
const (
	lacksModel = "its model"
	lacksTier  = "its class of service"
	lacksUsage = "its usage"
)

// price is what a request cost, or what is missing to know it.
func (p *Pricing) price(tl *timeline.Timeline) (usd timeline.Opt[float64], lacks string) {
	if Refused(tl) {
		return timeline.Some(0.0), ""
	}
	prices, ok := p.For(tl.Model)
	if !ok {
		return usd, lacksModel
	}
	if prices, ok = prices.tier(tl.ServiceTier); !ok {
		return usd, lacksTier
	}
	u := tl.Usage
	if tl.Wordless() && !u.Output.OK() {
		u.Output = timeline.Some(int64(0)) // vectors, scores, sound and pictures are no tokens
	}
	units, applies, lacks := prices.Units.of(tl)
	if lacks != "" {
		return usd, lacks
	}
	if applies && !prices.Input.OK() && !prices.Output.OK() {
		return timeline.Some(units), ""
	}
	if usd, lacks = prices.price(u); lacks == "" {
		usd = timeline.Some(usd.Or(0) + units)
	}
	return usd, lacks
}

// byUnits reports whether a request is billed by other things than tokens.
func (p *Pricing) byUnits(tl *timeline.Timeline) bool {
	prices, _ := p.For(tl.Model)
	prices, _ = prices.tier(tl.ServiceTier)
	_, applies, _ := prices.Units.of(tl)
	return applies && !Refused(tl)
}

// Of is the cost of a usage, at the prices of the standard class.
func (t Tokens) Of(u timeline.Usage) timeline.Opt[float64] {
	usd, _ := t.price(u)
	return usd
}

func (t Tokens) price(u timeline.Usage) (usd timeline.Opt[float64], lacks string) {
	input, okIn := u.Input.Get()
	output, okOut := u.Output.Get()
	cached, written, hour, reasoning := u.Cached.Or(0), u.CacheWrite.Or(0), u.CacheWrite1h.Or(0), u.Reasoning.Or(0)
	fresh, short, plain := input-cached-written, written-hour, output-reasoning
	if !okIn || !okOut || min(fresh, short, plain, cached, hour, reasoning) < 0 {
		return usd, lacksUsage
	}
	t = t.at(input)
	thought := t.Reasoning
	if !thought.OK() {
		thought = t.Output
	}
	total := 0.0
	for _, part := range []struct {
		n     int64
		price timeline.Opt[float64]
		name  string
	}{{fresh, t.Input, "input"}, {cached, t.CachedRead, "cached_read"}, {short, t.CacheWrite, "cache_write"}, {hour, t.CacheWrite1h, "cache_write_1h"},
		{plain, t.Output, "output"}, {reasoning, thought, "reasoning"}} {
		if part.n == 0 {
			continue
		}
		each, known := part.price.Get()
		if !known {
			return usd, part.name
		}
		total += float64(part.n) * each
	}
	return timeline.Some(total / 1e6), ""
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
