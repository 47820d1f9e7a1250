package metric

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// A closed loop of four streams for two minutes: ramp, plateau, drain.
func TestSteadyClosedLoop(t *testing.T) {
	c := NewCollector(CollectorOpts{Concurrency: 4})
	request := int64(0)
	for stream := range 4 {
		// Streams join a second apart; each reply is 10 s of 10 tokens/s.
		for due := float64(stream) * 1000; due < 120_000; due += 10_000.2 {
			c.Add(made{request: request, due: due, ttft: 100, gap: 100, events: 100}.timeline())
			request++
		}
	}
	th := c.Summary().Throughput
	if th.Steady == nil {
		t.Fatal("no steady window")
	}
	if th.Steady.FromS != 3 || math.Abs(th.Steady.ToS-120) > 1 {
		t.Errorf("steady from %v to %v", th.Steady.FromS, th.Steady.ToS)
	}
	if got := th.Steady.SystemOutputTPS.Or(0); math.Abs(got-40) > 0.2 {
		t.Errorf("steady %v tokens/s, want 40", got)
	}
	if got := th.SustainedTPS.Or(0); got != th.Steady.SystemOutputTPS.Or(0) {
		t.Errorf("sustained %v", got)
	}
	if got := th.Worst30sTPS.Or(0); math.Abs(got-40) > 0.5 {
		t.Errorf("worst half minute %v tokens/s", got)
	}
	if full := th.SystemOutputTPS.Or(0); full >= 40 {
		t.Errorf("the full window has %v tokens/s and holds ramp and drain", full)
	}
}

// An open loop is steady from its median load to the last arrival.
func TestSteadyOpenLoop(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true})
	for i := range 700 {
		// 10/s, each 5 s long: 50 in flight, 500 tokens/s.
		c.Add(made{request: int64(i), due: float64(i) * 100, ttft: 100, gap: 100, events: 50}.timeline())
	}
	s := c.Summary()
	th := s.Throughput
	if th.Steady == nil || th.Steady.FromS < 4 || th.Steady.FromS > 6 || math.Abs(th.Steady.ToS-69.9) > 0.02 {
		t.Fatalf("steady %+v", th.Steady)
	}
	if math.Abs(th.Steady.SystemOutputTPS.Or(0)-500) > 5 {
		t.Errorf("%v tokens/s, want 500", th.Steady.SystemOutputTPS)
	}
	is(t, "offered", th.OfferedPerS, 10)
	is(t, "achieved", th.AchievedPerS, 10)
	if warned(s, "rate_not_sustained") {
		t.Error("the rate was sustained")
	}
}

// A stall of the whole server shows in the worst half minute only.
func TestWorstHalfMinute(t *testing.T) {
	c := NewCollector(CollectorOpts{Concurrency: 1})
	for i := range 12 {
		gap := 100.0
		if i == 5 {
			gap = 300 // the tokens of 10 s in 30
		}
		due := float64(i) * 10_000
		if i > 5 {
			due += 20_000
		}
		c.Add(made{request: int64(i), due: due, ttft: gap, gap: gap, events: 100}.timeline())
	}
	th := c.Summary().Throughput
	is(t, "worst", th.Worst30sTPS, 100./30)
	is(t, "best second", th.Best1sTPS, 10)
}

