package metric

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// made is a request as the tests of summaries need it. Times in ms.
type made struct {
	request    int64
	due, start float64
	ttft       float64 // since due; the first of the events
	gap        float64
	events     int
	usage      int64 // 0: as many as events
	outcome    timeline.Outcome
	close      float64 // since due; 0: 1 ms after the last event
	set        func(*timeline.Timeline)
}

func us(ms float64) int64 { return int64(math.Round(ms * 1000)) }

func (m made) timeline() *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.Streamed, tl.Asked, tl.Attempts = m.request, true, true, 1
	tl.DueUS, tl.StartUS = us(m.due), us(max(m.start, m.due))
	tl.Outcome = timeline.OK
	if m.outcome != "" {
		tl.Fail(m.outcome, "it failed")
	}
	at := us(m.ttft)
	for i := range m.events {
		at = us(m.ttft + float64(i)*m.gap)
		tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 4, Read: int64(i)})
	}
	n := m.usage
	if n == 0 {
		n = int64(m.events)
	}
	if m.events > 0 {
		tl.Usage.Output = timeline.Some(n)
	}
	tl.CloseUS = timeline.Some(at)
	if m.close > 0 {
		tl.CloseUS = timeline.Some(us(m.close))
	}
	if m.set != nil {
		m.set(tl)
	}
	return tl
}

func collect(opts CollectorOpts, requests ...made) *Collector {
	c := NewCollector(opts)
	for i, m := range requests {
		if m.request == 0 {
			m.request = int64(i)
		}
		c.Add(m.timeline())
	}
	return c
}

func is(t *testing.T, what string, got timeline.Opt[float64], want float64) {
	t.Helper()
	if x, ok := got.Get(); !ok || math.Abs(x-want) > 1e-3 {
		t.Errorf("%s is %v, want %v", what, show(got), want)
	}
}

func null(t *testing.T, what string, got timeline.Opt[float64]) {
	t.Helper()
	if got.OK() {
		t.Errorf("%s is %v, want null", what, show(got))
	}
}

func warned(s Summary, name string) bool {
	return slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Name == name })
}

// B62: a request due each 100 ms, the server frozen from 10 to 15 s.
func TestB62CoordinatedOmission(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true})
	for i := range 200 {
		e2e := 10.0
		if due := float64(i) * 100; due >= 10_000 && due <= 15_000-100 {
			e2e = 15_010 - due
		}
		c.Add(made{request: int64(i), due: float64(i) * 100, ttft: e2e, events: 1}.timeline())
	}
	s := c.Summary()
	e2e := s.Metrics["e2e_ms"]
	if e2e.N != 200 {
		t.Errorf("n is %d", e2e.N)
	}
	is(t, "p50", e2e.P50, 10)
	is(t, "max", e2e.Max, 5010)
	is(t, "mean", e2e.Mean, 647.5)
	is(t, "offered", s.Throughput.OfferedPerS, 10)
}

// B63: eight requests due each 100 ms, one slot, service 500 ms.
func TestB63WaitingForASlot(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true, Concurrency: 1})
	for i := range 8 {
		due, start := float64(i)*100, float64(i)*500
		c.Add(made{request: int64(i), due: due, start: start,
			ttft: start - due + 100, gap: 400, events: 2,
			set: func(tl *timeline.Timeline) { tl.SentUS = timeline.Some(us(start - due)) }}.timeline())
	}
	s := c.Summary()
	is(t, "delay", s.Metrics["delay_ms"].Mean, 1400)
	is(t, "e2e", s.Metrics["e2e_ms"].Mean, 1900)
	is(t, "e2e max", s.Metrics["e2e_ms"].Max, 3300)
	is(t, "ttft", s.Metrics["ttft_ms"].Mean, 1500)
	is(t, "service e2e", s.Metrics["service_e2e_ms"].Mean, 500)
	is(t, "requests/s", s.Throughput.RequestsPerS, 2)
	is(t, "achieved", s.Throughput.AchievedPerS, 2)
	is(t, "offered", s.Throughput.OfferedPerS, 10)
	if !warned(s, "rate_not_sustained") || warned(s, "client_limited") {
		t.Errorf("warnings %v", s.Warnings)
	}
	// The wait for the slot was the server's doing, not the client's.
	is(t, "send late", c.Facts().SendLateP99MS, 0)
}

