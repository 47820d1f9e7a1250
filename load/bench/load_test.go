package bench

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-6) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// B62: a server that freezes for 5 s delays all who were due meanwhile, and
// every one of them counts from its due time.
func TestB62CoordinatedOmission(t *testing.T) {
	var start time.Time
	f := &fake{chat: func(s *stream, _ body) {
		done := time.Now().Add(10 * time.Millisecond)
		if at := time.Since(start); at >= 10*time.Second && at < 15*time.Second {
			done = start.Add(15010 * time.Millisecond)
		}
		s.token(time.Until(done))
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Rate: 10, Requests: 200, Warmup: Warmup{Off: true}}, Content: Content{OutputTokens: "1"}}, func(func()) { start = time.Now() })
	if res.err != nil || len(res.records) != 200 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	all := each(res.records, e2e)
	slices.Sort(all)
	p50, _ := stat.Quantile(stat.Sorted(all), 0.5)
	p99, _ := stat.NearestRank(stat.Sorted(all), 0.99)
	near(t, "p50", p50, 10)
	near(t, "p99", p99, 4810)
	near(t, "max", all[199], 5010)
	near(t, "mean", mean(all), 647.5)
	slow := 0
	for _, ms := range all {
		if ms > 100 {
			slow++
		}
	}
	if slow != 50 {
		t.Errorf("%d slow ones, want 50", slow)
	}
}

// B63: waiting for one of the few slots is part of the latency.
func TestB63WaitForASlotCounts(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(100 * time.Millisecond)
		s.token(400 * time.Millisecond)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Rate: 10, Concurrency: 1, Requests: 8, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 8 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	near(t, "wait mean", mean(each(res.records, delay)), 1400)
	near(t, "e2e mean", mean(each(res.records, e2e)), 1900)
	near(t, "e2e max", slices.Max(each(res.records, e2e)), 3300)
	near(t, "ttft mean", mean(each(res.records, ttft)), 1500)
	if f.most != 1 || res.run.Client.MaxInFlight != 1 {
		t.Errorf("%d in flight at the server, %d here", f.most, res.run.Client.MaxInFlight)
	}
	near(t, "offered", res.run.Client.OfferedPerS.Or(0), 10)
	near(t, "service mean", mean(each(res.records, service)), 500)
	if !warned(res.run, "rate_not_sustained") {
		t.Errorf("no warning of a rate that was not sustained: %+v", res.run.Warnings)
	}
	for i, rec := range res.records {
		near(t, "due", rec.DueS, 0.1*float64(i))
		near(t, "start", rec.StartS, 0.5*float64(i))
	}
}

// B64: the schedule is absolute, so the rate is kept whatever a request costs.
func TestB64RateIsKept(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(450 * time.Microsecond)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Rate: 200, Duration: 10 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 2000 {
		t.Fatalf("sent %d, %v", len(res.records), res.err)
	}
	for i, rec := range res.records {
		if rec.DelayMS != 0 || math.Abs(rec.DueS-float64(i)/200) > 1e-6 {
			t.Fatalf("request %d due at %v s, late by %v ms", i, rec.DueS, rec.DelayMS)
		}
	}
	if x := res.run.Throughput.AchievedPerS.Or(0); math.Abs(x-200) > 0.5 || warned(res.run, "rate_not_sustained") {
		t.Errorf("achieved %v/s, %+v", x, res.run.Warnings)
	}
}

// B67: as many requests are in flight as were asked for.
func TestB67NoHiddenCap(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Second)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 256, Requests: 512, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 512 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	if f.most != 256 || res.wall != 2*time.Second {
		t.Errorf("%d in flight, wall %v", f.most, res.wall)
	}
	near(t, "e2e mean", mean(each(res.records, e2e)), 1000)
	if n := res.run.Client.ConnectionsOpened; n > 256 {
		t.Errorf("%d connections for 256 streams", n)
	}
}

// B68: warm-up requests are kept apart; being turned away there is no failure.
func TestB68Warmup(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		if s.n < 2 {
			s.token(4 * time.Second)
		} else {
			s.token(100 * time.Millisecond)
		}
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 8, Warmup: Warmup{Requests: 2}}, Content: Content{Prompt: "hello"}}, nil)
	if res.err != nil || len(res.records) != 8 || len(res.warm) != 2 {
		t.Fatalf("n = %d and %d, %v", len(res.records), len(res.warm), res.err)
	}
	near(t, "ttft mean", mean(each(res.records, ttft)), 100)
	near(t, "warm-up ttft mean", mean(each(res.warm, ttft)), 4000)
	if res.run.Requests.Warmup != 2 || res.run.Requests.Total != 8 {
		t.Errorf("%+v", res.run.Requests)
	}
}

