package cost

import (
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Prices as their vendors publish them; where, is in docs/reference-data.md.
const publishedPrices = `
models:
  claude-opus-4-5:
    input: 5
    cached_read: 0.50
    cache_write: 6.25
    cache_write_1h: 10
    output: 25
    tiers:
      batch: {input: 2.50, cached_read: 0.25, cache_write: 3.125, cache_write_1h: 5, output: 12.50}
  gemini-2.5-pro:
    input: 1.25
    cached_read: 0.125
    output: 10
    long:
      - {above: 200000, input: 2.50, cached_read: 0.25, output: 15}
    tiers:
      batch:
        input: 0.625
        output: 5
        long: [{above: 200000, input: 1.25, output: 7.50}]
`

// By hand, in USD.
func TestPublishedFormulas(t *testing.T) {
	p, err := Read(strings.NewReader(publishedPrices), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := func(v int64) timeline.Opt[int64] { return timeline.Some(v) }
	for name, c := range map[string]struct {
		model, tier string
		u           timeline.Usage
		want        float64 // below 0: not known
		lacks       string
	}{
		// 50 fresh, 100,000 written for an hour, 500 out: 50·5 + 100,000·10 + 500·25 = 1,012,750 per 10⁶.
		"an hour's write": {"claude-opus-4-5", "", timeline.Usage{Input: n(100_050), CacheWrite: n(100_000), CacheWrite1h: n(100_000), Output: n(500)}, 1.01275, ""},
		// 148 for five minutes, 100 for an hour: 2048·5 + 1800·0.5 + 148·6.25 + 100·10 + 503·25 = 25,640.
		"both writes and a read": {"claude-opus-4-5", "standard", timeline.Usage{Input: n(4096), Cached: n(1800), CacheWrite: n(248), CacheWrite1h: n(100), Output: n(503)}, 0.02564, ""},
		// Half of each: 12,820.
		"the same in a batch":                            {"claude-opus-4-5", "batch", timeline.Usage{Input: n(4096), Cached: n(1800), CacheWrite: n(248), CacheWrite1h: n(100), Output: n(503)}, 0.01282, ""},
		"a write that is said to be a part, and is more": {"claude-opus-4-5", "", timeline.Usage{Input: n(300), CacheWrite: n(100), CacheWrite1h: n(101), Output: n(1)}, -1, lacksUsage},
		// 200,000·1.25 + 1,000·10 = 260,000; one token more: 200,001·2.5 + 1,000·15 = 515,002.5.
		"a prompt of 200,000":      {"gemini-2.5-pro", "", timeline.Usage{Input: n(200_000), Output: n(1000)}, 0.26, ""},
		"a token more":             {"gemini-2.5-pro", "", timeline.Usage{Input: n(200_001), Output: n(1000)}, 0.5150025, ""},
		"cached tokens are prompt": {"gemini-2.5-pro", "", timeline.Usage{Input: n(300_000), Cached: n(290_000), Output: n(0)}, 0.0975, ""}, // 10,000·2.5 + 290,000·0.25
		"long in a batch":          {"gemini-2.5-pro", "batch", timeline.Usage{Input: n(400_000), Output: n(2000)}, 0.515, ""},              // 400,000·1.25 + 2,000·7.5
		"a class without a price":  {"gemini-2.5-pro", "batch", timeline.Usage{Input: n(400_000), Cached: n(1), Output: n(2000)}, -1, "cached_read"},
		"writes without a price":   {"gemini-2.5-pro", "", timeline.Usage{Input: n(10), CacheWrite: n(5), CacheWrite1h: n(5), Output: n(1)}, -1, "cache_write_1h"},
		"no such tier":             {"gemini-2.5-pro", "flex", timeline.Usage{Input: n(10), Output: n(1)}, -1, lacksTier},
		"no such model":            {"other", "", timeline.Usage{Input: n(10), Output: n(1)}, -1, lacksModel},
		"no usage":                 {"gemini-2.5-pro", "", timeline.Usage{}, -1, lacksUsage},
	} {
		tl := request(c.model, c.u)
		tl.ServiceTier = c.tier
		usd, lacks := p.price(tl)
		if usd.OK() != (c.want >= 0) || lacks != c.lacks {
			t.Errorf("%s: %v, lacks %q, want %q", name, usd, lacks, c.lacks)
		} else if c.want >= 0 {
			near(t, name, usd, c.want)
		}
	}
}

// The run says which class had no price.
func TestWhatHasNoPriceIsNamed(t *testing.T) {
	p, err := Read(strings.NewReader(publishedPrices), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tally := NewTally(p)
	written := usage(10, 0, 1)
	written.CacheWrite, written.CacheWrite1h = timeline.Some(int64(5)), timeline.Some(int64(5))
	tally.Add(request("gemini-2.5-pro", written))
	tally.Add(request("other", usage(1, 0, 1)))
	tally.Add(request("gemini-2.5-pro", timeline.Usage{}))
	c := tally.Cost(&metric.Summary{})
	for _, want := range []string{"1 of them have tokens of cache_write_1h", "1 of them were of a model that has no price", "of 1 of them the tokens are not known"} {
		if !strings.Contains(c.Basis, want) {
			t.Errorf("basis %q does not say %q", c.Basis, want)
		}
	}
}

// Of a load that is only planned, the mean prompt decides its prices, however many
// there are.
func TestExpectedLong(t *testing.T) {
	p, err := Read(strings.NewReader(publishedPrices), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e := p.Expect(Load{Model: "gemini-2.5-pro", Input: timeline.Some(1000.), Output: timeline.Some(100.), Requests: 10})
	near(t, "short", e.USDPerRequest, 0.00225) // 1,000·1.25 + 100·10
	e = p.Expect(Load{Model: "gemini-2.5-pro", Input: timeline.Some(300_000.), Output: timeline.Some(100.)})
	near(t, "long", e.USDPerRequest, 0.7515) // 300,000·2.5 + 100·15
}

// Prices of long prompts that could be read in two ways are mistakes.
func TestLongOnce(t *testing.T) {
	for text, want := range map[string]string{
		"per_million: {input: 1, long: [{input: 2}]}":                                          "needs above",
		"per_million: {input: 1, long: [{above: 0, input: 2}]}":                                "needs above",
		"per_million: {input: 1, long: [{above: -5, input: 2}]}":                               "needs above",
		"per_million: {input: 1, long: [{above: 9, input: 2}, {above: 9, input: 3}]}":          "there twice",
		"per_million: {input: 1, long: [{above: 9, cached_read: 2}]}":                          "neither an input nor an output",
		"per_million: {input: 1, long: [{above: 9, input: -2}]}":                               "is no price",
		"per_million: {input: 1, long: [{above: 9, input: 2, long: [{above: 10, input: 1}]}]}": "no long of their own",
		"per_million: {input: 1, long: [{above: 9, input: 2, tiers: {flex: {input: 1}}}]}":     "no tiers",
		"per_million: {input: 1, above: 7}":                                                    "above",
		"per_million: {input: 1, tiers: {flex: {above: 7, input: 1}}}":                         "above",
	} {
		if _, err := Read(strings.NewReader(text), "p.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
