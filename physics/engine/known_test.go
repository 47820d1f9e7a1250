package engine

import (
	"math"
	"testing"
	"time"
)

// near fails when got is not within a relative tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*math.Abs(want) {
		t.Errorf("%s: %v, want %v within %v %%", what, got, want, 100*tolerance)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// bound is the published form of the roofline: every weight counts, nothing else slows.
func bound(model, accelerator string, devices int, weights, kv Precision) *Roofline {
	l := must(Deployment{Model: model, Accelerator: accelerator, Devices: devices, Weights: weights, KV: kv}.Bound())
	l.CountEmbedding = true
	return l
}

func decodes(n, context int) *Batch { return Decoding(n, context, 128) }

func prefill(n int) *Batch {
	var b Batch
	b.addPrefill(0, n)
	return &b
}

func TestParamsAreExact(t *testing.T) {
	// Counts as published with the weights.
	for name, want := range map[string]float64{
		"llama-2-7b": 6_738_415_616, "llama-2-13b": 13_015_864_320, "llama-2-70b": 68_976_648_192,
		"llama-3.1-8b": 8_030_261_248, "llama-3.1-70b": 70_553_706_496, "llama-3.1-405b": 405_853_388_800,
		"llama-3.2-1b": 1_235_814_400, "llama-3.2-3b": 3_212_749_824, "mistral-7b": 7_241_732_096,
		"mixtral-8x7b": 46_702_792_704, "qwen2.5-7b": 7_615_616_512, "qwen2.5-32b": 32_763_876_352,
		"qwen2.5-72b": 72_706_203_648, "qwen3-8b": 8_190_735_360, "qwen3-32b": 32_762_123_264,
		"qwen3-30b-a3b": 30_532_122_624, "qwen3-235b-a22b": 235_093_634_560, "deepseek-v3": 671_026_419_200,
	} {
		if got := must(FindModel(name)).Params(); got != want {
			t.Errorf("%s: %.0f weights, want %.0f (%+.0f)", name, got, want, got-want)
		}
	}
	near(t, "gpt-oss-120b", must(FindModel("gpt-oss-120b")).Params(), 116.83e9, 0.005)
	near(t, "gpt-oss-20b", must(FindModel("gpt-oss-20b")).Params(), 20.91e9, 0.005)
	near(t, "kimi-k2", must(FindModel("kimi-k2")).Params(), 1.026e12, 0.005)
	near(t, "deepseek-v3 active", must(FindModel("deepseek-v3")).ActiveParams(), 37e9, 0.03)
	near(t, "gpt-oss-120b active", must(FindModel("gpt-oss-120b")).ActiveParams(), 5.13e9+0.58e9, 0.03)
	near(t, "mixtral-8x7b active", must(FindModel("mixtral-8x7b")).ActiveParams(), 12.9e9, 0.01)
}

func TestCacheSize(t *testing.T) {
	for name, want := range map[string]float64{
		"llama-2-7b": 524_288, "llama-2-70b": 327_680, "llama-3.1-70b": 327_680, "llama-3.1-8b": 131_072,
		"llama-3.1-405b": 516_096, "qwen2.5-7b": 57_344, "mixtral-8x7b": 131_072, "gpt-oss-120b": 73_728, "deepseek-v3": 70_272,
	} {
		if got := must(FindModel(name)).KVPerToken(FP16); got != want {
			t.Errorf("%s: %v bytes a token, want %v", name, got, want)
		}
	}
}

func TestCriticalBatch(t *testing.T) {
	for name, want := range map[string]float64{"h100": 295, "h200": 206, "a100-80": 153, "b200": 281, "mi300x": 247, "rtx-4090": 164} {
		near(t, name, must(FindAccelerator(name)).CriticalBatch(BF16), want, 0.005)
	}
}