func TestB68TooManyRequestsInWarmup(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		if s.n < 4 {
			s.fail(429, "slow down")
			return
		}
		s.token(100 * time.Millisecond)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 4, Requests: 8}}, nil)
	if res.err != nil || len(res.records) != 8 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	if want := "4 of 4 warm-up requests were answered 429"; !hasText(res.log, want) {
		t.Errorf("log %q lacks %q", res.log, want)
	}
}

// B69: one straggler makes a tail; all start at once.
func TestB69Straggler(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		n, gap := 100, 100*time.Millisecond
		if s.n == 0 {
			n, gap = 1000, 40*time.Millisecond
		}
		for range n {
			s.token(gap)
		}
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 64, Requests: 64, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 64 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	total := int64(0)
	for _, rec := range res.records {
		total += rec.OutputTokens.Or(0)
		near(t, "due", rec.DueS, 0)
	}
	if total != 7300 || res.wall != 40*time.Second {
		t.Errorf("%d tokens in %v", total, res.wall)
	}
	through := res.run.Throughput
	near(t, "full window", through.WindowS.Or(0), 40)
	near(t, "full window tps", through.SystemOutputTPS.Or(0), 182.5)
	if s := through.Steady; s == nil {
		t.Error("no steady window")
	} else {
		near(t, "steady window", s.ToS-s.FromS, 10)
		near(t, "steady tokens", s.OutputTokens.Or(0), 6550)
		near(t, "steady tps", s.SystemOutputTPS.Or(0), 655)
	}
}

// B70: a file of one prompt measures the cache, and the run says so.
func TestB70OnePrompt(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		cached := 992
		if s.n == 0 {
			cached = 0
		}
		s.token(time.Millisecond)
		s.end(1000, cached)
	}}
	res := virtual(t, f, Plan{Load: Load{Requests: 200, Warmup: Warmup{Off: true}}, Content: Content{Prompt: "the only one"}}, nil)
	if res.err != nil || len(res.records) != 200 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	cached := int64(0)
	for _, rec := range res.records {
		cached += rec.CachedTokens.Or(0)
	}
	if n, ok := res.run.Workload.UniquePrompts.Get(); !ok || n != 1 || cached != 197408 {
		t.Errorf("%d unique prompts, %d cached tokens", n, cached)
	}
	if !warned(res.run, "prompt_reuse") {
		t.Errorf("no warning: %+v", res.run.Warnings)
	}
}

func echo(s *stream, b body) {
	s.token(10 * time.Millisecond)
	s.end(wordsIn(b), 0)
}

func wordsIn(b body) int {
	n := 0
	for _, m := range b.Messages {
		inWord := false
		for _, c := range m.Content {
			if c != ' ' && !inWord {
				n++
			}
			inWord = c != ' '
		}
	}
	return n
}

// B71: the seed fixes lengths, a new salt makes new prompts.
func TestB71SameSeedTwice(t *testing.T) {
	once := func(salt string) (prompts []string, lengths []int64) {
		f := &fake{chat: echo}
		res := virtual(t, f, Plan{
			Load:    Load{Concurrency: 1, Requests: 20, Warmup: Warmup{Off: true}},
			Content: Content{Seed: 42, Salt: salt, InputTokens: "uniform:5,50", OutputTokens: "uniform:1,9"},
		}, nil)
		if res.err != nil {
			t.Fatal(res.err)
		}
		if warned(res.run, "prompt_reuse_across_runs") != (salt != "") || warned(res.run, "prompt_reuse") {
			t.Errorf("salt %q: %+v", salt, res.run.Warnings)
		}
		for _, b := range f.bodies {
			prompts = append(prompts, b.Messages[0].Content)
			lengths = append(lengths, *b.MaxTokens, int64(wordsIn(b)))
		}
		return prompts, lengths
	}
	a, la := once("")
	b, lb := once("")
	if slices.Equal(a, b) || !slices.Equal(la, lb) {
		t.Errorf("prompts equal: %v, lengths equal: %v", slices.Equal(a, b), slices.Equal(la, lb))
	}
	c, _ := once("fixed")
	d, _ := once("fixed")
	if !slices.Equal(c, d) {
		t.Error("an exact repeat differs")
	}
}