// Eight requests due each 100 ms, one place before the first token, which takes
// 200 ms: the k-th leaves at 200k ms. That is the cap's doing, as B63's is.
func TestWaitingForAPlaceInPrefill(t *testing.T) {
	for _, leave := range []float64{0, 30} { // ms, by which each leaves later than it could
		c := NewCollector(CollectorOpts{OpenLoop: true, Prefills: 1})
		for i := range 8 {
			due, start := float64(i)*100, float64(i)*(200+leave)
			if i > 0 {
				start += leave
			}
			c.Add(made{request: int64(i), due: due, start: start,
				ttft: start - due + 200, gap: 400, events: 2,
				set: func(tl *timeline.Timeline) { tl.SentUS = timeline.Some(us(start - due)) }}.timeline())
		}
		s, f := c.Results()
		if !warned(s, "rate_not_sustained") || warned(s, "client_limited") != (leave > 10) || f.PrefillCap != 1 {
			t.Errorf("late by %v ms: cap %d, warnings %v", leave, f.PrefillCap, s.Warnings)
		}
	}
}

// B68: warm-up requests are kept apart.
func TestB68WarmUp(t *testing.T) {
	c := NewCollector(CollectorOpts{Concurrency: 1})
	for i := range 10 {
		m := made{request: int64(i), due: float64(i) * 5000, ttft: 100, gap: 10, events: 5}
		if i < 2 {
			m.ttft = 4000
			m.set = func(tl *timeline.Timeline) { tl.Phase = timeline.Warmup }
		}
		c.Add(m.timeline())
	}
	s := c.Summary()
	is(t, "ttft", s.Metrics["ttft_ms"].Mean, 100)
	if s.Metrics["ttft_ms"].N != 8 || s.Requests.Warmup != 2 || s.Requests.Total != 8 {
		t.Errorf("n %d, %+v", s.Metrics["ttft_ms"].N, s.Requests)
	}
	is(t, "first request", s.Cold.FirstRequestTTFTMS, 4000)
}

// B69: 64 requests at once; 63 finish at 10 s, one goes on for 40 s.
func TestB69StragglerTail(t *testing.T) {
	c := NewCollector(CollectorOpts{Concurrency: 64})
	for i := range 63 {
		c.Add(made{request: int64(i), ttft: 100, gap: 100, events: 100, close: 10_000}.timeline())
	}
	c.Add(made{request: 63, ttft: 40, gap: 40, events: 1000, close: 40_000}.timeline())
	s := c.Summary()
	is(t, "window", s.Throughput.WindowS, 40)
	is(t, "full", s.Throughput.SystemOutputTPS, 182.5)
	st := s.Throughput.Steady
	if st == nil || st.FromS != 0 || st.ToS != 10 || st.OutputTokens.Or(0) != 6550 || st.SystemOutputTPS.Or(0) != 655 {
		t.Errorf("steady %+v, want 6550 tokens in 10 s", st)
	}
	null(t, "sustained", s.Throughput.SustainedTPS)
	is(t, "best second", s.Throughput.Best1sTPS, 655)
}

// Where the template is known, what of it a cache gave is no hit: it is the same for
// all prompts. What goes beyond it is.
func TestCachedTemplate(t *testing.T) {
	for _, c := range []struct{ template, cached int64 }{{0, 12}, {17, 12}, {17, 17}, {17, 33}} {
		collector := NewCollector(CollectorOpts{PromptsUnique: true, TemplateTokens: c.template})
		for i := range 10 {
			collector.Add(made{request: int64(i), due: float64(i) * 100, ttft: 50, gap: 10, events: 3, set: func(tl *timeline.Timeline) {
				tl.Usage.Input, tl.Usage.Cached = timeline.Some(int64(49)), timeline.Some(c.cached)
			}}.timeline())
		}
		want := float64(max(c.cached-c.template, 0)) / float64(49-c.template)
		is(t, "hits", collector.Facts().PrefixHits, want)
		is(t, "as the server says", collector.Summary().Throughput.CacheHitRate, float64(c.cached)/49)
	}
}