// With the kernel's stamps the lag is charged only where arrivals coalesced.
func TestLagIsChargedWhereItHidArrivals(t *testing.T) {
	build := func(reads func(j int) int64) *Collector {
		c := NewCollector(CollectorOpts{})
		for i := range 20 {
			tl := made{request: int64(i)}.timeline()
			tl.Clock = timeline.Kernel
			for j := range 100 {
				tl.Events.Append(timeline.Event{AtUS: int64(j) * 20_000, LagUS: 5000, Kind: timeline.Text, Bytes: 4, Read: reads(j)})
			}
			tl.Usage.Output = timeline.Some(int64(100))
			c.Add(tl)
		}
		return c
	}
	alone := build(func(j int) int64 { return int64(j) })
	f := alone.Facts()
	is(t, "lag", f.LagP99MS, 5)
	is(t, "charged", f.ChargedLagP99MS, 0)
	is(t, "coalesced", f.CoalescedShare, 0)
	is(t, "median gap", f.MedianGapMS, 20)
	if _, has := alone.Summary().Metrics["client_lag_ms"]; !has {
		t.Error("client_lag_ms is missing")
	}

	pairs := build(func(j int) int64 { return int64(j / 2) }).Facts()
	is(t, "charged", pairs.ChargedLagP99MS, 5)
	is(t, "coalesced", pairs.CoalescedShare, 1)

	// Two of 100 events: the share is told, and both are charged.
	few := build(func(j int) int64 { return int64(max(j, 1)) }).Facts()
	is(t, "coalesced", few.CoalescedShare, 0.02)
	is(t, "charged", few.ChargedLagP99MS, 5)

	user := collect(CollectorOpts{}, made{request: 1, ttft: 10, gap: 10, events: 5})
	if _, has := user.Summary().Metrics["client_lag_ms"]; has {
		t.Error("client_lag_ms with the user clock")
	}
	null(t, "charged with the user clock", user.Facts().ChargedLagP99MS)
}

func TestCold(t *testing.T) {
	fresh := func(tl *timeline.Timeline) { tl.Reused = timeline.Some(false) }
	s := collect(CollectorOpts{},
		made{request: 1, due: 0, ttft: 900, events: 5, gap: 10, set: fresh},
		made{request: 2, due: 1000, ttft: 100, events: 5, gap: 10},
		made{request: 3, due: 1500, ttft: 300, events: 5, gap: 10, set: fresh},
		made{request: 4, due: 9000, ttft: 500, events: 5, gap: 10}).Summary()
	is(t, "first", s.Cold.FirstRequestTTFTMS, 900)
	is(t, "new connection", s.Cold.FirstOnNewConnectionTTFTMS, 300)
	is(t, "after idle", s.Cold.AfterIdleTTFTMS, 500)
}

func TestDecomposition(t *testing.T) {
	s := collect(CollectorOpts{},
		made{request: 1, ttft: 200, gap: 100, events: 9, set: func(tl *timeline.Timeline) {
			tl.SentUS = timeline.Some(int64(0))
			tl.Server = map[string]float64{"queue_ms": 50, "prefill_ms": 120, "decode_ms": 790}
		}},
		made{request: 2, ttft: 300, gap: 100, events: 13}).Summary()
	d := s.Decomposition
	is(t, "ttft share", d.TTFTShare, 500./2500)
	is(t, "decode share", d.DecodeShare, 2000./2500)
	is(t, "queue", d.QueueMS, 50)
	is(t, "prefill", d.PrefillMS, 120)
	is(t, "decode", d.DecodeMS, 790)
	is(t, "network", d.NetworkMS, 30)
}

func TestDriftBetweenHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	build := func(change float64) []Drift {
		c := NewCollector(CollectorOpts{Concurrency: 1})
		for i := range 200 {
			ttft := 100 + 5*rng.NormFloat64()
			if i >= 100 {
				ttft *= 1 + change
			}
			c.Add(made{request: int64(i), due: float64(i) * 1000, ttft: ttft, gap: 20, events: 10}.timeline())
		}
		return c.Facts().Drifts
	}
	if d := build(0.2)[0]; d.Metric != "ttft_ms" || !d.Beyond || math.Abs(d.Change-0.2) > 0.03 {
		t.Errorf("got %+v", d)
	}
	if d := build(0)[0]; d.Beyond {
		t.Errorf("got %+v", d)
	}
	if d := NewCollector(CollectorOpts{}).Facts().Drifts; d != nil {
		t.Errorf("got %+v", d)
	}
}

