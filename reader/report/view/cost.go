package view

import (
	"fmt"
	"strings"

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
	var parts []string
	for _, f := range []struct {
		value interface{ Get() (float64, bool) }
		of    string
	}{{c.USDPerMOutput, "M output"}, {c.USDPerMTotal, "M in and out"}, {c.USDPerRequest, "request"}, {c.USDPerGoodRequest, "good request"}} {
		if v, ok := f.value.Get(); ok {
			parts = append(parts, "$"+dollars(v)+" per "+f.of)
		}
	}
	if len(parts) == 0 {
		if usd, ok := c.USDKnown.Get(); ok && c.UnpricedRequests > 0 {
			return fmt.Sprintf("at least $%s: %s of %s have no known price", dollars(usd), typeset.Exact(c.UnpricedRequests),
				typeset.Plural(c.PricedRequests+c.UnpricedRequests, "request"))
		}
		if c.UnpricedRequests > 0 {
			return "unknown: no request has a known price"
		}
		return c.Basis
	}
	return strings.Join(parts, ", ") + " (" + c.Basis + ")"
}

// dollars has three significant digits, and cents where there are any.
func dollars(v float64) string {
	dec := max(typeset.DecimalsFor(v, 3), 0)
	if v >= 1 {
		dec = min(dec, 2)
	}
	return typeset.Number(v, dec)
}