// B70: one prompt 200 times, 992 of 1,000 tokens cached from the second on.
func TestB70PromptReuse(t *testing.T) {
	c := NewCollector(CollectorOpts{PromptsUnique: true, UniquePrompts: timeline.Some(int64(1))})
	for i := range 200 {
		c.Add(made{request: int64(i), due: float64(i) * 100, ttft: 50, gap: 10, events: 3, set: func(tl *timeline.Timeline) {
			tl.Usage.Input, tl.Usage.Cached = timeline.Some(int64(1000)), timeline.Some(int64(0))
			if i > 0 {
				tl.Usage.Cached = timeline.Some(int64(992))
			}
		}}.timeline())
	}
	is(t, "cache share", c.Facts().PrefixHits, 0.98704)
	s := c.Summary()
	is(t, "cache hit rate", s.Throughput.CacheHitRate, 0.98704)
	if !warned(s, "prompt_reuse") {
		t.Error("no warning of reuse")
	}
}

// B73: asked 512 tokens; got 512, 512, 37, 210.
func TestB73EarlyStop(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	for i, n := range []int{512, 512, 37, 210} {
		c.Add(made{request: int64(i), ttft: 100, gap: 1, events: n, set: func(tl *timeline.Timeline) {
			tl.Requested = timeline.Some(int64(512))
		}}.timeline())
	}
	s := c.Summary()
	is(t, "mean output", s.Metrics["output_tokens"].Mean, 317.75)
	is(t, "shortfall", c.Facts().OSLShortfall, 1-317.75/512)
	if !warned(s, "osl_mismatch") || c.tokens.short != 2 {
		t.Errorf("%d short, warnings %v", c.tokens.short, s.Warnings)
	}
	is(t, "tokens/s", s.Throughput.SystemOutputTPS, 1271/0.611)
}

// B75: 5,128 input tokens where 1,000 were asked for.
func TestB75InputDrift(t *testing.T) {
	c := NewCollector(CollectorOpts{AskedInput: timeline.Some(1000.0)})
	for i := range 20 {
		c.Add(made{request: int64(i), ttft: 100, gap: 1, events: 5, set: func(tl *timeline.Timeline) {
			tl.Usage.Input = timeline.Some(int64(5128))
		}}.timeline())
	}
	is(t, "error", c.Facts().ISLError, 4.128)
	if !warned(c.Summary(), "isl_mismatch") {
		t.Error("no warning")
	}
}

// What a template adds is part of what the server should count, and the words name both
// parts: 100 tokens of 256 + 99 are 71.8 % too few, of 256 alone they would be 60.9 %.
func TestInputDriftBesideATemplate(t *testing.T) {
	c := NewCollector(CollectorOpts{AskedInput: timeline.Some(355.0), AskedTemplate: 99, TemplateTokens: 99})
	c.Add(made{ttft: 100, gap: 1, events: 5, set: func(tl *timeline.Timeline) { tl.Usage.Input = timeline.Some(int64(100)) }}.timeline())
	is(t, "error", c.Facts().ISLError, 1-100.0/355)
	for _, w := range c.Summary().Warnings {
		if w.Name == "isl_mismatch" && !strings.HasPrefix(w.Says, "Prompts have 100 tokens on average as the server counts, 256 were asked for and the chat template adds 99.") {
			t.Error(w.Says)
		}
	}
	// Too many beside a template that is granted are not the template's.
	more := NewCollector(c.Opts)
	more.Add(made{ttft: 100, gap: 1, events: 5, set: func(tl *timeline.Timeline) { tl.Usage.Input = timeline.Some(int64(400)) }}.timeline())
	if f := more.Facts(); strings.Contains(f.ISLWhy, "below which") {
		t.Error(f.ISLWhy)
	}
	if f := c.Facts(); f.TemplateAdds != 99 || AskedWords(256, 0) != "256 were asked for" {
		t.Errorf("%+v", f)
	}
}

