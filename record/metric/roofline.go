package metric

import (
	"fmt"
	"math"

	"tokenmeter/record/timeline"
)

// Hardware is a model on accelerators, as far as a roofline needs them: what a
// step has to read and to multiply, and what the devices can. Whoever knows models
// and devices fills it in.
type Hardware struct {
	Name string `json:"name"` // model/accelerator, as it was given
	// ReadParams is the number of weights that every step reads, ExpertParams that
	// of all experts, of which a token uses ExpertsUsed of Experts.
	ReadParams    float64 `json:"read_params"`
	ExpertParams  float64 `json:"expert_params"`
	Experts       int     `json:"experts"`
	ExpertsUsed   int     `json:"experts_used"`
	ActiveParams  float64 `json:"active_params"` // multiplied for each token
	BytesPerParam float64 `json:"bytes_per_param"`
	CacheBytes    float64 `json:"cache_bytes_per_token"` // of the KV cache; 0: not known, and not counted
	// WindowShare is the share of the layers that see only the last Window tokens.
	WindowShare    float64 `json:"window_share"`
	Window         float64 `json:"window_tokens"`
	BandwidthBytes float64 `json:"bandwidth_bytes_per_s"` // of the memory of all devices
	PeakFLOPS      float64 `json:"peak_flops"`            // dense, of all devices, for these weights
}

// Roofline is what a run made of its hardware, of all that the measured requests
// show: others at the same server are not in it.
type Roofline struct {
	// Batch is the mean number of measured requests that were decoding at once,
	// by Little's law; at least 1, for a step has a request.
	Batch timeline.Opt[float64] `json:"batch"`
	// MBU is the share of the memory's bandwidth that decoding used: the bytes of a
	// step (weights, and the cache of Batch requests of the mean length) over its
	// time, which is the mean TPOT times the tokens that a step gives (Databricks,
	// "LLM inference performance engineering").
	MBU timeline.Opt[float64] `json:"mbu"`
	// MFU is the share of the dense arithmetic: 2 × active weights × (prompt tokens
	// that no cache had + output tokens) a second, over the peak (Chowdhery and
	// others, PaLM, appendix B, forward pass, without attention).
	MFU timeline.Opt[float64] `json:"mfu"`
	// LeastTPOTMS is the shortest TPOT that the memory and the arithmetic allow at
	// that batch, with as many tokens a step as the server's metrics tell (else 1).
	LeastTPOTMS timeline.Opt[float64] `json:"least_tpot_ms"`
	// MostOutputTPS is how many output tokens a second that is for the batch: what the
	// same requests would get if each step took no longer than it must.
	MostOutputTPS timeline.Opt[float64] `json:"most_output_tps"`
	Bound         string                `json:"bound"` // memory or arithmetic: what that step waits for; empty: unknown
}

// stepParams is the number of weights that a step of so many tokens reads, if the
// router spreads them evenly.
func (h *Hardware) stepParams(tokens float64) float64 {
	if h.Experts == 0 {
		return h.ReadParams
	}
	touched := 1 - math.Pow(1-float64(h.ExpertsUsed)/float64(h.Experts), max(tokens, 1))
	return h.ReadParams + h.ExpertParams*touched
}

// seen is how many tokens of the cache a step reads for a request with a context of
// so many, on average over the layers.
func (h *Hardware) seen(context float64) float64 {
	return (1-h.WindowShare)*context + h.WindowShare*min(context, h.Window)
}

// Use is what a summary shows of the hardware's use; nil: h is nil, or nothing
// was streamed.
func (h *Hardware) Use(s *Summary) *Roofline {
	if h == nil {
		return nil
	}
	mean := func(name string) (float64, bool) { return s.Metrics[name].Mean.Get() }
	window, ok := s.Throughput.WindowS.Get()
	total := func(name string) float64 { return s.Metrics[name].Mean.Or(0) * float64(s.Metrics[name].N) }
	if !ok || window <= 0 {
		return nil
	}
	var r Roofline
	input, known := mean("input_tokens")
	output, told := s.Throughput.SystemOutputTPS.Get()
	if known && (told || s.Throughput.InputsPerS.OK()) { // embeddings have no output
		// Some servers tell of cached tokens only where there were any.
		prompts := max(total("input_tokens")-total("cached_tokens"), 0) / window
		r.MFU = timeline.Some(2 * h.ActiveParams * (prompts + output) / h.PeakFLOPS)
	}
	tpot, ok1 := mean("tpot_ms")
	ttft, ok2 := mean("ttft_ms")
	e2e, ok3 := mean("e2e_ms")
	if !ok1 || !ok2 || !ok3 || tpot <= 0 {
		return &r
	}
	batch := max(float64(s.Metrics["e2e_ms"].N)*(e2e-ttft)/1e3/window, 1)
	made, _ := mean("output_tokens")
	bytes := h.stepParams(batch)*h.BytesPerParam + batch*h.seen(input+made/2)*h.CacheBytes
	flops := 2 * h.ActiveParams * batch
	tokens := 1.0 // of a request that a step gives
	if s.ServerMetrics != nil {
		tokens = max(s.ServerMetrics.SpecLength.Or(1), 1)
	}
	memory, arithmetic := 1e3*bytes/h.BandwidthBytes, 1e3*flops/h.PeakFLOPS
	r.Batch = timeline.Some(batch)
	r.MBU = timeline.Some(memory / (tpot * tokens))
	r.LeastTPOTMS = timeline.Some(max(memory, arithmetic) / tokens)
	r.MostOutputTPS = timeline.Some(1e3 * batch * tokens / max(memory, arithmetic))
	r.Bound = "memory"
	if arithmetic > memory {
		r.Bound = "arithmetic"
	}
	return &r
}

// WithHardware puts the hardware's use into the summary, and a warning where it is
// more than there is.
func (s *Summary) WithHardware(h *Hardware) {
	s.Roofline = h.Use(s)
	if says := s.Roofline.Impossible(); says != "" {
		share := max(s.Roofline.MBU.Or(0), s.Roofline.MFU.Or(0))
		s.Warnings = append(s.Warnings, Warning{Name: "faster_than_hardware", Value: timeline.Some(share), Says: fmt.Sprintf("%s: %s.", h.Name, says)})
	}
}

// Impossible says what is above 1 and therefore counted wrong; empty: nothing.
func (r *Roofline) Impossible() string {
	switch {
	case r == nil:
	case r.MBU.Or(0) > 1:
		return "more was read than the memory can: the weights have fewer bits, a step gives several tokens (speculation), there are more or other devices, or TPOT is not the server's (bursts)"
	case r.MFU.Or(0) > 1:
		return "more was computed than the devices can: prompts came from a cache that the server does not tell of, the weights have fewer bits, there are more or other devices, or the figure of the peak is too low"
	}
	return ""
}
