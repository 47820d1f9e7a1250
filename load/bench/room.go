package bench

import "tokenmeter/load/machine"

// roomFor is what the replies in flight may take beyond their first 64 KiB each:
// a sixteenth of the memory, since Go's collector, growing lists and the journal
// may make four times as much of it.
func roomFor(m *machine.Machine) int64 {
	if limit := m.MemoryLimit(); limit > 0 {
		return max(limit/16, 16<<20)
	}
	return 64 << 20
}
