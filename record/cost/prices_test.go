package cost

import (
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

const prices = `
gpu_hour: 2.50
gpus: 8
per_million:
  input: 2.5
  cached_read: 1.25
  output: 10
models:
  small: {input: 0.15, output: 0.6, reasoning: 1.2}
`

func TestRead(t *testing.T) {
	p, err := Read(strings.NewReader(prices), "prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	near(t, "hourly", p.Hourly(), 20)
	u := timeline.Usage{Input: timeline.Some[int64](100), Output: timeline.Some[int64](50), Reasoning: timeline.Some[int64](20)}
	near(t, "small", p.Of(request("small", u)), (100*0.15+30*0.6+20*1.2)/1e6)
	near(t, "any", p.Of(request("else", u)), (100*2.5+50*10)/1e6)
	// Both bases: the hours lead, the tokens stand beside.
	tally := NewTally(p)
	tally.Add(request("small", u))
	c := tally.Cost(&metric.Summary{Requests: metric.Requests{OK: 1}})
	near(t, "per hour", c.USDPerHour, 20)
	near(t, "at token prices", c.AtTokenPrices.USDPerRequest, (100*0.15+30*0.6+20*1.2)/1e6)
}

func TestUnknownStaysUnknown(t *testing.T) {
	p := Tokens{Input: some(1), Output: some(2)}
	for name, u := range map[string]timeline.Usage{
		"no usage":           {},
		"no output":          {Input: timeline.Some[int64](1)},
		"no cache price":     usage(10, 5, 1),
		"no write price":     {Input: timeline.Some[int64](10), CacheWrite: timeline.Some[int64](5), Output: timeline.Some[int64](1)},
		"reasoning > output": {Input: timeline.Some[int64](1), Output: timeline.Some[int64](1), Reasoning: timeline.Some[int64](5)},
		"negative":           {Input: timeline.Some[int64](-1), Output: timeline.Some[int64](1)},
	} {
		if v, ok := p.Of(u).Get(); ok {
			t.Errorf("%s: cost %v", name, v)
		}
	}
	if v, ok := (Tokens{Output: some(2)}).Of(usage(0, 0, 5)).Get(); !ok || v != 1e-5 {
		t.Errorf("a price that is not needed: %v %v", v, ok)
	}
	if c := NewTally(Pricing{}).Cost(&metric.Summary{}); c != nil {
		t.Errorf("no prices: %+v", c)
	}
	// Hours without tokens: nothing to divide by.
	if c := NewTally(Pricing{GPUHour: some(3)}).Cost(&metric.Summary{}); c == nil || c.USDPerMOutput.OK() || c.USDPerRequest.OK() || c.RequestsPerSPerUSDHour.OK() || c.USDTotal.OK() {
		t.Errorf("%+v", c)
	}
}

// What the server turned away is not billed; what it broke off is not known.
func TestFailures(t *testing.T) {
	p := Pricing{Any: &Tokens{Input: some(1), Output: some(2)}}
	tl := request("m", timeline.Usage{})
	tl.Fail(timeline.HTTP429, "slow down")
	near(t, "refused", p.Of(tl), 0)
	tl = request("m", timeline.Usage{})
	tl.Fail(timeline.StreamTruncated, "cut")
	if v, ok := p.Of(tl).Get(); ok {
		t.Errorf("a truncated stream costs %v", v)
	}
	warm := request("m", usage(1, 0, 1))
	warm.Phase = timeline.Warmup
	tally := NewTally(p)
	tally.Add(warm)
	if c := tally.Cost(&metric.Summary{}); c.PricedRequests != 0 || c.USDTotal.OK() {
		t.Errorf("%+v", c)
	}
}

func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"gpu_hour: -1":                      "0 or more",
		"gpus: 0":                           "at least 1",
		"gpu_hours: 3":                      "gpu_hours",
		"per_million: {input: -2}":          "per_million.input",
		"per_million: {cached_read: 1}":     "neither an input nor an output",
		"models: {a: {output: .inf}}":       "1:22: want a number",
		"gpus: 0\ngpu_hour: -1":             "2:1: gpu_hour",
		"":                                  "empty",
		"gpu_hour: [":                       "",
		"gpu_hour: abc":                     "",
		"models: {a: {input: 1, extra: 2}}": "extra",
	} {
		if _, err := Read(strings.NewReader(text), "p.yaml"); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "p.yaml") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat("#", maxFile+2)), "p"); err == nil {
		t.Error("a huge file is read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(prices)
	f.Add("gpu_hour: 1e400")
	f.Add("models: {? : 1}")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read(strings.NewReader(text), "p")
		if err != nil {
			return
		}
		if v, ok := p.Of(request("m", usage(10, 2, 3))).Get(); ok && !(v >= 0) {
			t.Fatalf("cost %v", v)
		}
	})
}

func TestEnergyPrice(t *testing.T) {
	p, err := Read(strings.NewReader("energy_kwh: 0.30\n"), "prices.yaml")
	if err != nil || p.KWh.Or(0) != 0.30 || p.Empty() || p.Priced() {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := Read(strings.NewReader("energy_kwh: -1\n"), "prices.yaml"); err == nil || !strings.Contains(err.Error(), "energy_kwh") {
		t.Errorf("a negative price: %v", err)
	}
}
