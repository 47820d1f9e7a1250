package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/base/random"
	"tokenmeter/physics/engine"
	"tokenmeter/record/metric"
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

// Requests that take seconds tell of each other for seconds: ten minutes see few
// independent ones, but all of them far from the limit at half the capacity. A step on
// the way that says too little is no sign of a limit, as more load shows more.
func TestSlowServer(t *testing.T) {
	if testing.Short() {
		t.Skip("hours of virtual time")
	}
	seeds := max(*searches, 2)
	for _, c := range []struct {
		objective string
		target    float64
		capacity  float64
		time      time.Duration
		few       bool // of the searches may leave an end open
	}{
		{"p90 tpot < 80ms", 0.9, 16.71, 10 * time.Minute, true},
		{"p95 tpot < 80ms", 0.95, 16.30, 10 * time.Minute, true},
		{"p95 tpot < 80ms", 0.95, 16.30, 20 * time.Minute, false},
		{"p99 tpot < 80ms", 0.99, 15.47, 10 * time.Minute, true},
		{"p99 tpot < 80ms", 0.99, 15.47, 20 * time.Minute, true},
		{"p99 tpot < 80ms", 0.99, 15.47, 30 * time.Minute, false},
	} {
		if *truths {
			s := scenario{server: slowServer(), target: c.target, good: func(r *engine.Request) bool { return r.TPOT() < 80*ms }}
			t.Logf("%s: capacity %.4g", c.objective, s.truth())
		}
		wrong, both, width := 0, 0, 0.0
		for seed := range seeds {
			found := searchSlow(t, c.objective, c.time, seed)
			if found.Holds > c.capacity || found.Fails > 0 && found.Fails < c.capacity {
				wrong++
			}
			if found.Holds > 0 && found.Fails > 0 {
				both++
				width += math.Log(found.Fails / found.Holds)
			}
			if testing.Verbose() {
				t.Logf("   [%.4g, %.4g], it seems [%.4g, %.4g], %d probes, %d requests; %s", found.Holds, found.Fails, found.SeemsHolds, found.SeemsFails, len(found.Probes), found.Requests, found.Why)
			}
		}
		t.Logf("%s, %v: of %d searches %d say something wrong, %d have both ends, a factor of %.2f apart", c.objective, c.time, seeds, wrong, both, math.Exp(width/float64(both)))
		if wrong > seeds/20 || !c.few && both < seeds-seeds/10 {
			t.Errorf("%s in %v: of %d searches %d are wrong and %d have both ends", c.objective, c.time, seeds, wrong, both)
		}
	}
}

// Where a search could not show what holds in its time, it says how much showing it would
// take.
func TestTooShortForATail(t *testing.T) {
	found := searchSlow(t, "p99.9 tpot < 80ms", 10*time.Minute, 0)
	if found.Holds != 0 || found.SeemsHolds > 23 || found.Fails > 0 && found.Fails < 15 || !strings.Contains(found.Next, "independent requests") {
		t.Errorf("[%g, %g], it seems [%g, %g]: %s. %s", found.Holds, found.Fails, found.SeemsHolds, found.SeemsFails, found.Why, found.Next)
		told(t, &found)
	}
}

