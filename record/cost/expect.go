package cost

import (
	"math"
	"time"

	"tokenmeter/record/timeline"
)

// Load is what is going to be sent, as far as it is known before: means of a
// request.
type Load struct {
	Model         string
	Input, Output timeline.Opt[float64] // tokens; empty: not known
	// Reuse is the share of the input that an unlimited prefix cache would have.
	Reuse    float64
	Requests int64         // 0: not known
	Duration time.Duration // 0: not known
}

// Expected is what a load will cost. Null where a price or a length is unknown.
type Expected struct {
	USDPerRequest timeline.Opt[float64] `json:"usd_per_request"` // at token prices, nothing cached
	USDCached     timeline.Opt[float64] `json:"usd_cached"`      // the same with all reuse read from a cache
	USDTotal      timeline.Opt[float64] `json:"usd_total"`       // of all requests, nothing cached
	USDHours      timeline.Opt[float64] `json:"usd_gpu_hours"`   // of the GPUs for the duration
	Requests      timeline.Opt[int64]   `json:"requests"`
}

// Expect says what a load will cost, from asked lengths: servers may answer
// shorter.
func (p *Pricing) Expect(l Load) (e Expected) {
	e.Requests = timeline.Maybe(l.Requests, l.Requests > 0)
	e.USDPerRequest, e.USDCached = p.expect(l, 0), p.expect(l, l.Reuse)
	if usd, ok := e.USDPerRequest.Get(); ok && l.Requests > 0 {
		e.USDTotal = timeline.Some(usd * float64(l.Requests))
	}
	if hourly, ok := p.Hourly().Get(); ok && l.Duration > 0 {
		e.USDHours = timeline.Some(hourly * l.Duration.Hours())
	}
	return e
}

// expect prices a thousand mean requests, as counts are whole numbers.
func (p *Pricing) expect(l Load, cached float64) timeline.Opt[float64] {
	const many = 1000
	input, okIn := l.Input.Get()
	output, okOut := l.Output.Get()
	if !okIn || !okOut {
		return timeline.Opt[float64]{}
	}
	whole := func(x float64) timeline.Opt[int64] { return timeline.Some(int64(math.Round(many * x))) }
	u := timeline.Usage{Input: whole(input), Output: whole(output)}
	if cached > 0 {
		u.Cached = whole(input * cached)
	}
	prices, ok := p.For(l.Model)
	if !ok {
		return timeline.Opt[float64]{}
	}
	prices = prices.at(int64(math.Round(input)))
	prices.Long = nil // a thousand prompts are not a long one
	usd, ok := prices.Of(u).Get()
	return timeline.Maybe(usd/many, ok)
}
