package published

import (
	"errors"
	"fmt"

	"tokenmeter/physics/engine"
)

// Speed is a published number of tokens per second.
type Speed struct {
	Model       string
	Accelerator string
	Devices     int
	Weights     engine.Precision
	Streams     int // 0: as many as fit
	Context     int // tokens in the cache, mean over the answer; 0: not told
	TPS         float64
	Stream      bool   // of one stream; else of all together
	Engine      string // empty: not told
	Source      string // its ID
}

// Speeds lists them.
func Speeds() (all []Speed) {
	for _, r := range read("speeds", 11) {
		all = append(all, Speed{
			Model: r[0], Accelerator: r[1], Devices: int(number(r[2])), Weights: engine.Precision(r[3]),
			Streams: int(number(r[4])), Context: int(number(r[5])), TPS: number(r[6]), Stream: r[7] == "stream",
			Engine: r[8], Source: r[10],
		})
	}
	return all
}

// gib is how much more a device's memory may be than its decimal figure: cards
// are named in GB and hold GiB.
const gib = 1 << 30 / 1e9

// Bound is the rate that the hardware cannot exceed without speculation, in
// tokens/s: the memory's bandwidth for a number of streams, else the arithmetic.
// The error says that the weights do not fit into the devices.
func (s Speed) Bound() (float64, error) {
	d := engine.Deployment{Model: s.Model, Accelerator: s.Accelerator, Devices: s.Devices, Weights: s.Weights, MemoryShare: gib}
	law, err := d.Bound()
	if err != nil {
		return 0, err
	}
	if need, have := law.Model.Params()*law.Weights.Bytes(), law.Accelerator.Memory*float64(law.TP); need > have*gib {
		return 0, fmt.Errorf("%.0f GB of weights do not fit into %.0f GB", need/1e9, have/1e9)
	}
	n := s.Streams
	if n == 0 {
		n = 4096 // far beyond where the arithmetic is full
		p := law.Parts(engine.Decoding(n, 0, law.Model.Window))
		return float64(n) / p.Products.Seconds(), nil
	}
	p := law.Parts(engine.Decoding(n, s.Context, law.Model.Window))
	rate := 1 / (max(p.Weights, p.Products) + max(p.Cache, p.Attention)).Seconds()
	if !s.Stream {
		rate *= float64(n)
	}
	return rate, nil
}

// ErrImpossible is the verdict on a speed that is above its bound.
var ErrImpossible = errors.New("faster than the hardware")

// Check says whether the hardware can have done it, and what share of the bound it is.
func (s Speed) Check() (share float64, err error) {
	bound, err := s.Bound()
	if err != nil {
		return 0, err
	}
	if share = s.TPS / bound; share > 1 {
		return share, fmt.Errorf("%w: at most %s tokens/s", ErrImpossible, figure(bound))
	}
	return share, nil
}
