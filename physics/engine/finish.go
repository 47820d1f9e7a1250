package engine

import (
	"math"
	"slices"
	"time"
)

// finish ends the step under way: what it computed counts, its tokens are told.
func (in *instance) finish(at time.Duration) {
	in.busy = false
	in.clock = at
	in.stats.Steps++
	in.stats.Busy += in.took
	in.stats.Sequences += in.batch.Sequences
	keep := in.running[:0]
	for _, r := range in.running {
		if in.settle(at, r) {
			keep = append(keep, r)
		}
	}
	for i := len(keep); i < len(in.running); i++ {
		in.running[i] = nil
	}
	in.running = keep
	if in.staticFull && !slices.ContainsFunc(in.running, func(r *Request) bool { return r.s.state == running }) {
		in.dissolve()
	}
	in.arm(at)
}

// settle books one request's part of the step; false: it leaves the batch.
func (in *instance) settle(at time.Duration, r *Request) bool {
	if r.s.state == gone { // it keeps its place in a static batch
		return true
	}
	if r.s.cancel {
		in.leave(r)
		return in.staticFull
	}
	n := r.s.planned
	if n == 0 {
		return true
	}
	r.s.planned = 0
	made := 0
	switch left := r.s.total - r.s.computed; {
	case n < left: // a piece of the prompt
		r.s.computed += n
	case left > 1: // the rest of it, which yields a token
		r.s.computed, made = r.s.total, 1
	default:
		made = in.progress(r)
		r.s.computed += made
	}
	in.blocks.publish(r)
	if made == 0 {
		return true
	}
	r.s.total += made
	r.Made += made
	in.stats.OutputTokens += made * r.width()
	last := r.Made == r.OutputTokens
	in.yield(at, r, made, last)
	switch {
	case r.s.cancel: // by whoever was told
		in.leave(r)
		return in.staticFull
	case last:
		r.End = at
		in.leave(r)
		return in.staticFull
	case in.role == onlyPrefill:
		in.handOver(at, r)
		return false
	}
	return true
}

// progress is how many tokens a decoding sequence made: one a step, and the
// guesses that were right.
func (in *instance) progress(r *Request) int {
	if r.s.drafted == 0 {
		return 1
	}
	in.stats.Drafts++
	in.stats.Drafted += r.s.drafted
	right := 0
	for right < r.s.drafted && in.e.rng.Float64() < in.e.cfg.Speculation.Acceptance {
		right++
	}
	in.stats.Accepted += right
	return 1 + right
}

// yield tells the tokens; those of a beam search only when it is over.
func (in *instance) yield(at time.Duration, r *Request, made int, last bool) {
	if r.width() > 1 {
		r.s.made += made
		if !last {
			return
		}
		made = r.s.made
	}
	if r.First < 0 {
		r.First = at
	}
	in.e.tell(Event{At: at, Kind: Tokens, Request: r, Tokens: made, Last: last,
		Batch: in.batch.Sequences, Instance: in.id})
}

// leave frees what a request holds. In a static batch it keeps its place.
func (in *instance) leave(r *Request) {
	r.s.state = gone
	in.e.live--
	if !in.staticFull {
		in.slots -= r.width()
		in.blocks.release(r)
	}
}

// dissolve ends a static batch.
func (in *instance) dissolve() {
	for i, r := range in.running {
		in.slots -= r.width()
		in.blocks.release(r)
		in.running[i] = nil
	}
	in.running = in.running[:0]
	in.staticFull = false
}

// handOver sends a request whose prompt is done to an instance that decodes.
func (in *instance) handOver(at time.Duration, r *Request) {
	in.slots -= r.width()
	in.blocks.release(r)
	r.s.state = moving
	s := in.e.cfg.Split
	in.e.events.push(event{at: at + s.Latency + time.Duration(r.s.computed)*s.PerToken, kind: moved, r: r})
}

// jitter spreads a time without moving its mean.
func (e *Engine) jitter(d time.Duration) time.Duration {
	s := e.cfg.Jitter
	if s == 0 {
		return d
	}
	return time.Duration(float64(d) * math.Exp(s*e.rng.NormFloat64()-s*s/2))
}