func TestSingleStreamFloors(t *testing.T) {
	floors := map[string]map[string]float64{ // ms
		"llama-2-7b":     {"a100-80": 6.610, "h100": 4.023, "h200": 2.808, "b200": 1.685, "mi300x": 2.543, "rtx-4090": 13.37, "rtx-5090": 7.521, "l40s": 15.60, "l4": 44.92},
		"llama-3.1-8b":   {"a100-80": 7.877, "h100": 4.794, "h200": 3.346, "b200": 2.008, "mi300x": 3.030, "rtx-4090": 15.93, "rtx-5090": 8.962, "l40s": 18.59, "l4": 53.54},
		"llama-2-70b":    {"a100-80": 67.66, "h100": 41.18, "h200": 28.74, "b200": 17.24, "mi300x": 26.03},
		"llama-3.1-405b": {"a100-80": 398.1, "h100": 242.3, "h200": 169.1, "b200": 101.5, "mi300x": 153.2},
	}
	for model, row := range floors {
		for accelerator, want := range row {
			got := bound(model, accelerator, 1, FP16, FP16).Parts(decodes(1, 0)).Weights
			near(t, model+" on "+accelerator, got.Seconds()*1e3, want, 0.0005)
		}
	}
	near(t, "two devices", bound("llama-2-70b", "h100", 2, FP16, FP16).Parts(decodes(1, 0)).Weights.Seconds()*1e3, 20.59, 0.0005)
	near(t, "fp8", bound("llama-2-70b", "h100", 1, FP8, FP8).Parts(decodes(1, 0)).Weights.Seconds()*1e3, 20.59, 0.0005)
	strict := must(Deployment{Model: "llama-3.1-8b", Accelerator: "h100"}.Bound())
	near(t, "without the input embedding", strict.Parts(decodes(1, 0)).Weights.Seconds()*1e3, 4.481, 0.0005)
}

func TestBatchedSteps(t *testing.T) {
	for _, c := range []struct{ n, context, ms, tps float64 }{
		{1, 1024, 4.834, 206.9}, {16, 1024, 5.435, 2943.8}, {64, 1024, 7.358, 8697.6}, {128, 2048, 15.051, 8504.5}, {256, 1024, 15.051, 17009},
	} {
		got := bound("llama-3.1-8b", "h100", 1, BF16, BF16).Step(decodes(int(c.n), int(c.context))).Seconds()
		near(t, "step, ms", got*1e3, c.ms, 0.002)
		near(t, "tokens/s", c.n/got, c.tps, 0.002)
	}
	// The published figure has no network in it.
	p := bound("llama-3.1-70b", "h100", 8, FP8, FP8).Parts(decodes(64, 2048))
	near(t, "70B on eight, ms", (p.Weights+p.Cache).Seconds()*1e3, 3.434, 0.002)
	c := bound("llama-3.1-8b", "h100", 1, BF16, BF16).Parts(decodes(64, 1024))
	near(t, "products, ms", c.Products.Seconds()*1e3, 1.039, 0.002)
}

func TestPrefill(t *testing.T) {
	l := bound("llama-3.1-8b", "h100", 1, BF16, BF16)
	for _, c := range []struct {
		tokens int
		ms     float64
	}{{512, 8.38}, {1024, 16.9}, {8192, 150.8}} {
		p := l.Parts(prefill(c.tokens))
		near(t, "prefill, ms", (p.Products+p.Attention).Seconds()*1e3, c.ms, 0.003)
	}
	p := l.Parts(prefill(8192))
	near(t, "products, FLOP", p.Products.Seconds()*989.4e12, 131.57e12, 0.001)
	near(t, "attention, FLOP", p.Attention.Seconds()*989.4e12, 17.59e12, 0.001)
	l.ComputeEfficiency = 0.5
	p = l.Parts(prefill(8192))
	near(t, "at half the peak, ms", (p.Products+p.Attention).Seconds()*1e3, 301.5, 0.003)
}

