package cost

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func some(v float64) timeline.Opt[float64] { return timeline.Some(v) }

func usage(input, cached, output int64) timeline.Usage {
	return timeline.Usage{Input: timeline.Some(input), Cached: timeline.Some(cached), Output: timeline.Some(output)}
}

func near(t *testing.T, what string, got timeline.Opt[float64], want float64) {
	t.Helper()
	v, ok := got.Get()
	if !ok || math.Abs(v-want) > 1e-4*math.Max(math.Abs(want), 1e-6) {
		t.Errorf("%s = %v (known %v), want %v", what, v, ok, want)
	}
}

func request(model string, u timeline.Usage) *timeline.Timeline {
	tl := timeline.New()
	tl.Phase, tl.Model, tl.Usage, tl.Outcome = timeline.Measure, model, u, timeline.OK
	return tl
}

// B100: the cached part of the prompt is billed once, at its own price.
func TestB100CachedInputBilledOnce(t *testing.T) {
	prices := Tokens{Input: some(2.5), CachedRead: some(1.25), Output: some(10)}
	near(t, "cost", prices.Of(usage(2006, 1920, 300)), 0.005615)
	if v, _ := prices.Of(usage(2006, 1920, 300)).Get(); math.Abs(v-0.010415) < 1e-6 || math.Abs(v-0.008015) < 1e-6 {
		t.Errorf("cost %v is the trap's", v)
	}
}

// B101: the same with a large cached share.
func TestB101LargeCachedShare(t *testing.T) {
	prices := Tokens{Input: some(0.5), CachedRead: some(0.05), Output: some(3)}
	near(t, "cost", prices.Of(usage(20212, 16298, 931)), 0.0055649)
}

// B102: an API that counts cache reads beside the input; usage is normalised.
func TestB102AdditiveConvention(t *testing.T) {
	prices := Tokens{Input: some(3), CachedRead: some(0.3), Output: some(15)}
	near(t, "cost", prices.Of(usage(18+2284, 2284, 100)), 0.0022392)
	// The counts of the trap, input less than its cached part, are no cost at all.
	if v, ok := prices.Of(usage(18, 2284, 100)).Get(); ok {
		t.Errorf("cost %v of impossible counts", v)
	}
}