// B81 and B82: percentiles of the merged values, never of parts.
func TestB81B82MergedPercentiles(t *testing.T) {
	a, b := NewCollector(CollectorOpts{}), NewCollector(CollectorOpts{})
	for i := range 1000 {
		a.Add(made{request: int64(i), ttft: 10, events: 1}.timeline())
	}
	for i := range 10 {
		b.Add(made{request: int64(1000 + i), ttft: 1000, events: 1}.timeline())
	}
	a.Merge(b)
	d := a.Summary().Metrics["ttft_ms"]
	if d.N != 1010 {
		t.Errorf("n %d", d.N)
	}
	is(t, "p99", d.P99, 10)
	is(t, "p99.9", d.P999, 1000)

	w := NewCollector(CollectorOpts{})
	for i := range 300 {
		ttft := 100.0
		if i < 6 {
			ttft = 900
		}
		w.Add(made{request: int64(i), ttft: ttft, events: 1}.timeline())
	}
	is(t, "p95", w.Summary().Metrics["ttft_ms"].P95, 100)
}

// B83: ten values are no evidence for a p99.
func TestB83TenSamples(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	for i, x := range []float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 900} {
		c.Add(made{request: int64(i), ttft: x, events: 1}.timeline())
	}
	s := c.Summary()
	d := s.Metrics["ttft_ms"]
	is(t, "p50", d.P50, 145)
	is(t, "p99", d.P99, 835.2)
	is(t, "max", d.Max, 900)
	if !warned(s, "low_n") {
		t.Error("no low_n")
	}
	if _, has := d.CI95["p99"]; has {
		t.Error("an interval of p99 from ten values")
	}
	if _, has := d.CI95["p50"]; has || !(d.Needs["p50"] >= 5) || !(d.Worth.Or(99) <= 10) {
		t.Errorf("ten values can't show how they depend on each other; it takes 50 independent ones: %+v", d)
	}
}

// B84: request means and pooled gaps, each with its n.
func TestB84Summary(t *testing.T) {
	s := collect(CollectorOpts{},
		made{request: 1, ttft: 100, gap: 100, events: 2},
		made{request: 2, ttft: 100, gap: 10, events: 101}).Summary()
	tpot, itl := s.Metrics["tpot_ms"], s.Metrics["itl_ms"]
	is(t, "mean tpot", tpot.Mean, 55)
	is(t, "mean itl", itl.Mean, 10.891)
	is(t, "p50 itl", itl.P50, 10)
	if tpot.N != 2 || itl.N != 101 {
		t.Errorf("n %d and %d", tpot.N, itl.N)
	}
}

// B85: failures have no latency; the run lasts 4 s.
func TestB85FailuresInTheSample(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	for i := range 8 {
		c.Add(made{request: int64(i), due: float64(i) * 450, ttft: 200, gap: 1, events: 50,
			set: func(tl *timeline.Timeline) {
				if i == 7 { // the last token at 4 s
					tl.DueUS = us(4000 - 249)
					tl.StartUS = tl.DueUS
				}
			}}.timeline())
	}
	for i := range 2 {
		c.Add(made{request: int64(8 + i), due: 100, outcome: timeline.HTTP5xx, close: 5}.timeline())
	}
	s := c.Summary()
	is(t, "ttft", s.Metrics["ttft_ms"].Mean, 200)
	if s.Metrics["ttft_ms"].N != 8 || s.Requests.Failed != 2 || s.Requests.OK != 8 {
		t.Errorf("%+v", s.Requests)
	}
	is(t, "requests/s", s.Throughput.RequestsPerS, 2)
	is(t, "tokens/s", s.Throughput.SystemOutputTPS, 100)
	is(t, "error latency", s.Metrics["error_latency_ms"].Mean, 5)
	if s.Requests.FirstError == nil || *s.Requests.FirstError != "it failed" {
		t.Error("the first error is not told")
	}
}