func TestCacheCapacity(t *testing.T) {
	got := must(Deployment{Model: "llama-3.1-8b", Accelerator: "h100"}.KVTokens())
	if got != 426_784 || got/1024 != 416 || got/4096 != 104 || got/8192 != 52 {
		t.Errorf("h100: %d tokens, want 426784", got)
	}
	if got := must(Deployment{Model: "llama-3.1-8b", Accelerator: "h200"}.KVTokens()); got != 845_638 {
		t.Errorf("h200: %d tokens, want 845638", got)
	}
	if _, err := (Deployment{Model: "llama-2-70b", Accelerator: "h100"}).KVTokens(); err == nil {
		t.Error("138 GB fit into 80 GB")
	}
}

func TestAllReduce(t *testing.T) {
	one := AllReduce(8, 64*8192*2, 450e9)
	near(t, "one, µs", one.Seconds()*1e6, 4.08, 0.002)
	near(t, "160 of a step, ms", 160*one.Seconds()*1e3, 0.652, 0.002)
	l := bound("llama-3.1-70b", "h100", 8, BF16, BF16)
	l.LinkLatency = 10 * time.Microsecond
	near(t, "with latency, ms", l.Parts(decodes(64, 0)).Network.Seconds()*1e3, 2.252, 0.002)
}

func TestExpertsTouched(t *testing.T) {
	m := must(FindModel("mixtral-8x7b"))
	near(t, "one token", m.ExpertsTouched(1), 2, 1e-9)
	near(t, "eight tokens", m.ExpertsTouched(8), 7.2, 0.001)
}

func TestPublishedArithmetic(t *testing.T) {
	// A 52B model on four A100-40: 104 GB over 4 × 1.5 TB/s, and 512 sequences at once.
	a := Accelerator{Bandwidth: 1.5e12, BF16: 312e12}
	weights := 52e9 * BF16.Bytes() / (4 * a.Bandwidth)
	near(t, "weights, ms", weights*1e3, 17.3, 0.003)
	near(t, "products, ms", 2*52e9*512/(4*a.Peak(BF16))*1e3, 42.7, 0.001)
	// A 7B model at 14 ms a token on an A100-80: half of 2 TB/s.
	near(t, "MBU", MBU(14e9, 14*time.Millisecond, 2e12), 0.5, 1e-9)
	// llama-bench's sample: 4.677 GB at 119.9 tokens/s on an RTX 4080.
	near(t, "MBU of llama-bench", MBU(4.67712e9, seconds(1/119.9), must(FindAccelerator("rtx-4080")).Bandwidth), 0.782, 0.001)
	// 70B in fp8 on two H100 at 18.58 ms: 0.567.
	m := must(FindModel("llama-3.1-70b"))
	near(t, "MBU of NIM", MBU(m.Params(), 18580*time.Microsecond, 2*3.35e12), 0.567, 0.001)
	// Ceilings of MLPerf's llama2-70b, decode only.
	p := must(FindModel("llama-2-70b")).Params()
	near(t, "h100", must(FindAccelerator("h100")).FP8/(2*p), 14_345, 0.001)
	near(t, "mi300x", must(FindAccelerator("mi300x")).FP8/(2*p), 18_955, 0.001)
}

func TestEveryTensorCorePeak(t *testing.T) {
	// Tensor cores × boost MHz × FLOP a core and cycle.
	for name, want := range map[string]float64{"h100": 528 * 1830e6 * 1024, "h100-pcie": 456 * 1620e6 * 1024, "a100-80": 432 * 1410e6 * 512,
		"a10": 288 * 1695e6 * 256, "rtx-4090": 512 * 2520e6 * 128, "rtx-5090": 680 * 2407e6 * 128, "rtx-3090": 328 * 1695e6 * 128} {
		near(t, name, must(FindAccelerator(name)).BF16, want, 0.001)
	}
}

// MBU is the share of the memory's bandwidth that a step time makes use of.
func MBU(bytes float64, step time.Duration, bandwidth float64) float64 {
	return bytes / step.Seconds() / bandwidth
}