// B103: what has no price is not free.
func TestB103UnknownPriceIsNotZero(t *testing.T) {
	tally := NewTally(Pricing{Models: map[string]Tokens{"priced": {Input: some(0), Output: some(100)}}})
	for range 60 {
		tally.Add(request("priced", usage(10, 0, 100)))
	}
	for range 40 {
		tally.Add(request("other", usage(10, 0, 100)))
	}
	c := tally.Cost(&metric.Summary{Requests: metric.Requests{OK: 100}})
	near(t, "known", c.USDKnown, 0.6)
	if c.PricedRequests != 60 || c.UnpricedRequests != 40 || c.USDTotal.OK() || c.USDPerMOutput.OK() || c.USDPerRequest.OK() {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(c.Basis, "at least $0.60") && !strings.Contains(c.Basis, "at least $0.6") {
		t.Errorf("basis %q", c.Basis)
	}
}

func summary(output, input, requests float64) *metric.Summary {
	s := &metric.Summary{}
	s.Throughput.SystemOutputTPS, s.Throughput.SystemInputTPS = some(output), some(input)
	s.Throughput.SystemInOutTPS, s.Throughput.RequestsPerS = some(output+input), some(requests)
	s.Throughput.WindowS = some(60)
	s.Requests.OK = int64(60 * requests)
	return s
}

// B104: all GPUs are paid for, and the denominator is part of the name.
func TestB104SeveralGPUs(t *testing.T) {
	p := Pricing{GPUHour: some(2.5), GPUs: timeline.Some[int64](8)}
	near(t, "hourly", p.Hourly(), 20)
	c := NewTally(p).Cost(summary(2000, 8000, 10))
	near(t, "per hour", c.USDPerHour, 20)
	near(t, "per M output", c.USDPerMOutput, 2.7778)
	near(t, "per M total", c.USDPerMTotal, 0.5556)
	near(t, "per 1k output", c.USDPer1kOutput, 0.0027778)
	near(t, "per request", c.USDPerRequest, 20.0/3600/10)
	near(t, "QPS per dollar", c.RequestsPerSPerUSDHour, 0.5)
	near(t, "total", c.USDTotal, 20.0/60)
	Good(c, 300)
	near(t, "per good request", c.USDPerGoodRequest, 20.0/60/300)
}

// Of 20 $ an hour for a minute, four tasks in time are 8.33 cents each; without a
// known total there is no price of a task.
func TestPerTask(t *testing.T) {
	s := summary(2000, 0, 10)
	s.Tasks = &metric.Tasks{Total: 6, OK: 5, InTime: 4}
	near(t, "per task", NewTally(Pricing{GPUHour: some(20)}).Cost(s).USDPerTask, 20.0/60/4)
	tally := NewTally(Pricing{Models: map[string]Tokens{"priced": {Output: some(1), Input: some(1)}}})
	tally.Add(request("other", usage(10, 0, 100)))
	if c := tally.Cost(s); c.USDPerTask.OK() {
		t.Errorf("a task of unknown cost has a price: %+v", c)
	}
}

// B105: the measured mix leads; a blend belongs to its ratio.
func TestB105MeasuredMix(t *testing.T) {
	prices := Tokens{Input: some(3), Output: some(15)}
	near(t, "blended 3 to 1", prices.Blend(0, 3, 1), 6)
	for _, c := range []struct {
		input, output       int64
		perM, perRequestUSD float64
	}{{10_000, 300, 3.3495, 0.0345}, {1000, 1000, 9, 0.018}} {
		tally := NewTally(Pricing{Any: &prices})
		tally.Add(request("m", usage(c.input, 0, c.output)))
		got := tally.Cost(&metric.Summary{Requests: metric.Requests{OK: 1}})
		near(t, "per M", got.USDPerMTotal, c.perM)
		near(t, "per request", got.USDPerRequest, c.perRequestUSD)
	}
	near(t, "0.15 and 0.60", Tokens{Input: some(0.15), Output: some(0.6)}.Blend(0, 3, 1), 0.2625)
}

// Artificial Analysis's blend of cached input, other input and output, as published for a
// model at 1.75, 14 and 0.175 USD, one at 2 and 6 with cached input a quarter of input,
// and one at 3 and 15 of which no price of cached input counted.
func TestBlendWithCached(t *testing.T) {
	for _, c := range []struct {
		prices Tokens
		want   float64
	}{
		{Tokens{Input: some(1.75), CachedRead: some(0.175), Output: some(14)}, 1.8725},
		{Tokens{Input: some(2), CachedRead: some(0.5), Output: some(6)}, 1.35},
		{Tokens{Input: some(3), Output: some(15)}, 4.2},
	} {
		near(t, "blended 7 to 2 to 1", c.prices.Blend(7, 2, 1), c.want)
	}
	if got := (Tokens{Input: some(3)}).Blend(7, 2, 1); got.OK() {
		t.Errorf("a blend of a price that nobody told: %v", got)
	}
}

// Worked numbers and published ones.
func TestDollarsPerHour(t *testing.T) {
	for _, c := range []struct{ perHour, tps, perM float64 }{
		{3, 1000, 0.83333}, {3, 2000, 0.41667}, {2, 2500, 0.222222}, {1.30, 3821, 0.094507}, {8 * 1.55, 24593.77, 0.140054},
	} {
		got := NewTally(Pricing{GPUHour: some(c.perHour)}).Cost(summary(c.tps, 0, 1))
		near(t, "per M output", got.USDPerMOutput, c.perM)
	}
}
