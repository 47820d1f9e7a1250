package view

import (
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// gpuSide is what the GPUs did and used, in a line.
func gpuSide(r *run.Run) string {
	g := r.GPU
	if g == nil {
		return ""
	}
	var l list
	value := typeset.Digits{}.Value
	l.add("%s", timeline.Float(g.GPUs), func(n float64) string { return typeset.Plural(int64(n), "GPU") })
	if g.Active != nil {
		l.add("%s active", meanOf(g.Active), typeset.Percent)
	} else {
		l.add("%s busy", meanOf(g.Utilization), typeset.Percent)
	}
	l.add("tensor cores %s", meanOf(g.TensorActive), typeset.Percent)
	l.add("memory bus %s", meanOf(g.DRAMActive), typeset.Percent)
	if g.MemoryUsed != nil {
		l = append(l, "memory "+typeset.Percent(g.MemoryUsed.Max)+" full")
	}
	l.add("%s W", g.PowerW, value)
	l.add("%s J a token", g.JPerOutputToken, value)
	l.add("electricity $%s a million output tokens", g.EnergyUSDPerMOutput, value)
	l.add("%s tokens/s a watt", g.OutputTPSPerW, value)
	return l.String()
}