func TestWarnings(t *testing.T) {
	plain := func(n int, set func(i int, tl *timeline.Timeline)) *Collector {
		c := NewCollector(CollectorOpts{Concurrency: 2})
		for i := range n {
			c.Add(made{request: int64(i), due: float64(i) * 100, ttft: 50, gap: 10, events: 5,
				set: func(tl *timeline.Timeline) { set(i, tl) }}.timeline())
		}
		return c
	}
	for _, c := range []struct {
		name string
		set  func(i int, tl *timeline.Timeline)
	}{
		{"mixed_token_sources", func(i int, tl *timeline.Timeline) {
			if i%2 == 0 {
				tl.Usage.Output = timeline.Opt[int64]{}
			}
		}},
		{"estimated_tokens", func(i int, tl *timeline.Timeline) { tl.Usage.Output = timeline.Opt[int64]{} }},
		{"unknown_tokens", func(i int, tl *timeline.Timeline) {
			tl.Streamed, tl.Usage.Output = false, timeline.Opt[int64]{}
		}},
		{"inconsistent_counts", func(i int, tl *timeline.Timeline) {
			tl.Usage.Input, tl.Usage.Total = timeline.Some(int64(10)), timeline.Some(int64(14))
		}},
		{"connections_opened", func(i int, tl *timeline.Timeline) { tl.Reused = timeline.Some(false) }},
		{"connections_lost", func(i int, tl *timeline.Timeline) { tl.ConnRetries = i / 199; tl.Reused = timeline.Some(false) }},
		{"retries", func(i int, tl *timeline.Timeline) { tl.Attempts = 2 }},
		{"stream_ignored", func(i int, tl *timeline.Timeline) { tl.Streamed = false }},
		{"clock_step", func(i int, tl *timeline.Timeline) { tl.Flags |= timeline.ClockStep }},
		{"bursts", func(i int, tl *timeline.Timeline) {
			tl.Events.Reset()
			for range 5 {
				tl.Events.Append(timeline.Event{AtUS: 5000, Kind: timeline.Text, Bytes: 4})
			}
		}},
	} {
		clean := plain(200, func(int, *timeline.Timeline) {}).Summary()
		if warned(clean, c.name) {
			t.Errorf("%s is warned of without reason", c.name)
		}
		if s := plain(200, c.set).Summary(); !warned(s, c.name) {
			t.Errorf("no warning %s in %v", c.name, s.Warnings)
		}
	}
	// Users who leave, our own limits and bodies left open cost a connection each, by our doing.
	for i, end := range []func(*timeline.Timeline){
		func(tl *timeline.Timeline) { tl.Outcome = timeline.CancelledUser },
		func(tl *timeline.Timeline) { tl.Outcome = timeline.TimeoutIdle },
		func(tl *timeline.Timeline) { tl.Flags |= timeline.LeftOpen },
	} {
		s := plain(200, func(_ int, tl *timeline.Timeline) {
			tl.Reused = timeline.Some(false)
			end(tl)
		}).Summary()
		if warned(s, "connections_opened") {
			t.Errorf("%d: others are said to close what we closed", i)
		}
	}
	late := NewCollector(CollectorOpts{OpenLoop: true})
	for i := range 200 {
		late.Add(made{request: int64(i), due: float64(i) * 10, start: float64(i)*10 + 15, ttft: 50, events: 5, gap: 10}.timeline())
	}
	if s := late.Summary(); !warned(s, "client_limited") || warned(s, "rate_not_sustained") {
		t.Errorf("got %v", s.Warnings)
	}
}

// Times no run has must not take the memory or the time of one.
func TestAbsurdTimes(t *testing.T) {
	for _, due := range []int64{math.MaxInt64 / 4, -math.MaxInt64 / 4, 1 << 50} {
		c := collect(CollectorOpts{Concurrency: 1},
			made{request: 1, ttft: 10, gap: 10, events: 5},
			made{request: 2, ttft: 10, gap: 10, events: 5, set: func(tl *timeline.Timeline) { tl.DueUS, tl.StartUS = due, due }})
		c.Summary()
		c.Facts()
	}
}

