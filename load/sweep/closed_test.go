package sweep

import (
	"context"
	"math"
	"regexp"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/engine"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/timeline"
)

// slow takes seconds for a request, and its probes cut off what has not ended some
// time after the last request was due.
type slow struct {
	virtual
	grace time.Duration
}

func (s *slow) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	until := math.Inf(1)
	if limit.Duration > 0 {
		until = (limit.Duration + s.grace).Seconds()
	}
	began, last := s.clock, 0.0
	p, err := s.virtual.Probe(ctx, load, limit, func(seen Seen) bool {
		last = math.Min(seen.EndS, until)
		if seen.EndS > until {
			cut := metric.Record{Outcome: timeline.CancelledRunEnd}
			if waited := 1e3 * (until - seen.DueS); seen.Record.TTFTMS.Or(0) < waited {
				cut.TTFTMS, cut.TPOTMS, cut.E2EMS = seen.Record.TTFTMS, seen.Record.TPOTMS, timeline.Some(waited-10)
			}
			seen.EndS, seen.Record = until, &cut
		}
		return take(seen)
	})
	s.clock = began + time.Duration(last*1e9)
	return p, err
}

// slowServer writes 64 tokens in three seconds and more.
func slowServer() virtual {
	return virtual{cfg: engine.Config{Law: engine.Linear{Base: 40 * ms, PerSequence: 400 * time.Microsecond, PerPrefillToken: 10 * time.Microsecond},
		MaxSequences: 256, MaxBatchTokens: 4096}, prompt: [2]int64{100, 300}, output: [2]int64{60, 68}}
}

// closed is a server under so many streams, each of which sends its next request when
// the last has ended.
type closed struct{ virtual }

func (c *closed) Probe(_ context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	c.probes++
	src := random.New(c.seed, c.probes)
	cfg := c.cfg
	cfg.Seed = src.Uint64()
	var ended []*engine.Request
	e, err := engine.New(cfg, func(ev engine.Event) {
		if ev.Kind == engine.Tokens && ev.Last {
			ended = append(ended, ev.Request)
		}
	})
	if err != nil {
		return Probed{}, err
	}
	sent, going := int64(0), true
	send := func(at time.Duration) error {
		if limit.Duration > 0 && at > limit.Duration || limit.Requests > 0 && sent >= limit.Requests {
			return nil
		}
		r := c.request(&src, at.Seconds())
		r.Tag = sent
		sent++
		return e.Submit(r)
	}
	for range int(load) {
		if err := send(0); err != nil {
			return Probed{}, err
		}
	}
	for going {
		if _, ok := e.Next(); !ok {
			break
		}
		e.Step()
		for _, r := range ended {
			going = going && take(Seen{Index: r.Tag.(int64), DueS: r.Arrival.Seconds(), EndS: r.End.Seconds(), Record: record(r)})
			if err := send(r.End); err != nil {
				return Probed{}, err
			}
		}
		ended = ended[:0]
	}
	c.clock += e.Now()
	return Probed{}, nil
}

// Streams of a slow server: the search climbs past those at which a few requests say
// little. A step takes 40 ms and 0.4 ms a stream, so that 100 streams pace at 80 ms. What
// ten minutes can't tell, as requests of five seconds tell of each other, the time decides
// that the search asks for.
func TestStreamsOfASlowServer(t *testing.T) {
	limit := 10 * time.Minute
	for range 4 {
		subject := &closed{slowServer()}
		found, err := Search{Objectives: objectivetest.Parse(t, "p95 tpot < 80ms"), Variable: Concurrency, Width: 0.2, MaxTime: limit,
			Now: subject.now}.Run(context.Background(), subject)
		if err != nil || found.Holds > 100 || found.Fails > 0 && found.Fails <= 100 {
			t.Fatalf("%v: %v, [%g, %g] after %v: %s", limit, err, found.Holds, found.Fails, subject.clock, found.Why)
		}
		if found.Holds >= 64 {
			return
		}
		asked := regexp.MustCompile(`--max-time (\S+)\.$`).FindStringSubmatch(found.Next)
		if asked == nil {
			break
		}
		if limit, err = time.ParseDuration(asked[1]); err != nil {
			t.Fatal(err)
		}
	}
	t.Error("no time that it asks for decides")
}

// crowded answers so many at once, and well, whatever waits behind them.
func crowded(tokens int64) virtual {
	return virtual{cfg: engine.Config{Law: engine.Linear{Base: 40 * ms, PerSequence: 100 * time.Microsecond},
		MaxSequences: 64, MaxBatchTokens: 8192}, prompt: [2]int64{50, 150}, output: [2]int64{tokens, tokens}}
}

// The pace of answers does not feel the queue behind them: no load above what the
// server can do holds, and the way up ends near it.
func TestQueueThatThePaceDoesNotFeel(t *testing.T) {
	for _, c := range []struct {
		objective string
		tokens    int64
	}{{"p95 tpot < 80ms", 8}, {"p95 tpot < 80ms", 64}, {"p95 tpot < 80ms", 500}, {"error rate < 5%", 500}} {
		server := crowded(c.tokens)
		_, err := server.Probe(context.Background(), 1e4, Limit{Requests: 10_000}, func(Seen) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		saturation := server.achieved
		for seed := range 3 {
			subject := &slow{virtual: crowded(c.tokens), grace: 30 * time.Second}
			subject.seed = uint64(seed + 1)
			found, err := Search{Objectives: objectivetest.Parse(t, c.objective), MaxTime: 15 * time.Minute,
				Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
			if err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for _, p := range found.Probes {
				most = math.Max(most, p.Load)
			}
			if found.Holds > saturation || most > 8*saturation || found.Fails > 0 && found.Fails < 0.9*saturation {
				t.Errorf("%s, %d tokens, search %d: [%.4g, %.4g], up to %.4g of %.4g; %s", c.objective, c.tokens, seed, found.Holds, found.Fails, most, saturation, found.Why)
				told(t, &found)
			}
		}
	}
}
