package engine

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// Deployment is a model on hardware: what a Roofline needs to know.
type Deployment struct {
	Model       string
	Accelerator string
	Devices     int       // that share each layer (tensor parallel); 0: 1
	Weights     Precision // empty: bf16
	KV          Precision // empty: bf16
	MemoryShare float64   // of the devices' memory that may be used; 0: 0.9
}

// The efficiencies an estimate starts from, within the usual 0.7–0.9 of the
// bandwidth and 0.5–0.7 of the peak. Servers differ by some 20 % either way; a
// calibrated model replaces them.
const (
	MemoryEfficiency  = 0.75
	ComputeEfficiency = 0.6
)

// Law returns the estimate of the deployment's step times.
func (d Deployment) Law() (*Roofline, error) {
	l, err := d.Bound()
	if err != nil {
		return nil, err
	}
	l.MemoryEfficiency, l.ComputeEfficiency = MemoryEfficiency, ComputeEfficiency
	l.LinkLatency = 10 * time.Microsecond
	l.StepOverhead = 300 * time.Microsecond
	l.OpTime = 3 * time.Microsecond // as AIConfigurator has it
	l.SequenceTime = 4 * time.Microsecond
	return l, nil
}

// Bound returns the law of a step that nothing slows but physics.
func (d Deployment) Bound() (*Roofline, error) {
	m, err := FindModel(d.Model)
	if err != nil {
		return nil, err
	}
	a, err := FindAccelerator(d.Accelerator)
	if err != nil {
		return nil, err
	}
	l := &Roofline{Model: m, Accelerator: a, TP: max(d.Devices, 1), Weights: cmp.Or(d.Weights, BF16), KV: cmp.Or(d.KV, BF16),
		MemoryEfficiency: 1, ComputeEfficiency: 1}
	for _, p := range []Precision{l.Weights, l.KV} {
		if err := p.validate(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// KVTokens is how many tokens of cache the devices hold beside the weights. The
// error says by how much the weights do not fit.
func (d Deployment) KVTokens() (int, error) {
	l, err := d.Bound()
	if err != nil {
		return 0, err
	}
	memory := cmp.Or(d.MemoryShare, 0.9) * l.Accelerator.Memory * float64(l.TP)
	weights := l.Model.Params() * l.Weights.Bytes()
	if weights >= memory {
		return 0, fmt.Errorf("engine: the weights of %s in %s take %.1f GB, %d × %s offer %.1f GB: use more devices or fewer bits",
			d.Model, l.Weights, weights/1e9, l.TP, d.Accelerator, memory/1e9)
	}
	return int(math.Floor((memory - weights) / (l.Model.KVPerToken(l.KV) * l.replication()))), nil
}
