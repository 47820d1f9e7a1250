package view

import (
	"fmt"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// gpuSide is what the GPUs did and used, in a line.
func gpuSide(r *run.Run) string {
	g := r.GPU
	if g == nil {
		return ""
	}
	text := ""
	add := func(format string, args ...any) {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf(format, args...)
	}
	if n, ok := g.GPUs.Get(); ok {
		add("%s", typeset.Plural(n, "GPU"))
	}
	if g.Active != nil {
		add("%s active", typeset.Percent(g.Active.Mean))
	} else if g.Utilization != nil {
		add("%s busy", typeset.Percent(g.Utilization.Mean))
	}
	if g.TensorActive != nil {
		add("tensor cores %s", typeset.Percent(g.TensorActive.Mean))
	}
	if g.DRAMActive != nil {
		add("memory bus %s", typeset.Percent(g.DRAMActive.Mean))
	}
	if g.MemoryUsed != nil {
		add("memory %s full", typeset.Percent(g.MemoryUsed.Max))
	}
	if w, ok := g.PowerW.Get(); ok {
		add("%s W", typeset.Digits{}.Value(w))
	}
	if j, ok := g.JPerOutputToken.Get(); ok {
		add("%s J a token", typeset.Digits{}.Value(j))
	}
	if usd, ok := g.EnergyUSDPerMOutput.Get(); ok {
		add("electricity $%s a million output tokens", typeset.Digits{}.Value(usd))
	}
	if rate, ok := g.OutputTPSPerW.Get(); ok {
		add("%s tokens/s a watt", typeset.Digits{}.Value(rate))
	}
	return text
}