// B72: four workers send 400 different prompts, and no request twice.
func TestB72Workers(t *testing.T) {
	for _, plan := range []Plan{
		{Load: Load{Workers: 4, Requests: 400, Concurrency: 8, Warmup: Warmup{Off: true}}, Content: Content{Seed: 42}},
		{Load: Load{Workers: 4, Requests: 400, Rate: 50, Arrival: "poisson", Warmup: Warmup{Off: true}}, Content: Content{Seed: 42}},
	} {
		f := &fake{chat: echo}
		res := virtual(t, f, plan, nil)
		if res.err != nil || len(res.records) != 400 {
			t.Fatalf("n = %d, %v", len(res.records), res.err)
		}
		prompts, workers := map[string]bool{}, map[int]int{}
		for _, b := range f.bodies {
			prompts[b.Messages[0].Content] = true
		}
		for _, rec := range res.records {
			workers[rec.Worker]++
		}
		if len(prompts) != 400 || len(workers) != 4 {
			t.Errorf("%d distinct prompts, workers %v", len(prompts), workers)
		}
		if ids := slices.Compact(slices.Sorted(slices.Values(f.ids))); len(ids) != 400 {
			t.Errorf("%d distinct request ids", len(ids))
		}
	}
}

// B74: the older name of the length field is used until a server refuses it.
func TestB74LengthField(t *testing.T) {
	answer := func(s *stream, n int64) {
		for range n {
			s.token(time.Millisecond)
		}
		s.end(10, 0)
	}
	serverA := func(s *stream, b body) { // ignores the newer name
		n := int64(1024)
		if b.MaxTokens != nil {
			n = *b.MaxTokens
		}
		answer(s, n)
	}
	serverB := func(s *stream, b body) { // refuses the older one
		if b.MaxTokens != nil {
			s.fail(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
			return
		}
		answer(s, *b.MaxNewer)
	}
	for name, plan := range map[string]Plan{
		"default": {Load: Load{Concurrency: 2, Requests: 6}, Content: Content{OutputTokens: "128", Prompt: "x"}},
		"probe":   {Load: Load{Concurrency: 2, Requests: 6, Warmup: Warmup{Off: true}}, Content: Content{OutputTokens: "128", Prompt: "x"}, Conditions: Conditions{Preflight: "probe"}},
	} {
		for _, server := range []func(*stream, body){serverA, serverB} {
			f := &fake{chat: server}
			res := virtual(t, f, plan, nil)
			if res.err != nil || len(res.records) != 6 || res.run.Requests.Failed != 0 {
				t.Fatalf("%s: n = %d, %v, %+v", name, len(res.records), res.err, res.run)
			}
			for _, rec := range res.records {
				if rec.OutputTokens.Or(0) != 128 {
					t.Errorf("%s: %v output tokens", name, rec.OutputTokens)
				}
			}
			for _, b := range f.bodies {
				if b.MaxTokens != nil && b.MaxNewer != nil {
					t.Errorf("%s: both names were sent", name)
				}
			}
		}
	}
}

func TestRefusesField(t *testing.T) {
	for message, want := range map[string]bool{
		"Unsupported parameter: 'max_tokens'":                                     true,
		"max_tokens: Extra inputs are not permitted":                              true,
		"use max_completion_tokens instead of max_tokens":                         true,
		"max_tokens is too large: 99999. This model supports at most 4096 tokens": false,
		"max_tokens must be at least 1":                                           false,
		"unknown parameter: top_k":                                                false,
		"":                                                                        false,
	} {
		if got := api.RefusesMaxTokens(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

// B75: a server that counts five tokens a word, whatever is sent, is refused.
func TestB75TokensFarFromAsked(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Millisecond)
		s.end(5128, 0)
	}}
	plan := Plan{Load: Load{Concurrency: 1, Requests: 4, Warmup: Warmup{Requests: 4}}, Content: Content{InputTokens: "1000"}}
	res := virtual(t, f, plan, nil)
	var target *TargetError
	if !asError(res.err, &target) || !hasText(res.err.Error(), "--allow-isl-drift") || len(res.records) != 0 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
	plan.AllowISLDrift = true
	if res = virtual(t, f, plan, nil); res.err != nil || len(res.records) != 4 {
		t.Fatalf("%d records, %v", len(res.records), res.err)
	}
}

// A server whose tokenizer needs 1.5 tokens a word gets shorter prompts.
func TestPromptsAreFittedInWarmup(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Millisecond)
		s.end(wordsIn(b)*3/2, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 4}, Content: Content{InputTokens: "1000"}}, nil)
	if res.err != nil || len(res.warm) != 4+probes+1 {
		t.Fatalf("%d warm-up requests, %v", len(res.warm), res.err)
	}
	for _, rec := range res.records {
		if n := rec.InputTokens.Or(0); n < 999 || n > 1001 {
			t.Errorf("%d input tokens", n)
		}
	}
}

