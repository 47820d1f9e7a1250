package sim

import (
	"cmp"
	"time"

	"tokenmeter/physics/engine"
)

// scheduled is a model that lets package engine decide: sequences share steps,
// prompts are chunked, the cache fills up and is found again.
type scheduled struct {
	s     *Server
	e     *engine.Engine
	speed float64
	zero  int64 // the truth's time at the engine's beginning
}

func newScheduled(s *Server, cfg engine.Config) *scheduled {
	m := &scheduled{s: s, speed: s.cfg.Speed, zero: s.clock.now()}
	cfg.Seed = s.cfg.Seed
	cfg.Jitter = s.cfg.Jitter
	e, err := engine.New(cfg, m.told)
	if err != nil {
		panic(err) // Validate has looked at it
	}
	m.e = e
	return m
}

func (m *scheduled) inside(at int64) time.Duration {
	return time.Duration(float64(at-m.zero) * m.speed)
}

func (m *scheduled) outside(at time.Duration) int64 {
	return m.zero + int64(float64(at)/m.speed)
}

func (m *scheduled) submit(at int64, r *reply) error {
	r.engine = &engine.Request{
		Arrival:      m.inside(at) + m.s.cfg.Overhead,
		PromptTokens: max(r.promptTokens, 1),
		OutputTokens: r.outputTokens,
		Beams:        cmp.Or(r.beams, m.s.cfg.Beams),
		Blocks:       r.blocks,
		Tag:          r,
	}
	err := m.e.Submit(r.engine)
	if err != nil {
		r.engine = nil
	}
	return err
}

func (m *scheduled) cancel(at int64, r *reply) {
	if r.engine != nil {
		m.e.Cancel(max(m.inside(at), m.e.Now()), r.engine)
	}
}

func (m *scheduled) next() (int64, bool) {
	at, ok := m.e.Next()
	return m.outside(at), ok
}

func (m *scheduled) step() { m.e.Step() }

func (m *scheduled) told(ev engine.Event) {
	r := ev.Request.Tag.(*reply)
	switch ev.Kind {
	case engine.Started:
		r.cachedTokens = ev.Request.Cached
		r.truth.CachedTokens = ev.Request.Cached
		r.started(m.outside(ev.At))
	case engine.Preempted:
		r.truth.Preempted++
	case engine.Tokens:
		r.truth.Instance = ev.Instance
		r.token(m.outside(ev.At), ev.Tokens, ev.Batch, ev.Last)
	}
}
