package sim

// model decides when tokens come. It lives in the time it is told; nothing in
// it waits. Times are nanoseconds on the truth's clock.
type model interface {
	// submit adds a request that came at a moment.
	submit(at int64, r *reply)
	// cancel takes a request away.
	cancel(at int64, r *reply)
	// next is when the model has something to do.
	next() (int64, bool)
	// step does what is due at next's moment and tells the replies.
	step()
	// load is how many requests have a slot and how many wait.
	load() (running, waiting int)
}

// pace is a model in which every sequence steps on its own clock: a request's
// times depend on how many run beside it, and on nothing else.
type pace struct {
	cfg     *Config
	running int
	waiting []*reply
	free    int64 // when the slots were last all taken
	due     timers
}

func (p *pace) load() (int, int)    { return p.running, len(p.waiting) }
func (p *pace) next() (int64, bool) { return p.due.next() }

func (p *pace) step() {
	t := p.due.pop()
	p.token(t.at, t.r)
}

func (p *pace) submit(at int64, r *reply) {
	if p.cfg.Slots > 0 && p.running >= p.cfg.Slots {
		p.waiting = append(p.waiting, r)
		return
	}
	// News may come a little after later events were done; the request starts
	// at its own moment all the same, if there was a slot by then.
	p.start(max(at, p.free), r)
}

func (p *pace) start(at int64, r *reply) {
	p.running++
	r.model.running = true
	r.started(at)
	first := int64(p.cfg.Overhead) + int64(p.cfg.PrefillPerToken)*int64(r.promptTokens-r.cachedTokens)
	if r.ask.ttft >= 0 {
		first = int64(r.ask.ttft)
	} else {
		first = r.jitter(first)
	}
	r.truth.PrefillNS = first
	p.due.add(at+first, actToken, r)
}

// token yields one step's tokens of a sequence and sets the next step.
func (p *pace) token(at int64, r *reply) {
	if !r.model.running {
		return
	}
	k := min(p.cfg.TokensPerStep, r.model.left)
	if r.model.left == r.outputTokens {
		k = min(1, k) // the prefill's own token
	}
	r.model.left -= k
	batch := p.running
	if r.model.left == 0 {
		r.token(at, k, batch, true)
		if r.model.running { // no fault has cancelled it
			p.release(at, r)
		}
		return
	}
	step := int64(p.cfg.DecodeBase) + int64(p.cfg.DecodePerSeq)*int64(batch)
	if r.ask.itl >= 0 {
		step = int64(r.ask.itl)
	} else {
		step = r.jitter(step)
	}
	p.due.add(at+step, actToken, r)
	r.token(at, k, batch, false)
}

func (p *pace) release(at int64, r *reply) {
	r.model.running = false
	if p.running == p.cfg.Slots {
		p.free = at
	}
	p.running--
	if len(p.waiting) > 0 {
		next := p.waiting[0]
		p.waiting = p.waiting[1:]
		p.start(at, next)
	}
}

func (p *pace) cancel(at int64, r *reply) {
	if r.model.running {
		p.release(at, r)
		return
	}
	for i, w := range p.waiting {
		if w == r {
			p.waiting = append(p.waiting[:i:i], p.waiting[i+1:]...)
			return
		}
	}
}
