package main

import (
	"fmt"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/cost"
	"tokenmeter/record/timeline"
)

// bytesOfToken is what a token of given text is taken for where nothing counts it.
const bytesOfToken = 4

// expected is what a workload will cost; nil without prices.
func expected(p *cost.Pricing, model string, d *workload.Description, requests int64, duration time.Duration) *cost.Expected {
	if p == nil || d.Requests == 0 {
		return nil
	}
	l := cost.Load{Model: model, Reuse: d.PrefixReuse, Requests: requests, Duration: duration}
	if d.Input.N == d.Requests {
		l.Input = timeline.Some(d.Input.Mean)
	} else if d.Images == 0 {
		l.Input = timeline.Some(d.MeanBytes / bytesOfToken)
	}
	if d.Output.N == d.Requests {
		l.Output = timeline.Some(d.Output.Mean)
	}
	e := p.Expect(l)
	return &e
}

// costWords says it in a line.
func costWords(e *cost.Expected, d *workload.Description) string {
	var parts []string
	each, priced := e.USDPerRequest.Get()
	if total, ok := e.USDTotal.Get(); ok {
		parts = append(parts, fmt.Sprintf("about %s for %s", usd(total), typeset.Things(e.Requests.Or(0), "request")))
	}
	if priced {
		parts = append(parts, usd(each)+" a request")
	}
	if cached, ok := e.USDCached.Get(); ok && priced && cached < each {
		parts = append(parts, usd(cached)+" if the prefix cache has all that repeats")
	}
	if hours, ok := e.USDHours.Get(); ok {
		parts = append(parts, usd(hours)+" of GPU hours")
	}
	switch {
	case len(parts) == 0 && d.Output.N < d.Requests:
		return "unknown: how long answers are is the server's choice (give output)"
	case len(parts) == 0:
		return "unknown: no price for this"
	case d.Input.N < d.Requests && priced:
		parts = append(parts, fmt.Sprintf("input taken as %d bytes a token", bytesOfToken))
	}
	return strings.Join(parts, ", ")
}

func usd(x float64) string {
	if x >= 1 {
		return fmt.Sprintf("$%.2f", x)
	}
	return fmt.Sprintf("$%.3g", x)
}

// sentOf is how many requests a workload sends where so many are asked for, or items come at a
// rate for a time, or it has so many items (0: no such bound); whichever is least. Items that
// have begun are sent to their end, and a rate is of items. 0: nobody knows.
func sentOf(d *workload.Description, requests int64, rate float64, duration time.Duration, items int64) (n int64) {
	if d.Requests == 0 {
		return 0
	}
	least := func(items int64) {
		if m := items * d.Requests / d.Items; m > 0 && (n == 0 || m < n) {
			n = m
		}
	}
	least((requests*d.Items + d.Requests - 1) / d.Requests)
	least(int64(rate * duration.Seconds()))
	least(items)
	return n
}

// before tells what a run will cost, before anything is sent.
func (c *benchCmd) before(a *app, p *bench.Plan) {
	if p.Pricing == nil {
		return
	}
	work, err := bench.WorkOf(*p)
	if err != nil {
		return
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
			return
		}
		n = min(n, played)
	}
	d, err := workload.Describe(work, first, n)
	if err != nil {
		return
	}
	requests := sentOf(&d, int64(p.Requests), p.Rate, p.Duration, played)
	a.note("expected cost: %s", costWords(expected(p.Pricing, p.Model, &d, requests, p.Duration), &d))
}
