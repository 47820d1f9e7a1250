package view

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// costWords is what the run cost, and on what that rests.
func costWords(r *run.Run) string {
	if r.Cost == nil {
		return ""
	}
	text := costFigures(r.Cost)
	if t := r.Cost.AtTokenPrices; t != nil {
		if more := costFigures(t); more != "" {
			text += "; by token prices " + more
		}
	}
	return text
}

func costFigures(c *metric.Cost) string {
	var l list
	l.add("$%s per M output", c.USDPerMOutput, dollars)
	l.add("$%s per M in and out", c.USDPerMTotal, dollars)
	l.add("$%s per request", c.USDPerRequest, dollars)
	l.add("$%s per good request", c.USDPerGoodRequest, dollars)
	if len(l) == 0 {
		if usd, ok := c.USDKnown.Get(); ok && c.UnpricedRequests > 0 {
			return fmt.Sprintf("at least $%s: %s of %s have no known price", dollars(usd), typeset.Exact(c.UnpricedRequests),
				typeset.Plural(c.PricedRequests+c.UnpricedRequests, "request"))
		}
		if c.UnpricedRequests > 0 {
			return "unknown: no request has a known price"
		}
		return c.Basis
	}
	return l.String() + " (" + c.Basis + ")"
}

// dollars has three significant digits, and cents where there are any.
func dollars(v float64) string {
	dec := max(typeset.DecimalsFor(v, 3), 0)
	if v >= 1 {
		dec = min(dec, 2)
	}
	return typeset.Number(v, dec)
}
