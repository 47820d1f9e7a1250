package metric

import (
	"math"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// used is the summary of n equal requests in a window.
func used(n int64, windowS, ttft, tpot, input, output, cached float64) *Summary {
	of := func(v float64) Dist { return Dist{N: n, Mean: timeline.Some(v)} }
	return &Summary{
		Metrics: map[string]Dist{"ttft_ms": of(ttft), "tpot_ms": of(tpot), "e2e_ms": of(ttft + tpot*(output-1)),
			"input_tokens": of(input), "output_tokens": of(output), "cached_tokens": of(cached)},
		Throughput: Throughput{WindowS: timeline.Some(windowS), SystemOutputTPS: timeline.Some(float64(n) * output / windowS)},
	}
}

func wants(t *testing.T, what string, got timeline.Opt[float64], want float64) {
	t.Helper()
	if v, ok := got.Get(); !ok || !near(v, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A 7B model in 16 bits at 14 ms a token on an A100 of 2 TB/s reads 1 TB/s: half
// of it (Databricks).
func TestMBUAsPublished(t *testing.T) {
	h := &Hardware{Name: "7B/a100", ReadParams: 7e9, ActiveParams: 7e9, BytesPerParam: 2, BandwidthBytes: 2e12, PeakFLOPS: 312e12}
	use := h.Use(used(10, 10, 100, 14, 500, 101, 0))
	wants(t, "MBU", use.MBU, 0.5)
	wants(t, "least TPOT", use.LeastTPOTMS, 7)
	wants(t, "most tokens", use.MostOutputTPS, 10*100*0.014/10/0.007) // 1.4 at once
	// 10 × (500 + 101) tokens in 10 s, two operations a weight.
	wants(t, "MFU", use.MFU, 2*7e9*601/312e12)
	if use.Bound != "memory" {
		t.Errorf("bound by %q", use.Bound)
	}
	// Prompts that a cache had are not computed, and two tokens a step halve the reading.
	s := used(10, 10, 100, 14, 500, 101, 400)
	s.ServerMetrics = &ServerMetrics{SpecLength: timeline.Some(2.0)}
	use = h.Use(s)
	wants(t, "MBU with speculation", use.MBU, 0.25)
	wants(t, "most tokens with speculation", use.MostOutputTPS, 10*100*0.014/10/0.0035)
	wants(t, "MFU with a cache", use.MFU, 2*7e9*201/312e12)
}

// Where a server tells of cached tokens only for the 2 of 10 prompts that had any, the
// other 8 were computed; where nothing tells output tokens, there is no MFU.
func TestMFUOfWhatIsTold(t *testing.T) {
	h := &Hardware{ReadParams: 7e9, ActiveParams: 7e9, BytesPerParam: 2, BandwidthBytes: 2e12, PeakFLOPS: 312e12}
	s := used(10, 10, 100, 14, 500, 101, 0)
	s.Metrics["cached_tokens"] = Dist{N: 2, Mean: timeline.Some(400.0)}
	wants(t, "MFU", h.Use(s).MFU, 2*7e9*(5000-800+1010)/10/312e12)
	s.Throughput.SystemOutputTPS = timeline.Opt[float64]{}
	if v, ok := h.Use(s).MFU.Get(); ok {
		t.Errorf("MFU %v of output tokens that nobody knows", v)
	}
	s.Throughput.InputsPerS = timeline.Some(1.0)
	wants(t, "MFU of embeddings", h.Use(s).MFU, 2*7e9*(5000-800)/10/312e12)
}

// Every second layer of gpt-oss sees 128 tokens: of a context of 8,128 a step reads
// as much as half of that and 64 tokens are.
func TestSlidingWindowsReadLess(t *testing.T) {
	h := &Hardware{ReadParams: 1e9, ActiveParams: 1e9, BytesPerParam: 2, CacheBytes: 1e6, BandwidthBytes: 1e12, PeakFLOPS: 1e15, WindowShare: 0.5, Window: 128}
	use := h.Use(used(1, 10, 0, 10, 8028, 200, 0))
	wants(t, "MBU", use.MBU, (2e9+(4064+64)*1e6)/(0.010*1e12))
}

func TestBatchesReadMore(t *testing.T) {
	// 40 requests decode for 10 s each in 10 s: 40 at once. All of 8 experts are
	// touched by 40 tokens that use 2 each, but for a share of 0.75⁴⁰; each reads the
	// cache of its 1,000 + 500 tokens.
	h := &Hardware{ReadParams: 1e9, ExpertParams: 40e9, Experts: 8, ExpertsUsed: 2, ActiveParams: 11e9, BytesPerParam: 1,
		CacheBytes: 1e5, BandwidthBytes: 4e12, PeakFLOPS: 1e15}
	use := h.Use(used(40, 10, 0, 1e4/999, 1000, 1000, 0))
	bytes := 1e9 + 40e9*(1-math.Pow(0.75, 40)) + 40*1500*1e5
	wants(t, "batch", use.Batch, 40)
	wants(t, "MBU", use.MBU, bytes/(10.0/999*4e12))
	if h.PeakFLOPS = 1e12; h.Use(used(40, 10, 0, 1e4/999, 1000, 1000, 0)).Bound != "arithmetic" {
		t.Error("88 GFLOP a step at 1 TFLOPS wait for the memory")
	}
}

func TestMoreThanThereIsIsAWarning(t *testing.T) {
	h := &Hardware{Name: "7B/a100", ReadParams: 7e9, ActiveParams: 7e9, BytesPerParam: 2, BandwidthBytes: 2e12, PeakFLOPS: 312e12}
	for _, c := range []struct {
		s    *Summary
		says string
	}{
		{used(10, 10, 100, 14, 500, 101, 0), ""},
		{used(10, 10, 100, 5, 500, 101, 0), "more was read than the memory can"},
		{used(10000, 10, 100, 14000, 50000, 101, 0), "more was computed than the devices can"},
	} {
		c.s.WithHardware(h)
		if says := ""; c.says != "" {
			if len(c.s.Warnings) == 1 && c.s.Warnings[0].Name == "faster_than_hardware" {
				says = c.s.Warnings[0].Says
			}
			if !strings.Contains(says, c.says) {
				t.Errorf("%q, want %q", says, c.says)
			}
		} else if len(c.s.Warnings) > 0 {
			t.Errorf("%+v", c.s.Warnings)
		}
	}
	var none *Hardware
	if none.Use(used(1, 1, 1, 1, 1, 1, 0)) != nil || h.Use(&Summary{}) != nil {
		t.Error("a use without hardware, or of nothing")
	}
}