// A tokenizer that cuts one prompt into a tenth more tokens than the next is
// still fitted: a single prompt that misses is no reason to send all of them at
// three times their length.
func TestPromptsAreFittedThoughWordsDiffer(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Millisecond)
		factor := 3.3
		if s.n%2 == 0 {
			factor = 3.7
		}
		s.end(int(float64(wordsIn(b))*factor), 0)
	}}
	// The first of the checks is the fifth request, which misses by 6 %.
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 20}, Content: Content{InputTokens: "2000"}}, nil)
	if res.err != nil {
		t.Fatal(res.err)
	}
	mean := 0.0
	for _, rec := range res.records {
		mean += float64(rec.InputTokens.Or(0)) / float64(len(res.records))
	}
	if mean < 1900 || mean > 2100 {
		t.Errorf("%.0f input tokens in the mean, 2000 were asked", mean)
	}
}

// B76: what a chat template adds is measured, told, and left alone unless it is
// to be made up for. Two short prompts tell it from another tokenizer.
func TestB76ChatTemplate(t *testing.T) {
	f := &fake{chat: func(s *stream, b body) {
		s.token(time.Millisecond)
		s.end(wordsIn(b)+22, 0)
	}}
	for _, c := range []struct {
		compensate         bool
		warm               int
		user, server, says float64
	}{{false, 4 + probes, 128, 150, 22}, {true, 4 + probes + 1, 106, 128, 22}} {
		res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 4}, Content: Content{InputTokens: "128"}, Conditions: Conditions{CompensateTemplate: c.compensate}}, nil)
		if res.err != nil || len(res.warm) != c.warm || len(res.records) != 4 {
			t.Fatalf("%d and %d, %v", len(res.warm), len(res.records), res.err)
		}
		w := res.run.Workload
		near(t, "isl_user", w.UserInput.Or(0), c.user)
		near(t, "isl_server", res.run.Metrics["input_tokens"].Mean.Or(0), c.server)
		near(t, "template_overhead", w.TemplateOverhead.Or(0), c.says)
		if w.TemplateCompensated != c.compensate || warned(res.run, "isl_mismatch") {
			t.Errorf("%+v, %+v", w, res.run.Warnings)
		}
	}
}

// B77: no tokens at all is a mistake in the plan, found before anything is sent.
func TestB77NoInputTokens(t *testing.T) {
	f := &fake{chat: echo}
	res := virtual(t, f, Plan{Content: Content{InputTokens: "0"}}, nil)
	var usage *UsageError
	if !asError(res.err, &usage) || len(f.bodies) != 0 {
		t.Errorf("%d requests sent, %v", len(f.bodies), res.err)
	}
	res = virtual(t, f, Plan{Load: Load{Requests: 20}, Content: Content{InputTokens: "1"}}, nil)
	if res.err != nil || res.run.Requests.Failed != 0 {
		t.Fatal(res.err)
	}
	for _, b := range f.bodies {
		if b.Messages[0].Content == "" {
			t.Error("an empty prompt was sent")
		}
	}
}