// The worked example of the definitions: four requests of 0.9 s.
func TestWorkedExampleSummary(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true})
	for i, tl := range workedExample(t) {
		tl.Request = int64(i)
		c.Add(tl)
	}
	s := c.Summary()
	is(t, "window", s.Throughput.WindowS, 0.9)
	is(t, "output", s.Throughput.SystemOutputTPS, 14.4444)
	is(t, "in and out", s.Throughput.SystemInOutTPS, 414.4444)
	is(t, "requests/s", s.Throughput.RequestsPerS, 4.4444)
	is(t, "mean tpot", s.Metrics["tpot_ms"].Mean, 58.3333)
	is(t, "mean icl", s.Metrics["icl_ms"].Mean, 75)
	is(t, "mean itl", s.Metrics["itl_ms"].Mean, 50)
	if s.Metrics["itl_ms"].N != 9 || s.Metrics["icl_ms"].N != 6 {
		t.Errorf("n %d and %d", s.Metrics["itl_ms"].N, s.Metrics["icl_ms"].N)
	}
}

// Every outcome's tokens count for the system, only the successful ones for
// the success rate. Hidden tokens were spent but not delivered.
func TestThroughputByOutcome(t *testing.T) {
	s := collect(CollectorOpts{},
		made{request: 1, ttft: 100, gap: 100, events: 10, set: func(tl *timeline.Timeline) {
			tl.Usage.Output, tl.Usage.Reasoning = timeline.Some(int64(30)), timeline.Some(int64(20))
		}},
		made{request: 2, ttft: 500, gap: 100, events: 6, outcome: timeline.StreamTruncated},
		made{request: 3, ttft: 500, gap: 100, events: 4, outcome: timeline.CancelledRunEnd}).Summary()
	th := s.Throughput
	is(t, "system", th.SystemOutputTPS, 40)
	is(t, "delivered", th.DeliveredTPS, 20)
	is(t, "success", th.SuccessOutputTPS, 30)
	if th.ByOutcome[timeline.StreamTruncated] != 6 || th.ByOutcome[timeline.CancelledRunEnd] != 4 {
		t.Errorf("by outcome %v", th.ByOutcome)
	}
	null(t, "input", th.SystemInputTPS)
	if s.Requests.Excluded["cancelled_run_end"] != 1 || s.Requests.Failed != 1 {
		t.Errorf("%+v", s.Requests)
	}
}

// A chunk of unknown size gets S/chunks, and nothing is lost in the division.
func TestUnknownChunksAddUp(t *testing.T) {
	c := collect(CollectorOpts{Concurrency: 1},
		made{request: 1, ttft: 100, gap: 700, events: 3, usage: 10, close: 2000})
	from, to, ok := c.bins.span()
	if !ok || c.bins.sum(from, to) != 10 {
		t.Errorf("bins hold %v tokens, want 10", c.bins.sum(from, to))
	}
	if got := c.bins.sum(from, from+1); math.Abs(got-10./3) > 1e-3 {
		t.Errorf("the first chunk holds %v", got)
	}
}

func TestNoRecords(t *testing.T) {
	s := NewCollector(CollectorOpts{OpenLoop: true}).Summary()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), `"ci95":null`) || s.Cold != nil || s.Decomposition != nil || s.Throughput.Steady != nil {
		t.Errorf("%s", data)
	}
	null(t, "window", s.Throughput.WindowS)
}

