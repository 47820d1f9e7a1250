package main

import (
	"fmt"
	"strings"

	"tokenmeter/load/bench"
	"tokenmeter/load/workload"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/cost"
)

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
		parts = append(parts, fmt.Sprintf("input taken as %d bytes a token", bench.BytesOfToken))
	}
	return strings.Join(parts, ", ")
}

func usd(x float64) string {
	if x >= 1 {
		return fmt.Sprintf("$%.2f", x)
	}
	return fmt.Sprintf("$%.3g", x)
}

// before tells what a run will cost, before anything is sent.
func (c *benchCmd) before(a *app, p *bench.Plan) {
	if e, d := bench.PlannedCost(p); e != nil {
		a.note("expected cost: %s", costWords(e, d))
	}
}
