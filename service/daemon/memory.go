package daemon

import "tokenmeter/load/machine"

// defaultBodies is what request bodies may take when the configuration does not
// say: a quarter of the memory there is, so that copies of them and all else fit.
func defaultBodies() int64 {
	if limit := machine.This().MemoryLimit(); limit > 0 {
		return max(limit/4, 32<<20)
	}
	return 256 << 20
}
