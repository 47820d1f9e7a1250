package cost

import (
	"fmt"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

const tiered = `
models:
  big:
    input: 1.25
    output: 10
    tiers:
      flex: {input: 0.625, output: 5}
      Priority: {input: 2.5, output: 20}
per_million: {input: 1, output: 2}
`

func served(model, tier string) *timeline.Timeline {
	tl := request(model, usage(1000, 0, 100))
	tl.ServiceTier = tier
	return tl
}

// Each class of service has its own price, by hand: 1,000 tokens in, 100 out.
// What has none is unknown and never charged as the standard class.
func TestTiers(t *testing.T) {
	p, err := Read(strings.NewReader(tiered), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model, tier string
		want        float64 // USD per million such requests; 0: unknown
	}{
		{"big", "", 2250}, {"big", "default", 2250}, {"big", "standard", 2250}, {"big", "on_demand", 2250}, {"big", "ON_DEMAND", 2250},
		{"big", "flex", 1125}, {"big", "FLEX", 1125}, {"big", "priority", 4500},
		{"big", "batch", 0}, {"big", "scale", 0}, {"big", "flexible", 0}, {"else", "flex", 0}, {"else", "default", 1200},
	} {
		usd, ok := p.Of(served(c.model, c.tier)).Get()
		if ok != (c.want > 0) {
			t.Errorf("%s as %q: known %v", c.model, c.tier, ok)
		} else if ok {
			near(t, c.model+" as "+c.tier, some(usd*1e6), c.want)
		}
	}
	tally := NewTally(p)
	for _, tier := range []string{"flex", "", "batch", "batch", "scale"} {
		tally.Add(served("big", tier))
	}
	c := tally.Cost(&metric.Summary{Requests: metric.Requests{OK: 5}})
	if c.USDTotal.OK() || c.PricedRequests != 2 || c.UnpricedRequests != 3 {
		t.Errorf("%+v", c)
	}
	near(t, "known", c.USDKnown, (1125+2250)/1e6)
	for _, want := range []string{"no known price: 3 of 5", `served as "batch", which has no price under tiers: 2`, `served as "scale", which has no price under tiers: 1`} {
		if !strings.Contains(c.Basis, want) {
			t.Errorf("basis %q does not say %q", c.Basis, want)
		}
	}
	for text, want := range map[string]string{
		"models: {a: {input: 1, tiers: {flex: {input: -1}}}}":                           "models.a.tiers.flex.input",
		"models: {a: {input: 1, tiers: {flex: {cached_read: 1}}}}":                      "neither an input nor an output",
		"models: {a: {input: 1, tiers: {flex: {input: 1, tiers: {more: {input: 1}}}}}}": "no tiers of its own",
		"per_million: {input: 1, tiers: {flex: {inputs: 1}}}":                           "inputs",
	} {
		if _, err := Read(strings.NewReader(text), "p.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A server that invents a class for each request fills neither memory nor page.
func TestTiersWithoutEnd(t *testing.T) {
	p := Pricing{Any: &Tokens{Input: some(1), Output: some(1)}}
	tally := NewTally(p)
	for i := range 10_000 {
		tally.Add(served("m", fmt.Sprint("made up ", i)))
	}
	if c := tally.Cost(&metric.Summary{}); len(c.Basis) > 2000 || c.UnpricedRequests != 10_000 {
		t.Errorf("%d requests, %d bytes of words", c.UnpricedRequests, len(c.Basis))
	}
}

// Two prices of one class would be charged by chance.
func TestTierOnce(t *testing.T) {
	_, err := Read(strings.NewReader("per_million: {input: 1, tiers: {flex: {input: 2}, Flex: {input: 3}}}"), "p.yaml")
	if err == nil || !strings.Contains(err.Error(), "same class") {
		t.Errorf("it said %v", err)
	}
}