// B107: an interruption keeps what was measured.
func TestB107Interrupted(t *testing.T) {
	var mu sync.Mutex
	done, stop := 0, func() {}
	f := &fake{chat: func(s *stream, b body) {
		echo(s, b)
		mu.Lock()
		defer mu.Unlock()
		if done++; done == 30 {
			time.AfterFunc(time.Millisecond, stop)
		}
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Requests: 100, Warmup: Warmup{Off: true}}},
		func(cancel func()) { stop = cancel })
	if res.err != ErrInterrupted || res.run == nil || !res.run.Partial {
		t.Fatalf("%v, %+v", res.err, res.run)
	}
	if res.run.Requests.OK != 30 || res.run.Requests.Failed != 0 {
		t.Errorf("%+v", res.run.Requests)
	}
	for _, rec := range res.records[30:] {
		if rec.Outcome != timeline.CancelledUser {
			t.Errorf("request %d: %s", rec.Request, rec.Outcome)
		}
	}
	if res.wall > 302*time.Millisecond {
		t.Errorf("stopped after %v", res.wall)
	}
}

// B111: a wrong key ends the run in its warm-up, with the server's words.
func TestB111EverythingFailed(t *testing.T) {
	wrong := func(s *stream, _ body) { s.fail(401, "Incorrect API key provided") }
	f := &fake{chat: wrong}
	res := virtual(t, f, Plan{Load: Load{Requests: 20, Concurrency: 1, Warmup: Warmup{Off: true}}}, nil)
	var target *TargetError
	if !asError(res.err, &target) || target.Class != timeline.HTTP4xx || !hasText(res.err.Error(), "Incorrect API key") {
		t.Fatalf("%v", res.err)
	}
	if res.run == nil || res.run.Requests.Failed != 20 || len(f.bodies) != 20 {
		t.Errorf("%d sent", len(f.bodies))
	}
	f = &fake{chat: wrong}
	res = virtual(t, f, Plan{Load: Load{Requests: 20}, Conditions: Conditions{KeepGoing: true}}, nil)
	if !asError(res.err, &target) || res.run.Requests.Failed != 20 || res.run.Requests.ByClass[timeline.HTTP4xx] != 20 {
		t.Errorf("told to go on: %v, %+v", res.err, res.run)
	}
	f = &fake{chat: wrong}
	res = virtual(t, f, Plan{Load: Load{Requests: 20}}, nil)
	if !asError(res.err, &target) || len(f.bodies) != 4 || !hasText(res.err.Error(), "warm-up") {
		t.Errorf("in the warm-up: %d sent, %v", len(f.bodies), res.err)
	}
}

// With a duration, requests in flight get the grace and are then cut off, which
// is no failure of theirs.
func TestGrace(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		if s.n < 3 {
			s.token(900 * time.Millisecond)
		} else {
			s.token(10 * time.Second)
		}
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 1, Duration: 2 * time.Second, Grace: 3 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 3 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	if res.wall != 2700*time.Millisecond {
		t.Errorf("wall %v", res.wall)
	}
	res = virtual(t, f, Plan{Load: Load{Concurrency: 1, Duration: 2 * time.Second, Grace: 3 * time.Second, Warmup: Warmup{Off: true}}}, nil)
	last := res.records[len(res.records)-1]
	if res.err != nil || last.Outcome != timeline.CancelledRunEnd || res.wall != 5*time.Second || res.run.Partial {
		t.Errorf("%v, %s after %v", res.err, last.Outcome, res.wall)
	}
	res = virtual(t, f, Plan{Load: Load{Concurrency: 1, Duration: 2 * time.Second, Grace: -1, Warmup: Warmup{Off: true}}}, nil)
	if res.wall != 2*time.Second {
		t.Errorf("without a grace: wall %v", res.wall)
	}
}

// Requests that were due but got no slot before the end are in the record.
func TestDueButNeverSent(t *testing.T) {
	f := &fake{chat: func(s *stream, _ body) {
		s.token(time.Second)
		s.end(10, 0)
	}}
	res := virtual(t, f, Plan{Load: Load{Rate: 10, Concurrency: 1, Duration: 2 * time.Second, Grace: 1500 * time.Millisecond, Warmup: Warmup{Off: true}}}, nil)
	if res.err != nil || len(res.records) != 20 {
		t.Fatalf("n = %d, %v", len(res.records), res.err)
	}
	byOutcome := map[timeline.Outcome]int{}
	for _, rec := range res.records {
		byOutcome[rec.Outcome]++
	}
	if byOutcome[timeline.OK] != 2 || byOutcome[timeline.CancelledRunEnd]+byOutcome[timeline.OK] != 20 {
		t.Errorf("%v", byOutcome)
	}
	// What is in flight as the time to send ends takes nothing of the grace.
	if res.wall != 2*time.Second {
		t.Errorf("wall %v", res.wall)
	}
}