func searchSlow(t *testing.T, text string, most time.Duration, seed int) Found {
	t.Helper()
	subject := &slow{virtual: slowServer(), grace: 30 * time.Second}
	subject.seed = uint64(seed + 1)
	found, err := Search{Objectives: parsed(t, text), MaxTime: most, Probe: Limit{Duration: most / 6},
		Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func told(t *testing.T, found *Found) {
	t.Helper()
	for _, p := range found.Probes {
		t.Logf("   %.4g %s firm=%v grows=%v light=%v n=%d share=%.3f %s", p.Load, p.Says, p.Firm, p.Grows, p.light, p.Requests, p.Share, p.Note)
	}
}

// Answers that take longer than the rest of a probe are no failures where only the
// first token is judged.
func TestCutAnswersCountAsFarAsTheyCame(t *testing.T) {
	subject := &slow{virtual: slowServer(), grace: time.Second}
	found, err := Search{Objectives: parsed(t, "p95 ttft < 2s"), From: 4, Most: 4, MaxTime: 10 * time.Minute, Probe: Limit{Duration: 100 * time.Second},
		Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
	if err != nil || found.Holds != 4 || found.Fails != 0 {
		t.Errorf("%v, [%g, %g] %s", err, found.Holds, found.Fails, found.Why)
		told(t, &found)
	}
}

// A stream of which nothing came is bad, as the server did not get round to it. One
// that goes on says what it can.
func TestCutRequests(t *testing.T) {
	tests, err := newTests(parsed(t, "p95 ttft < 2s", "error rate < 5%", "mean e2e < 9s", "p95 tpot < 50ms"))
	if err != nil {
		t.Fatal(err)
	}
	const none = -1
	inf := math.Inf(1)
	some := timeline.Some[float64]
	waiting := metric.Record{Outcome: timeline.CancelledRunEnd}
	going := metric.Record{Outcome: timeline.CancelledRunEnd, TTFTMS: some(100), E2EMS: some(900), TPOTMS: some(40)}
	for _, c := range []struct {
		rec    metric.Record
		waited float64
		want   [4]float64 // values
	}{
		{waiting, 1, [4]float64{0, 0, inf, 0}},
		{going, 1, [4]float64{1, none, none, 1}},
		{going, 2, [4]float64{1, none, none, 0}}, // it has stopped
		{going, 4, [4]float64{1, 0, inf, 0}},     // longer than the slowest that ended
		{going, 10, [4]float64{1, 0, 1000, 0}},   // the limit has passed
		{metric.Record{Outcome: timeline.CancelledUser}, 1, [4]float64{none, none, none, none}},
	} {
		tr := newTrial(tests, true)
		tr.take(Seen{Index: 0, DueS: 0, EndS: 3, Record: &metric.Record{Outcome: timeline.OK, TTFTMS: some(100), E2EMS: some(3000), TPOTMS: some(45)}})
		tr.take(Seen{Index: 1, DueS: 1, EndS: 1 + c.waited, Record: &c.rec})
		for i, want := range c.want {
			got := -1.0
			if v := tr.tests[i].value; len(v) == 2 {
				got = v[1]
			}
			if got != want {
				t.Errorf("%s after %g s: %g, want %g", tests[i].o.Text, c.waited, got, want)
			}
		}
	}
}

// A user who hangs up, and one who thinks for long, hold nobody up and say nothing.
func TestUsersWhoLeave(t *testing.T) {
	tests, err := newTests(parsed(t, "p95 ttft < 2s"))
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrial(tests, true)
	ok := metric.Record{Outcome: timeline.OK, TTFTMS: timeline.Some(100.0), E2EMS: timeline.Some(200.0)}
	for i := range 20 {
		rec := ok
		switch {
		case i%5 == 4:
			rec = metric.Record{Outcome: timeline.CancelledUser}
		case i == 18:
			continue // was never sent
		}
		tr.take(Seen{Index: int64(i), DueS: float64(i), EndS: float64(i) + 0.2, Record: &rec})
	}
	if n := len(tr.tests[0].value); n != 15 {
		t.Errorf("%d judged before the one that is still to come, want 15", n)
	}
	tr.close()
	if v := tr.tests[0].value; len(v) != 15 || slices.Contains(v, 0) {
		t.Errorf("%d judged: %v", len(v), v)
	}
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
		done, err := server.Probe(context.Background(), 1e4, Limit{Requests: 10_000}, func(Seen) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		saturation := done.AchievedPerS.Or(0)
		for seed := range max(*searches/4, 3) {
			subject := &slow{virtual: crowded(c.tokens), grace: 30 * time.Second}
			subject.seed = uint64(seed + 1)
			found, err := Search{Objectives: parsed(t, c.objective), MaxTime: 10 * time.Minute, Probe: Limit{Duration: 100 * time.Second},
				Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
			if err != nil {
				t.Fatal(err)
			}
			most := 0.0
			for _, p := range found.Probes {
				most = math.Max(most, p.Load)
			}
			if found.Holds > saturation || found.SeemsHolds > 1.5*saturation || most > 8*saturation || found.Fails > 0 && found.Fails < 0.9*saturation {
				t.Errorf("%s, %d tokens, search %d: [%.4g, %.4g], it seems [%.4g, %.4g], up to %.4g of %.4g; %s", c.objective, c.tokens, seed, found.Holds, found.Fails, found.SeemsHolds, found.SeemsFails, most, saturation, found.Why)
				told(t, &found)
			}
		}
	}
}

// A mean has no share of good requests, and so many milliseconds are not one.
func TestMeanHasNoShare(t *testing.T) {
	tests, err := newTests(parsed(t, "mean tpot < 30ms"))
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrial(tests, true)
	for i := range 20 {
		tr.take(Seen{Index: int64(i), DueS: float64(i), EndS: float64(i) + 0.2, Record: &metric.Record{Outcome: timeline.OK,
			TPOTMS: timeline.Some(31.5), TTFTMS: timeline.Some(10.0), E2EMS: timeline.Some(200.0)}})
	}
	h := &hunt{Search: Search{Variable: Rate}}
	if l := tr.judge(aim{pass: 100, fail: 100}, 1); !math.IsNaN(l.share) || h.light(1, tr, l) {
		t.Errorf("share %g; counted as far below the limit: %v", l.share, h.light(1, tr, l))
	}
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
			going = going && take(Seen{Index: r.Tag.(int64), DueS: r.Arrival.Seconds(), EndS: r.End.Seconds(), InFlight: int64(load), Record: record(r)})
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
// little. A step takes 40 ms and 0.4 ms a stream, so that 100 streams pace at 80 ms.
func TestStreamsOfASlowServer(t *testing.T) {
	subject := &closed{slowServer()}
	found, err := Search{Objectives: parsed(t, "p95 tpot < 80ms"), Variable: Concurrency, Width: 0.2, MaxTime: 10 * time.Minute, Probe: Limit{Duration: 100 * time.Second},
		Now: func() time.Duration { return subject.clock }}.Run(context.Background(), subject)
	if err != nil || found.Holds < 70 || found.Holds > 100 || found.Fails <= found.Holds || found.Fails > 1.25*found.Holds {
		t.Errorf("%v, [%g, %g] after %v: %s", err, found.Holds, found.Fails, subject.clock, found.Why)
		told(t, &found)
	}
}

// All decisions together are wrong with the chance that the confidence leaves, however
// many there are.
func TestChanceOfAllDecisions(t *testing.T) {
	tests, err := newTests(parsed(t, "p90 tpot < 80ms"))
	if err != nil {
		t.Fatal(err)
	}
	h := &hunt{Search: Search{Width: 0.05, Confidence: 0.95}, tests: tests}
	sum := 0.0
	for range 1000 {
		h.aim(float64(len(h.aimed)))
		sum += math.Exp(-h.firm())
	}
	if sum > 0.0401 || sum < 0.0399 {
		t.Errorf("all of them are wrong in %g of searches, want 0.04 beside what the distance takes", sum)
	}
}

// Streams are whole.
func TestWholeStreams(t *testing.T) {
	for _, s := range []Search{{From: 2.5}, {Most: 2.5}} {
		s.Objectives, s.Variable = parsed(t, "p90 ttft < 500ms"), Concurrency
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), "whole numbers") {
			t.Errorf("%v", err)
		}
	}
}
