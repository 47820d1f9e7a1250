package main

import (
	"tokenmeter/base/limitio"
	"tokenmeter/record/cost"
	"tokenmeter/record/timeline"
)

// priceFlags are what things cost, as it was typed.
type priceFlags struct{ file, gpuHour, gpus string }

// read reads what things cost: a file, and over it the flags. nil when nothing was
// said.
func (f priceFlags) read(check *checker) *cost.Pricing {
	var p cost.Pricing
	if f.file != "" {
		in, err := limitio.Open(f.file)
		if err != nil {
			check.addf("--prices: %w", err)
			return nil
		}
		defer in.Close()
		if p, err = cost.Read(in, f.file); err != nil {
			check.addf("--prices: %w", err)
			return nil
		}
	}
	if usd := check.number("--gpu-hour", f.gpuHour, "2.50"); usd > 0 {
		p.GPUHour = timeline.Some(usd)
	}
	if n := check.count("--gpus", f.gpus, 1); n > 0 {
		p.GPUs = timeline.Some(int64(n))
	}
	if p.Empty() {
		return nil
	}
	return &p
}
