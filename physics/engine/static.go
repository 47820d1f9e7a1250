package engine

import "time"

// planStatic takes a batch of what waits and runs it to the end of its longest
// request. Sequences that are done keep
// their place: their steps are wasted, as is the padding of short prompts.
func (in *instance) planStatic(at time.Duration) {
	cfg := &in.e.cfg
	if !in.staticFull {
		for {
			r := in.queue.peek()
			if r == nil || in.slots+r.width() > cfg.MaxSequences || !in.blocks.grow(r, r.PromptTokens+r.OutputTokens) {
				break
			}
			in.admit(at, r)
		}
		if len(in.running) == 0 {
			return
		}
		longest := 0
		for _, r := range in.running {
			longest = max(longest, r.PromptTokens)
		}
		for _, r := range in.running {
			r.s.planned = r.s.total
			in.batch.addPrefill(0, longest)
			in.stats.PromptTokens += r.s.total
		}
		in.staticFull = true
		return
	}
	for _, r := range in.running {
		if r.s.state == running {
			r.s.planned = 1
		}
		in.batch.addDecode(r.width(), 1, r.s.computed, cfg.Window)
	}
}
