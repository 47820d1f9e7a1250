package engine

import (
	"slices"
	"time"
)

// role is which part of a request an instance does.
type role uint8

const (
	both role = iota
	onlyPrefill
	onlyDecode
)

// instance is one copy of the model with its own queue, batch and cache.
type instance struct {
	e    *Engine
	id   int
	role role

	queue   queue
	running []*Request
	slots   int // sequences of the running requests, beams counted
	blocks  *blocks

	busy  bool          // a step is under way
	armed bool          // a step will be planned
	armAt time.Duration // when
	batch Batch
	took  time.Duration // of the step under way
	clock time.Duration // end of the last step

	staticFull bool // a static batch is closed

	stats Stats
}

// Stats counts what an instance, or all of them, did so far.
type Stats struct {
	Running, Waiting int // requests, now
	BlocksUsed       int // now
	Blocks           int
	QueuedTokens     int // prompt tokens that wait, now

	Steps        int
	Busy         time.Duration // spent in steps
	PromptTokens int           // computed, recomputation included
	OutputTokens int
	Preemptions  int
	CacheAsked   int // prompt tokens looked up in the prefix cache
	CacheHit     int // of those found
	Drafts       int // speculative steps of a sequence
	Drafted      int // tokens guessed
	Accepted     int // of those right
	Sequences    int // summed over steps: divided by Steps, the mean batch
}

func (s *Stats) add(o Stats) {
	s.Running += o.Running
	s.Waiting += o.Waiting
	s.BlocksUsed += o.BlocksUsed
	s.Blocks += o.Blocks
	s.QueuedTokens += o.QueuedTokens
	s.Steps += o.Steps
	s.Busy += o.Busy
	s.PromptTokens += o.PromptTokens
	s.OutputTokens += o.OutputTokens
	s.Preemptions += o.Preemptions
	s.CacheAsked += o.CacheAsked
	s.CacheHit += o.CacheHit
	s.Drafts += o.Drafts
	s.Drafted += o.Drafted
	s.Accepted += o.Accepted
	s.Sequences += o.Sequences
}

func (in *instance) now() Stats {
	s := in.stats
	s.Running, s.Waiting, s.QueuedTokens = len(in.running), in.queue.live, in.queue.tokens
	s.Blocks = len(in.blocks.uses)
	s.BlocksUsed = s.Blocks - in.blocks.free
	return s
}

// accept puts a request into the queue and sees that a step is planned.
func (in *instance) accept(at time.Duration, r *Request) {
	r.Instance = in.id
	in.queue.push(r)
	in.arm(at)
}

// arm sets the planning of the next step, after everything else of its moment.
func (in *instance) arm(at time.Duration) {
	at = max(at, in.clock)
	if in.busy || in.armed && in.armAt <= at {
		return
	}
	in.armed, in.armAt = true, at
	in.e.events.push(event{at: at, kind: planStep, in: in})
}

// admit moves the head of the queue into the batch.
func (in *instance) admit(at time.Duration, r *Request) {
	in.queue.pop(r)
	in.running = append(in.running, r)
	in.slots += r.width()
	r.s.state = running
	if r.Start < 0 {
		r.Start = at
		in.e.tell(Event{At: at, Kind: Started, Request: r, Instance: in.id})
	}
}

// remove takes a request out of the batch and frees its blocks.
func (in *instance) remove(r *Request) {
	i := slices.Index(in.running, r)
	in.running = slices.Delete(in.running, i, i+1)
	in.slots -= r.width()
	in.blocks.release(r)
}

// preempt sends a running request back to the head of the queue.
func (in *instance) preempt(at time.Duration, r *Request) {
	in.remove(r)
	r.s.planned, r.s.drafted = 0, 0
	if r.s.cancel {
		r.s.state = gone
		in.e.live--
		return
	}
	r.Preempted++
	in.stats.Preemptions++
	r.s.computed = 0
	in.queue.pushFront(r)
	in.e.tell(Event{At: at, Kind: Preempted, Request: r, Instance: in.id})
}

// start plans a step and begins it; an instance without work falls idle.
func (in *instance) start(at time.Duration) {
	if in.busy || !in.armed || at != in.armAt {
		return // it was planned earlier
	}
	in.armed = false
	in.batch = Batch{}
	switch in.e.cfg.Batching {
	case Chunked:
		in.planChunked(at)
	case PrefillFirst:
		in.planPrefillFirst(at)
	case Static:
		in.planStatic(at)
	}
	if in.batch.Tokens() == 0 {
		return
	}
	in.took = in.duration()
	in.busy = true
	in.e.events.push(event{at: at + in.took, kind: stepEnd, in: in})
}

// duration asks the law, and the draft's.
func (in *instance) duration() time.Duration {
	cfg := &in.e.cfg
	b := in.batch
	t := cfg.Law.Step(&b)
	if s := cfg.Speculation; s != nil && s.Law != nil && b.Decode > 0 {
		draft := Batch{Sequences: b.Decode, Decode: b.Decode, DecodeTokens: b.Decode, DecodeContext: b.DecodeContext, DecodeWindow: b.DecodeWindow}
		t += time.Duration(s.Draft) * s.Law.Step(&draft)
	}
	return in.e.jitter(max(t, 0))
}
