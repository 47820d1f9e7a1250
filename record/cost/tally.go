package cost

import (
	"fmt"
	"maps"
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Tally sums up what the requests of a run cost. Warm-up requests do not count:
// neither do their tokens.
type Tally struct {
	pricing          Pricing
	known            float64 // USD of the priced requests
	priced, unpriced int64
	input, output    int64            // tokens of the priced requests
	units            bool             // some were billed by other things
	tiers            map[string]int64 // unpriced requests by class of service, where that has no price
	lacks            map[string]int64 // the others by what has no price
}

// NewTally is of no request yet, at these prices.
func NewTally(p Pricing) *Tally {
	return &Tally{pricing: p, tiers: map[string]int64{}, lacks: map[string]int64{}}
}

// Add takes a request.
func (t *Tally) Add(tl *timeline.Timeline) {
	if tl.Phase != timeline.Measure || !t.pricing.Priced() {
		return
	}
	cost, lacks := t.pricing.price(tl)
	usd, ok := cost.Get()
	if !ok {
		t.unpriced++
		if lacks == lacksTier {
			metric.CountName(t.tiers, tl.ServiceTier)
		} else {
			t.lacks[lacks]++
		}
		return
	}
	t.priced++
	t.units = t.units || t.pricing.byUnits(tl)
	t.known += usd
	t.input += tl.Usage.Input.Or(0)
	t.output += tl.Usage.Output.Or(0)
}

// Cost is the result; nil without any price. Of GPU hours and token prices the
// hours lead: they are what the server costs whoever runs it. What the tokens
// would cost stands beside them.
func (t *Tally) Cost(s *metric.Summary) *metric.Cost {
	var hours, tokens *metric.Cost
	if usd, ok := t.pricing.Hourly().Get(); ok {
		hours = t.byHours(usd, s)
	}
	if t.pricing.Priced() {
		tokens = t.byTokens(s)
	}
	for _, c := range []*metric.Cost{hours, tokens} {
		if c != nil && s.Tasks != nil && s.Tasks.InTime > 0 {
			c.USDPerTask = per(c.USDTotal.Or(0), timeline.Some(float64(s.Tasks.InTime)), 1)
			if !c.USDTotal.OK() {
				c.USDPerTask = timeline.Opt[float64]{}
			}
		}
	}
	if hours == nil {
		return tokens
	}
	hours.AtTokenPrices = tokens
	return hours
}

// per is a cost over a number of things; empty where there are none.
func per(usd float64, n timeline.Opt[float64], unit float64) timeline.Opt[float64] {
	x, ok := n.Get()
	return timeline.Maybe(usd/x*unit, ok && x > 0)
}

// byHours charges the whole window, whatever became of its requests.
func (t *Tally) byHours(perHour float64, s *metric.Summary) *metric.Cost {
	perSecond := perHour / 3600
	c := &metric.Cost{USDPerHour: timeline.Some(perHour)}
	c.Basis = fmt.Sprintf("$%s an hour", metric.Significant(perHour, 4))
	if n := t.pricing.GPUs.Or(1); n > 1 {
		c.Basis = fmt.Sprintf("%d GPUs at $%s an hour each", n, metric.Significant(t.pricing.GPUHour.Or(0), 4))
	}
	th := &s.Throughput
	c.USDPerMOutput = per(perSecond, th.SystemOutputTPS, 1e6)
	c.USDPer1kOutput = per(perSecond, th.SystemOutputTPS, 1e3)
	c.USDPerMTotal = per(perSecond, th.SystemInOutTPS, 1e6)
	c.USDPerRequest = per(perSecond, th.RequestsPerS, 1)
	if perHour > 0 {
		c.RequestsPerSPerUSDHour = per(1, timeline.Some(perHour), th.RequestsPerS.Or(0))
		if !th.RequestsPerS.OK() {
			c.RequestsPerSPerUSDHour = timeline.Opt[float64]{}
		}
	}
	if window, ok := th.WindowS.Get(); ok {
		c.USDKnown = timeline.Some(perSecond * window)
		c.USDTotal = c.USDKnown
	}
	return c
}

// prices says by what is billed.
func (t *Tally) prices() string {
	if t.units {
		return "prices of pictures, sound or characters"
	}
	return "token prices"
}

// byTokens divides what the tokens cost. A request without a price leaves every
// figure unknown but the sum of the others.
func (t *Tally) byTokens(s *metric.Summary) *metric.Cost {
	c := &metric.Cost{Basis: t.prices() + " at the measured mix", PricedRequests: t.priced, UnpricedRequests: t.unpriced}
	c.USDKnown = timeline.Maybe(t.known, t.priced > 0)
	if t.unpriced > 0 {
		c.Basis += fmt.Sprintf("; at least $%s, as requests have no known price: %d of %d",
			metric.Significant(t.known, 3), t.unpriced, t.priced+t.unpriced)
		for _, name := range slices.Sorted(maps.Keys(t.tiers)) {
			c.Basis += fmt.Sprintf("; served as %q, which has no price under tiers: %d", name, t.tiers[name])
		}
		for _, name := range slices.Sorted(maps.Keys(t.lacks)) {
			switch n := t.lacks[name]; name {
			case lacksUsage:
				c.Basis += fmt.Sprintf("; of %d of them the tokens are not known", n)
			case lacksImages, lacksSound, lacksCharacters:
				c.Basis += fmt.Sprintf("; of %d of them %s is not known, or they failed", n, name)
			case lacksModel:
				c.Basis += fmt.Sprintf("; %d of them were of a model that has no price", n)
			default:
				c.Basis += fmt.Sprintf("; %d of them have tokens of %s, which has no price at their length of prompt", n, name)
			}
		}
		return c
	}
	c.USDTotal = c.USDKnown
	if t.priced == 0 {
		return c
	}
	count := func(n int64) timeline.Opt[float64] { return timeline.Some(float64(n)) }
	c.USDPerMOutput = per(t.known, count(t.output), 1e6)
	c.USDPer1kOutput = per(t.known, count(t.output), 1e3)
	c.USDPerMTotal = per(t.known, count(t.input+t.output), 1e6)
	c.USDPerRequest = per(t.known, count(s.Requests.OK), 1)
	return c
}

// Good adds what a good request cost, once it is known how many were good.
func Good(c *metric.Cost, good int64) {
	if c == nil {
		return
	}
	if usd, ok := c.USDTotal.Get(); ok && good > 0 {
		c.USDPerGoodRequest = timeline.Some(usd / float64(good))
	}
	Good(c.AtTokenPrices, good)
}
