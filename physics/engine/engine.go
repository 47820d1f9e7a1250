package engine

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// Engine runs requests on a configuration in virtual time.
type Engine struct {
	cfg       Config
	instances []*instance
	events    events
	rng       *rand.Rand
	told      func(Event)
	clock     time.Duration
	turn      [2]int // whose turn it is to prefill and to decode
	live      int    // requests that are not done
}

// New makes an engine that tells every event to told, which may be nil. A
// configuration that Validate refuses is an error.
func New(cfg Config, told func(Event)) (*Engine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	e := &Engine{cfg: cfg, told: told, rng: rand.New(rand.NewPCG(cfg.Seed, 0x5e))}
	for i := range cfg.Instances {
		in := &instance{e: e, id: i, blocks: newBlocks(cfg.Blocks, cfg.BlockTokens, cfg.PrefixCache)}
		if cfg.Split != nil {
			in.role = onlyDecode
			if i < cfg.Split.Prefill {
				in.role = onlyPrefill
			}
		}
		e.instances = append(e.instances, in)
	}
	return e, nil
}

func (e *Engine) tell(ev Event) {
	if e.told != nil {
		e.told(ev)
	}
}

// Now is the moment of the last thing done.
func (e *Engine) Now() time.Duration { return e.clock }

// Submit adds a request, which arrives at its Arrival. A moment before Now is
// allowed: the request then takes part in what is planned from Now on. The error
// says why the engine could never finish it.
func (e *Engine) Submit(r *Request) error {
	if r.PromptTokens < 1 || r.OutputTokens < 1 {
		return fmt.Errorf("engine: a request needs a prompt and an output of 1 token or more, not %d and %d", r.PromptTokens, r.OutputTokens)
	}
	if r.width() > e.cfg.MaxSequences {
		return fmt.Errorf("engine: %d beams exceed %d sequences", r.width(), e.cfg.MaxSequences)
	}
	b := e.instances[0].blocks
	if need := b.need(r, r.PromptTokens+r.OutputTokens); b.limited() && need > len(b.uses) {
		return fmt.Errorf("engine: the request needs %d blocks, the cache has %d", need, len(b.uses))
	}
	r.Start, r.First, r.End = -1, -1, -1
	r.s = seq{total: r.PromptTokens}
	e.live++
	e.events.push(event{at: r.Arrival, kind: arrival, r: r})
	return nil
}

// Cancel takes a request away: at once if it waits, at the end of the step
// under way if it runs.
func (e *Engine) Cancel(at time.Duration, r *Request) {
	switch r.s.state {
	case gone:
		return
	case running:
		if r.s.cancel {
			return
		}
		r.s.cancel = true
	case waiting:
		e.instances[r.Instance].queue.left(r)
		r.s.state = gone
		e.live--
	default:
		r.s.state = gone
		e.live--
	}
	r.End = at
	e.tell(Event{At: at, Kind: Cancelled, Request: r, Instance: r.Instance})
}

// Next is when the next thing happens; false: nothing is left to do.
func (e *Engine) Next() (time.Duration, bool) {
	if len(e.events.h) == 0 {
		return 0, false
	}
	return e.events.h[0].at, true
}

// Step does the next thing.
func (e *Engine) Step() {
	ev := e.events.pop()
	e.clock = max(e.clock, ev.at)
	switch ev.kind {
	case stepEnd:
		ev.in.finish(ev.at)
	case arrival:
		if ev.r.s.state != gone {
			e.route(both, onlyPrefill).accept(ev.at, ev.r)
		}
	case moved:
		if ev.r.s.state != gone {
			in := e.route(onlyDecode, onlyDecode)
			in.accept(ev.at, ev.r)
			e.tell(Event{At: ev.at, Kind: Moved, Request: ev.r, Instance: in.id})
		}
	case planStep:
		ev.in.start(ev.at)
	}
}

// Run takes requests in the order of their arrival and runs until all are done.
func (e *Engine) Run(requests iter.Seq[*Request]) error {
	for r := range requests {
		for {
			at, ok := e.Next()
			if !ok || at >= r.Arrival {
				break
			}
			e.Step()
		}
		if err := e.Submit(r); err != nil {
			return err
		}
	}
	for len(e.events.h) > 0 {
		e.Step()
	}
	return nil
}

// Stats is what all instances together did so far.
func (e *Engine) Stats() (s Stats) {
	for _, in := range e.instances {
		s.add(in.now())
	}
	return s
}
