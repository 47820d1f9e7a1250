package sweep

import (
	"context"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/engine"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

const ms = time.Millisecond

// virtual is a server in virtual time: the engine, with lengths drawn evenly.
type virtual struct {
	cfg            engine.Config
	prompt, output [2]int64
	seed           uint64
	probes         uint64
	clock          time.Duration // virtual time spent
	achieved       float64       // requests/s that ended in the last probe
}

func (v *virtual) request(src *random.Source, at float64) *engine.Request {
	return &engine.Request{Arrival: time.Duration(at * 1e9),
		PromptTokens: int(src.Between(v.prompt[0], v.prompt[1])), OutputTokens: int(src.Between(v.output[0], v.output[1]))}
}

// Probe offers Poisson arrivals to a fresh engine.
func (v *virtual) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	v.probes++
	src := random.New(v.seed, v.probes)
	cfg := v.cfg
	cfg.Seed = src.Uint64()
	flying, going := int64(0), true
	var ended []*engine.Request
	e, err := engine.New(cfg, func(ev engine.Event) {
		if ev.Kind == engine.Tokens && ev.Last {
			ended = append(ended, ev.Request)
		}
	})
	if err != nil {
		return Probed{}, err
	}
	drain := func() {
		for _, r := range ended {
			flying--
			if going {
				going = take(Seen{Index: int64(r.Tag.(int)), DueS: r.Arrival.Seconds(), EndS: r.End.Seconds(), Record: record(r)})
			}
		}
		ended = ended[:0]
	}
	at, sent := 0.0, 0
	for going {
		at += src.Exp() / load
		if limit.Requests > 0 && int64(sent) >= limit.Requests || limit.Duration > 0 && at > limit.Duration.Seconds() {
			break
		}
		r := v.request(&src, at)
		r.Tag = sent
		for going {
			next, ok := e.Next()
			if !ok || next >= r.Arrival {
				break
			}
			e.Step()
			drain()
		}
		if err := e.Submit(r); err != nil {
			return Probed{}, err
		}
		sent++
		flying++
	}
	for going {
		if _, ok := e.Next(); !ok {
			break
		}
		e.Step()
		drain()
	}
	v.clock += e.Now()
	v.achieved = float64(int64(sent)-flying) / e.Now().Seconds()
	return Probed{}, nil
}

func record(r *engine.Request) *metric.Record {
	rec := &metric.Record{Outcome: timeline.OK, Phase: timeline.Measure, DueS: r.Arrival.Seconds(),
		TTFTMS: timeline.Some(1e3 * r.TTFT().Seconds()), E2EMS: timeline.Some(1e3 * r.E2E().Seconds())}
	if tpot := r.TPOT(); tpot >= 0 {
		rec.TPOTMS = timeline.Some(1e3 * tpot.Seconds())
	}
	return rec
}

// score is what n requests at a load score on average.
func (v *virtual) score(load float64, n int, of func(*engine.Request) float64) float64 {
	src := random.New(99, uint64(load*1e6))
	cfg := v.cfg
	cfg.Seed = 7
	sum := 0.0
	var last *engine.Request // its end is only known after it was told
	count := func() {
		if last != nil {
			sum += of(last)
		}
		last = nil
	}
	e, err := engine.New(cfg, func(ev engine.Event) {
		if ev.Kind == engine.Tokens && ev.Last {
			count()
			last = ev.Request
		}
	})
	if err != nil {
		panic(err)
	}
	at := 0.0
	err = e.Run(func(yield func(*engine.Request) bool) {
		for range n {
			at += src.Exp() / load
			if !yield(v.request(&src, at)) {
				return
			}
		}
	})
	if err != nil {
		panic(err)
	}
	count()
	return sum / float64(n)
}

func (v *virtual) now() time.Duration { return v.clock }
