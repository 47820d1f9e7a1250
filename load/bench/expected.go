package bench

import (
	"time"

	"tokenmeter/load/workload"
	"tokenmeter/record/cost"
	"tokenmeter/record/timeline"
)

// BytesOfToken is what a token of given text is taken for where nothing counts it.
const BytesOfToken = 4

// ExpectedCost is what so many requests of a workload will cost, or as many as go for a time;
// nil without prices.
func ExpectedCost(p *cost.Pricing, model string, d *workload.Description, requests int64, duration time.Duration) *cost.Expected {
	if p == nil || d.Requests == 0 {
		return nil
	}
	l := cost.Load{Model: model, Reuse: d.PrefixReuse, Requests: requests, Duration: duration}
	if d.Input.N == d.Requests {
		l.Input = timeline.Some(d.Input.Mean)
	} else if d.Images == 0 {
		l.Input = timeline.Some(d.MeanBytes / BytesOfToken)
	}
	if d.Output.N == d.Requests {
		l.Output = timeline.Some(d.Output.Mean)
	}
	e := p.Expect(l)
	return &e
}

// PlannedCost is what a plan will cost, told by the first thousand of its requests, and what these
// are like; nil where the plan has no prices, or its requests can't be looked at.
func PlannedCost(p *Plan) (*cost.Expected, *workload.Description) {
	if p.Pricing == nil {
		return nil, nil
	}
	work, err := WorkOf(*p)
	if err != nil {
		return nil, nil
	}
	n := int64(1000)
	if p.Requests > 0 {
		n = min(n, int64(p.Requests))
	}
	if l, ok := work.(interface{ Len() (int64, error) }); ok {
		if have, err := l.Len(); err == nil && have > 0 {
			n = min(n, have)
		}
	}
	first, played := int64(0), int64(0)
	if p.Trace != nil {
		t := *p.Trace
		t.Requests, t.Duration = int64(p.Requests), p.Duration
		if first, played, _, err = t.Preview(0); err != nil {
			return nil, nil
		}
		n = min(n, played)
	}
	d, err := workload.Describe(work, first, n)
	if err != nil {
		return nil, nil
	}
	return ExpectedCost(p.Pricing, p.Model, &d, d.Sent(int64(p.Requests), p.Rate, p.Duration, played), p.Duration), &d
}
