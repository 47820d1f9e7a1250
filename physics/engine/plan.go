package engine

import "time"

// planChunked fills a step: first what runs, then the queue, as far as tokens,
// sequences and blocks reach.
func (in *instance) planChunked(at time.Duration) {
	cfg := &in.e.cfg
	budget := cfg.MaxBatchTokens
	lost := in.stats.Preemptions
	for i := 0; i < len(in.running); i++ {
		r := in.running[i]
		n := in.want(r, budget/r.width())
		if n == 0 {
			continue
		}
		if !in.makeRoom(at, r, r.s.computed+n) {
			i-- // r has gone itself
			continue
		}
		in.schedule(r, n)
		budget -= n * r.width()
	}
	if in.stats.Preemptions > lost {
		return // no room for anyone new
	}
	fed := true
	for fed && budget > 0 {
		r := in.queue.peek()
		if r == nil || in.slots+r.width() > cfg.MaxSequences || budget < r.width() {
			break
		}
		fed = in.feed(at, r, &budget)
	}
}

// want is how many positions of a request the step computes: all that is left
// of its prompt, or its next token and the guesses behind it.
func (in *instance) want(r *Request, budget int) int {
	r.s.drafted = 0
	n := r.s.total - r.s.computed
	if s := in.e.cfg.Speculation; s != nil && n == 1 {
		left := r.OutputTokens - r.Made
		r.s.drafted = max(0, min(s.Draft, left-1, budget-1))
		n += r.s.drafted
	}
	return min(n, budget)
}

// makeRoom gets blocks for a running request's first n tokens. The youngest
// others lose their place for it; false: it was the youngest itself.
func (in *instance) makeRoom(at time.Duration, r *Request, n int) bool {
	for !in.blocks.grow(r, n) {
		victim := in.running[len(in.running)-1]
		in.preempt(at, victim)
		if victim == r {
			return false
		}
	}
	return true
}

// schedule puts n positions of a running request into the step.
func (in *instance) schedule(r *Request, n int) {
	r.s.planned = n
	if r.s.total-r.s.computed == 1 || r.s.drafted > 0 {
		in.batch.addDecode(r.width(), n, r.s.computed, in.e.cfg.Window)
		return
	}
	in.batch.addPrefill(r.s.computed, n)
	in.stats.PromptTokens += n
}

// feed begins a waiting request, or says that there is no room for it.
func (in *instance) feed(at time.Duration, r *Request, budget *int) bool {
	shared := 0
	if r.s.computed == 0 {
		shared = in.blocks.match(r)
	}
	done := max(r.s.computed, shared*in.blocks.size)
	n := min(r.s.total-done, *budget)
	if in.e.cfg.Batching == PrefillFirst && n < r.s.total-done && in.batch.Tokens() > 0 {
		return false // a whole prompt or nothing, unless it is alone
	}
	if in.e.cfg.Batching == PrefillFirst {
		n = r.s.total - done
	}
	if in.blocks.limited() && in.blocks.need(r, done+n)-shared+in.blocks.idle(r, shared) > in.blocks.free {
		return false
	}
	if r.Made == 0 && r.Preempted == 0 {
		r.Cached = shared * in.blocks.size
	}
	in.admit(at, r)
	if shared > 0 {
		in.blocks.share(r, shared)
		r.s.computed = done
	}
	if in.blocks.named {
		in.stats.CacheAsked += r.s.total
		in.stats.CacheHit += shared * in.blocks.size
	}
	in.blocks.grow(r, done+n)
	r.s.drafted = 0
	in.schedule(r, n)
	*budget -= n * r.width()
	return true
}

// planPrefillFirst makes a step of whole prompts while there are any that fit,
// and a decoding step of everything else.
func (in *instance) planPrefillFirst(at time.Duration) {
	cfg := &in.e.cfg
	budget := cfg.MaxBatchTokens
	for budget > 0 {
		r := in.queue.peek()
		if r == nil || in.slots+r.width() > cfg.MaxSequences || !in.feed(at, r, &budget) {
			break
		}
	}
	if in.batch.Tokens() > 0 {
		return
	}
	for i := 0; i < len(in.running); i++ {
		r := in.running[i]
		n := in.want(r, cfg.MaxBatchTokens)
		if !in.makeRoom(at, r, r.s.computed+n) {
			i--
			continue
		}
		in.schedule(r, n)
	}
}
