package engine

// route chooses among the instances of two roles.
func (e *Engine) route(r *Request, a, b role) *instance {
	turn := &e.turn[0]
	if a == onlyDecode {
		turn = &e.turn[1]
	}
	var best *instance
	var least float64
	n := len(e.instances)
	for i := range n {
		in := e.instances[(*turn+i)%n]
		if in.role != a && in.role != b {
			continue
		}
		if e.cfg.Router == RoundRobin {
			best = in
			break
		}
		// Ties go round, so that equal instances share the load.
		if load := in.load(r, e.cfg.Router); best == nil || load < least {
			best, least = in, load
		}
	}
	*turn = (best.id + 1) % n
	return best
}

// load is what a request would find in front of it.
func (in *instance) load(r *Request, by Routing) float64 {
	if by == LeastLoad {
		return float64(len(in.running) + in.queue.live)
	}
	cached := in.blocks.match(r) * in.blocks.size
	// A running sequence costs its share of every step of the newcomer, which
	// is worth some prompt tokens.
	const sequence = 64
	return float64(in.queue.tokens+r.PromptTokens-cached) + sequence*float64(len(in.running)+in.queue.live)
}
