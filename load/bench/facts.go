package bench

import "tokenmeter/load/machine"

// machineFacts is what the load machine did while measuring.
type machineFacts struct {
	machine  *machine.Machine
	from, to machine.Sample
	over     bool
}

func (f *machineFacts) begin() { f.from = f.machine.Sample() }
func (f *machineFacts) end()   { f.to, f.over = f.machine.Sample(), true }

func (f *machineFacts) usage() machine.Usage {
	if !f.over {
		return f.from.Until(f.machine.Sample())
	}
	return f.from.Until(f.to)
}
