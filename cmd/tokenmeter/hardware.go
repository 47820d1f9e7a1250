//go:build !lean

package main

import (
	"math"
	"strconv"
	"strings"

	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim"
	"tokenmeter/record/metric"
)

// hardware reads what the server runs on; nil: nothing was said.
func (c *benchCmd) hardware(check *checker) *metric.Hardware {
	if c.Hardware == "" {
		return nil
	}
	h, err := hardwareOf(c.Hardware)
	if err != nil {
		check.addf("--hardware %s: %s", c.Hardware, plainly(err))
		return nil
	}
	return h
}

// plainly is an error of the simulator's packages without their names.
func plainly(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "sim: "), "engine: ")
}

// hardwareOf makes numbers of a pair. In place of a model's name stands its number
// of weights for one that is in no table, like 8.03B: its cache is then not known.
func hardwareOf(pair string) (*metric.Hardware, error) {
	model, device, _ := strings.Cut(pair, "/")
	billions, err := strconv.ParseFloat(strings.TrimRight(model, "bB"), 64)
	counted := err == nil && billions > 0 && billions < 1e6 && strings.TrimRight(model, "bB") != model
	known := pair
	if counted {
		known = engine.Models()[0].Name + "/" + device
	}
	d, err := sim.Deployment(known)
	if err != nil {
		return nil, err
	}
	law, err := d.Bound()
	if err != nil {
		return nil, err
	}
	n := float64(law.TP)
	h := &metric.Hardware{
		Name: pair, ReadParams: law.Model.StepParams(0), ExpertParams: law.Model.StepParams(math.MaxInt32) - law.Model.StepParams(0),
		Experts: law.Model.Experts, ExpertsUsed: law.Model.ExpertsUsed, ActiveParams: law.Model.ActiveParams(),
		BytesPerParam: law.Weights.Bytes(), CacheBytes: law.Model.KVPerToken(law.KV),
		WindowShare: law.Model.Windowed(), Window: float64(law.Model.Window),
		BandwidthBytes: n * law.Accelerator.Bandwidth, PeakFLOPS: n * law.Accelerator.Peak(law.Weights),
	}
	if counted {
		h.ReadParams, h.ActiveParams = 1e9*billions, 1e9*billions
		h.ExpertParams, h.Experts, h.ExpertsUsed, h.CacheBytes, h.WindowShare, h.Window = 0, 0, 0, 0, 0, 0
	}
	return h, nil
}
