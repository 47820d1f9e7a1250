package main

import (
	"os"

	"tokenmeter/cost"
	"tokenmeter/timeline"
)

// pricing reads what things cost: a file, and over it the flags. nil when
// nothing was said.
func (c *benchCmd) pricing(check *checker) *cost.Pricing {
	var p cost.Pricing
	if c.Prices != "" {
		f, err := os.Open(c.Prices)
		if err != nil {
			check.addf("--prices: %w", err)
			return nil
		}
		defer f.Close()
		if p, err = cost.Read(f, c.Prices); err != nil {
			check.addf("--prices: %w", err)
			return nil
		}
	}
	if usd := check.number("--gpu-hour", c.GPUHour, "2.50"); usd > 0 {
		p.GPUHour = timeline.Some(usd)
	}
	if n := check.count("--gpus", c.GPUs, 1); n > 0 {
		p.GPUs = timeline.Some(int64(n))
	}
	if p.Empty() {
		return nil
	}
	return &p
}
