package daemon

import "tokenmeter/load/machine"

// forClients is what connections and requests may take, besides bodies and replies: three
// eighths of the memory there is.
func forClients() int64 { return defaultBodies() / 2 * 3 }

// defaultBodies is what request bodies may take when the configuration does not
// say: a quarter of the memory there is, so that copies of them and all else fit.
func defaultBodies() int64 {
	if limit := machine.This().MemoryLimit(); limit > 0 {
		return max(limit/4, 32<<20)
	}
	return 256 << 20
}