func TestEverythingFailed(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	for i := range 5 {
		c.Add(made{request: int64(i), outcome: timeline.ConnectRefused, close: 1}.timeline())
	}
	s := c.Summary()
	if s.Requests.Failed != 5 || s.Metrics["ttft_ms"].N != 0 || s.Metrics["error_latency_ms"].N != 5 {
		t.Errorf("%+v", s.Requests)
	}
	null(t, "window", s.Throughput.WindowS)
	null(t, "tokens/s", s.Throughput.SystemOutputTPS)
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

// random draws a request with odd chunk sizes, reads and outcomes.
func random(rng *rand.Rand, i int64) *timeline.Timeline {
	outcomes := []timeline.Outcome{"", "", "", timeline.HTTP5xx, timeline.StreamTruncated, timeline.CancelledRunEnd, timeline.ClientResource}
	m := made{request: i, due: rng.Float64() * 60_000, ttft: 1 + rng.Float64()*500, gap: rng.Float64() * 50,
		events: rng.IntN(20), outcome: outcomes[rng.IntN(len(outcomes))]}
	m.start = m.due + rng.Float64()*3
	m.usage = int64(m.events) * (1 + rng.Int64N(4))
	m.set = func(tl *timeline.Timeline) {
		if rng.IntN(2) == 0 {
			tl.Clock = timeline.Kernel
		}
		if rng.IntN(3) == 0 {
			tl.Usage.Input = timeline.Some(rng.Int64N(1000))
			tl.Usage.Cached = timeline.Some(rng.Int64N(10))
		}
		if rng.IntN(10) == 0 {
			tl.Phase = timeline.Warmup
		}
		tl.Reused = timeline.Some(rng.IntN(2) == 0)
		tl.Task = string(rune('a' + rng.IntN(26)))
	}
	return m.timeline()
}

// The summary depends on the set of requests, not on their order nor on how
// they were dealt out to collectors.
func TestSummaryIsOrderIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var tls []*timeline.Timeline
		for i := range rapid.IntRange(0, 80).Draw(t, "n") {
			tls = append(tls, random(rng, int64(i)))
		}
		opts := CollectorOpts{OpenLoop: rng.IntN(2) == 0, Concurrency: rng.Int64N(4)}
		whole := NewCollector(opts)
		for _, tl := range tls {
			whole.Add(tl)
		}
		parts := []*Collector{NewCollector(opts), NewCollector(opts), NewCollector(opts)}
		for _, i := range rng.Perm(len(tls)) {
			parts[rng.IntN(3)].Add(tls[i])
		}
		parts[0].Merge(parts[1])
		parts[0].Merge(parts[2])
		a, b := whole.Summary(), parts[0].Summary()
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) {
			t.Fatalf("another order, another summary:\n%s", cmp.Diff(string(x), string(y)))
		}
		x2, _ := json.Marshal(whole.Facts())
		y2, _ := json.Marshal(parts[0].Facts())
		if string(x2) != string(y2) {
			t.Fatalf("another order, other facts:\n%s", cmp.Diff(string(x2), string(y2)))
		}
		again, _ := json.Marshal(whole.Summary())
		if string(again) != string(x) {
			t.Fatal("asking twice gives two answers")
		}
	})
}

// The pooled gaps of a request are alike; the interval must say so.
func TestPooledIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs, truth = 300, 20.0
	held := map[string]int{}
	for range runs {
		c := NewCollector(CollectorOpts{})
		for i := range 200 {
			own := truth * math.Exp(0.3*rng.NormFloat64()) // the request's pace
			c.Add(made{request: int64(i), due: float64(i) * 50, ttft: 10, gap: own, events: 21}.timeline())
		}
		d := c.Summary().Metrics["itl_ms"]
		if ci := d.CI95["p50"]; ci[0] <= truth && truth <= ci[1] {
			held["p50"]++
		}
		mean := truth * math.Exp(0.3*0.3/2)
		if ci := d.CI95["mean"]; ci[0] <= mean && mean <= ci[1] {
			held["mean"]++
		}
	}
	for name, n := range held {
		// Three standard errors of 0.95 in 300 runs are 3.8 points.
		if share := float64(n) / runs; share < 0.912 {
			t.Errorf("the interval of the %s held in %v", name, share)
		}
	}
}
