package sim

import "time"

// model decides when tokens come. It lives in the time it is told; nothing in
// it waits. Times are nanoseconds on the truth's clock.
type model interface {
	// submit adds a request that came at a moment, or says why it never could
	// be answered.
	submit(at int64, r *reply) error
	// cancel takes a request away.
	cancel(at int64, r *reply)
	// next is when the model has something to do.
	next() (int64, bool)
	// step does what is due at next's moment and tells the replies.
	step()
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

func (p *pace) next() (int64, bool) { return p.due.next() }

func (p *pace) step() {
	t := p.due.pop()
	p.token(t.at, t.r)
}

func (p *pace) submit(at int64, r *reply) error {
	if p.cfg.Slots > 0 && p.running >= p.cfg.Slots {
		p.waiting = append(p.waiting, r)
		return nil
	}
	// News may come a little after later events were done; the request starts
	// at its own moment all the same, if there was a slot by then.
	p.start(max(at, p.free), r)
	return nil
}

func (p *pace) start(at int64, r *reply) {
	p.running++
	r.pace.running = true
	r.started(at)
	first := p.faster(p.cfg.Overhead) + p.faster(p.cfg.PrefillPerToken*time.Duration(r.promptTokens-r.cachedTokens))
	if r.ask.ttft >= 0 {
		first = int64(r.ask.ttft)
	} else {
		first = r.jitter(first)
	}
	p.due.add(at+first, actToken, r)
}

// token yields one step's tokens of a sequence and sets the next step.
func (p *pace) token(at int64, r *reply) {
	if !r.pace.running {
		return
	}
	k := min(p.cfg.TokensPerStep, r.pace.left)
	if r.pace.left == r.outputTokens {
		k = min(1, k) // the prefill's own token
	}
	r.pace.left -= k
	batch := p.running
	if r.pace.left == 0 {
		r.token(at, k, batch, true)
		if r.pace.running { // no fault has cancelled it
			p.release(at, r)
		}
		return
	}
	step := p.faster(p.cfg.DecodeBase + p.cfg.DecodePerSeq*time.Duration(batch))
	if r.ask.itl >= 0 {
		step = int64(r.ask.itl)
	} else {
		step = r.jitter(step)
	}
	p.due.add(at+step, actToken, r)
	r.token(at, k, batch, false)
}

func (p *pace) faster(d time.Duration) int64 { return int64(float64(d) / p.cfg.Speed) }

func (p *pace) release(at int64, r *reply) {
	r.pace.running = false
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
	if r.pace.running {
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
