package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tokenmeter/physics/engine"
)

// pairs are the model and hardware pairs that have a place in the list of presets.
var pairs = []string{
	"llama-3.1-8b/h100", "llama-3.1-8b/a100-80", "llama-3.1-8b/l4-fp8", "llama-3.1-8b/rtx-4090-int4", "llama-3.1-8b/m4-max-q4_k_m",
	"llama-3.1-70b/h100x4", "llama-3.1-70b/h100x2-fp8", "llama-3.1-405b/h100x8-fp8", "qwen2.5-7b/l40s", "qwen3-30b-a3b/h100",
	"mixtral-8x7b/h100x2", "gpt-oss-120b/h100x2-mxfp4", "deepseek-v3/h200x8-fp8", "llama-3.1-8b/mi300x", "llama-3.1-70b/b200-fp8",
}

// mostDevices that may share a layer.
const mostDevices = 1024

// Deployment reads "model/accelerator", "model/acceleratorxN" and either with
// "-precision" behind: "llama-3.1-70b/h100x2-fp8".
func Deployment(name string) (engine.Deployment, error) {
	var d engine.Deployment
	model, hardware, ok := strings.Cut(name, "/")
	if !ok {
		return d, fmt.Errorf("sim: %q is no pair: write model/accelerator, as in llama-3.1-8b/h100", name)
	}
	d.Model, d.Devices, d.Weights = model, 1, engine.BF16
	for _, p := range []engine.Precision{engine.FP8, engine.INT8, engine.FP4, engine.MXFP4, engine.INT4, engine.Q8, engine.Q4, engine.BF16, engine.FP16} {
		if rest, ok := strings.CutSuffix(hardware, "-"+string(p)); ok {
			hardware, d.Weights = rest, p
			break
		}
	}
	if i := strings.LastIndexByte(hardware, 'x'); i > 0 {
		if n, err := strconv.Atoi(hardware[i+1:]); err == nil && n >= 1 && n <= mostDevices {
			if _, err := engine.FindAccelerator(hardware); err != nil {
				hardware, d.Devices = hardware[:i], n
			}
		}
	}
	d.Accelerator = hardware
	cacheLikeWeights(&d)
	if _, err := engine.FindModel(d.Model); err != nil {
		return d, err
	}
	_, err := engine.FindAccelerator(d.Accelerator)
	return d, err
}

// cacheLikeWeights keeps the cache in eight bits where the weights have few.
func cacheLikeWeights(d *engine.Deployment) {
	if d.Weights == engine.FP8 || d.Weights == engine.FP4 {
		d.KV = engine.FP8
	}
}

// Pair is the configuration of a model on hardware, with the settings its usual
// server starts with. Quantisations of llama.cpp make it a llama.cpp.
func Pair(name string) (Config, error) { return PairAs(name, Scheduling{}) }

func deploy(d engine.Deployment) (Config, error) {
	law, err := d.Law()
	if err != nil {
		return Config{}, err
	}
	tokens, err := d.KVTokens()
	if err != nil {
		return Config{}, err
	}
	e := &engine.Config{
		Law: law, MaxSequences: 256, MaxBatchTokens: 8192, Blocks: max(tokens/16, 1), PrefixCache: true, Window: law.Model.Window,
	}
	c := Config{
		Model: d.Model, Engine: e, Jitter: 0.02, MaxContext: min(law.Model.Context, max(tokens, 1)),
		// Reading the request, templates and tokenising.
		Overhead: 3 * time.Millisecond, OutputSpread: 0.3, OutputTokens: 256,
	}
	if d.Weights == engine.Q4 || d.Weights == engine.Q8 {
		c.Like = LikeLlama
		// Its default context is shared by four slots.
		e.MaxSequences, e.MaxBatchTokens = 4, 2048
		e.Blocks = min(e.Blocks, 4*8192/16)
		c.MaxContext = min(c.MaxContext, 8192)
	}
	return c, nil
}

func pairPresets() (all []Preset) {
	for _, name := range pairs {
		c, err := Pair(name)
		if err != nil {
			panic(err) // the list is part of the program
		}
		d, _ := Deployment(name)
		devices := "one"
		if d.Devices > 1 {
			devices = strconv.Itoa(d.Devices) + " ×"
		}
		like := "vLLM"
		if c.Like == LikeLlama {
			like = "llama.cpp"
		}
		all = append(all, Preset{name, fmt.Sprintf("%s in %s on %s %s, scheduled like %s", d.Model, d.Weights, devices, d.Accelerator, like), c})
	}
	return all
}
