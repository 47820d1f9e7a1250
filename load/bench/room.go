package bench

import "tokenmeter/load/machine"

// replyInHand is what a reply takes without asking: 4,096 events, more than most replies
// have. How many streams there are is the user's to say.
const replyInHand = 64 << 10

// roomFor is what the replies in flight may take beyond replyInHand each:
// a sixteenth of the memory, since Go's collector, growing lists and the journal
// may make four times as much of it.
func roomFor(m *machine.Machine) int64 {
	if limit := m.MemoryLimit(); limit > 0 {
		return max(limit/16, 16<<20)
	}
	return 64 << 20
}