// Only the first turns of conversations are the schedule's: the others come when the one
// before has ended, and must not hide that the first ones could not be sent.
func TestFurtherTurnsAreNotOffered(t *testing.T) {
	c := NewCollector(CollectorOpts{OpenLoop: true, OfferedPerS: timeline.Some(10.0)})
	for i := range 50 {
		for turn := range int64(4) {
			tl := made{request: int64(i)*4 + turn, due: float64(i)*200 + float64(turn)*100, ttft: 10, gap: 10, events: 5}.timeline()
			tl.Turn = timeline.Some(turn)
			c.Add(tl)
		}
	}
	f, s := c.Facts(), c.Summary()
	if got := f.AchievedOverOffered.Or(0); math.Abs(got-0.5) > 1e-9 || !f.Conversations {
		t.Errorf("5 of 10 conversations a second were begun: %v", got)
	}
	if !warned(s, "rate_not_sustained") || !strings.Contains(f.RateKept(), "5 conversations or tasks/s were begun of 10/s due") {
		t.Errorf("%s", f.RateKept())
	}
}

// A folder may say any time: the search for a long enough stretch comes to an end.
func TestPooledStretchesOfAnyTime(t *testing.T) {
	var p pooled
	for _, due := range []int64{math.MinInt64, -1, 0, 1 << 40, 1 << 62, math.MaxInt64} {
		p.at(due).AddOne(1)
	}
	if whole, _ := frozen(&p); whole.Len() != 6 {
		t.Errorf("%d of 6 values", whole.Len())
	}
}

// A server that is asked for two answers sends a token of each in every step: they come
// together because they were made together, and each is as long as was asked.
func TestChoicesOfOneStepHideNothingOfEachOther(t *testing.T) {
	build := func(together int) *Collector {
		c := NewCollector(CollectorOpts{})
		for i := range 20 {
			tl := made{request: int64(i)}.timeline()
			tl.Clock, tl.Requested = timeline.Kernel, timeline.Some(int64(100))
			for j := range 200 {
				step := j / 2 / together * together
				tl.Events.Append(timeline.Event{AtUS: int64(step) * 20_000, LagUS: 5000, Kind: timeline.Text, Choice: j % 2, Bytes: 4, Read: int64(step)})
			}
			tl.Usage.Output = timeline.Some(int64(200))
			c.Add(tl)
		}
		return c
	}
	c := build(1)
	f, s := c.Facts(), c.Summary()
	is(t, "coalesced", f.CoalescedShare, 0)
	is(t, "charged", f.ChargedLagP99MS, 0)
	is(t, "median gap", f.MedianGapMS, 20)
	is(t, "shortfall", f.OSLShortfall, 0)
	if warned(s, "osl_mismatch") || s.Requests.ITLLeftOut["several_choices"] != 20 {
		t.Errorf("warnings %v, left out %v", s.Warnings, s.Requests.ITLLeftOut)
	}
	// Two tokens of the same answer in one read are another matter.
	f = build(2).Facts()
	is(t, "coalesced", f.CoalescedShare, 1)
	is(t, "charged", f.ChargedLagP99MS, 5)

	half := NewCollector(CollectorOpts{})
	for i := range 20 {
		tl := made{request: int64(i)}.timeline()
		tl.Streamed, tl.Requested, tl.Usage.Output = false, timeline.Some(int64(100)), timeline.Some(int64(100))
		for j := range 2 {
			tl.Events.Append(timeline.Event{AtUS: 20_000, Kind: timeline.Text, Choice: j, Bytes: 200})
		}
		half.Add(tl)
	}
	is(t, "shortfall of whole replies", half.Facts().OSLShortfall, 0.5)
}
