package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/load/workload"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// manifest describes the run as it is known before its end.
func (r *runner) manifest(ready found) run.Run {
	p := r.plan
	red := redactor(p)
	info := r.work.Info()
	m := run.Run{
		ID: r.id, Name: p.Name, Tags: p.Tags, Version: p.Version, Seed: p.Seed,
		Started: r.clk.Wall(), Command: red.Args(p.Command), MonotonicZeroNS: r.clk.MonotonicZeroNS,
		Environment: run.Environment(r.environment()),
		Target: run.Target{URL: red.URL(p.Client.BaseURL), API: p.Client.API.Name,
			Model: ready.model, Server: red.String(ready.server)},
		Load: p.load(),
		Workload: run.Workload{Kind: info.Kind, Source: info.Source, Salt: info.Salt,
			InputTokens: info.InputTokens, OutputTokens: info.OutputTokens,
			Batch: info.Batch, PromptsUnique: info.UniquePrompts, PromptsMade: info.Made, OutputIsCap: !p.IgnoreEOS,
			Name: info.Name, Classes: info.Classes, SegmentS: info.SegmentS, TaskDeadlineS: seconds(info.Deadline), Readers: p.Readers,
			NoStream: timeline.Some(p.NoStream && !p.product().Wordless() && p.product() != timeline.Speech), Parameters: red.String(p.parameters()), Users: cmp.Or(info.Users, "none")},
		Pricing:   p.Pricing,
		Hardware:  p.Hardware,
		RTT:       r.rtt(),
		AllowLowN: p.AllowLowN, AllowISLDrift: p.AllowISLDrift, Noticed: r.log.warnings(),
	}
	if p.product().Lengthless() {
		m.Workload.OutputTokens = "" // of made prompts there is a default
	}
	if p.Tokenizer != nil {
		name := p.Tokenizer.Name()
		m.Tokenizer = &name
	}
	for _, o := range p.Objectives {
		m.Objectives = append(m.Objectives, o.Text)
	}
	return m
}

// parameters are the further fields of each request as one text, the same for the same fields.
func (p *Plan) parameters() string {
	if len(p.Extra) == 0 {
		return ""
	}
	text, err := json.Marshal(p.Extra)
	if err != nil { // no value that JSON has is one
		return ""
	}
	return string(text)
}

// rtt is what was asked for, with what connecting ahead of the requests took.
func (r *runner) rtt() *metric.RTT {
	if r.plan.RTT == nil {
		return nil
	}
	asked := *r.plan.RTT
	asked.ConnectMS = r.connectMS
	return &asked
}

// environment is read once: it describes the start.
func (r *runner) environment() machine.Environment {
	if r.env == nil {
		e := machine.This().Environment()
		r.env = &e
	}
	return *r.env
}

// load is when requests are sent. The plan is settled.
func (p *Plan) load() run.Load {
	l := run.Load{Kind: "closed", Arrival: "closed", Workers: p.Workers, Warmup: "0", NoKeepAlive: p.Client.NoKeepAlive, PerSession: p.Client.PerSession,
		Retries: timeline.Some(int64(p.Client.Retries)), RetryBudget: timeline.Some(p.Client.RetryBudget)}
	if p.open() {
		l.Kind, l.Arrival = "open", p.Arrival
		switch {
		case p.Trace != nil:
			l.Arrival = "trace"
			l.Speed = timeline.Some(max(cmp.Or(p.Trace.Speed, 1), 0))
			l.FromS, l.ToS = seconds(p.Trace.From), seconds(p.Trace.To)
		case len(p.Stages) == 0:
			l.RatePerS = timeline.Some(p.Rate)
		}
	}
	if l.Arrival == "gamma" {
		l.Burstiness = timeline.Some(cmp.Or(p.Burstiness, 1))
	}
	if len(p.Stages) > 0 {
		l.Stages = p.Stages.String()
	}
	l.RampS, l.CooldownS, l.DurationS, l.PaceS = seconds(p.Ramp), seconds(p.Cooldown), seconds(p.Duration), seconds(p.Pace)
	if p.Prefills > 0 {
		l.PrefillConcurrency = timeline.Some(int64(p.Prefills))
	}
	if p.Concurrency > 0 {
		l.Concurrency = timeline.Some(int64(p.Concurrency))
	}
	if p.Requests > 0 {
		l.Requests = timeline.Some(int64(p.Requests))
	}
	switch {
	case p.Warmup.Duration > 0:
		l.Warmup = p.Warmup.Duration.String()
	case p.Warmup.Requests > 0:
		l.Warmup = strconv.Itoa(p.Warmup.Requests)
	}
	return l
}

func seconds(d time.Duration) timeline.Opt[float64] {
	if d <= 0 {
		return timeline.Opt[float64]{}
	}
	return timeline.Some(d.Seconds())
}

// complete adds what is only known at the end.
func (r *runner) complete(m *run.Run, facts *machineFacts, cause error) {
	now := time.Now().UTC().Round(0)
	m.Finished = &now
	m.Partial = cause != nil
	c := r.rec.of(timeline.Measure)
	if limit := (*failuresError)(nil); errors.As(cause, &limit) {
		r.log.notice("max_failures", timeline.Some(float64(limit.failed)/float64(limit.of)), "The run was ended early: %v.", limit)
	}
	facts.usage().Client(&m.Client)
	if share := m.Client.Throttled.Or(0); share > throttledMuch {
		r.log.notice("client_limited", timeline.Some(share),
			"The CPU quota stopped the client %.1f %% of the time, in %d periods. Raise the quota, or lower GOMAXPROCS to it.",
			100*share, m.Client.ThrottledPeriods.Or(0))
	}
	if l, ok := r.work.(interface{ LeftOut() string }); ok && l.LeftOut() != "" {
		r.log.notice("records_left_out", timeline.Opt[float64]{}, "Of the file as far as it was read %s.", l.LeftOut())
	}
	r.tellModels()
	if n := r.endless.Load(); n > 0 {
		r.log.notice("no_length", timeline.Some(float64(n)),
			"%s asked for no length and so could end by themselves: without a length an answer that ignores its end goes on to the end of the context. Give output tokens.",
			metric.Plural(n, "request"))
	}
	if p := r.plan; p.CompensateTemplate && !r.lengths.overhead.OK() {
		r.log.notice("template_unmeasured", timeline.Opt[float64]{},
			"What the server's chat template adds was not measured, for there was no warm-up or the server did not count two short prompts: no prompt was made shorter.")
	}
	m.Client.ConnectionsOpened = r.rec.opened.Load()
	m.Client.MaxInFlight = r.rec.maxInFlight.Load()
	if c, ok := r.do.(*client.Client); ok {
		if n := c.Stats().Streams; n > 0 {
			m.Client.Streams = timeline.Some(n)
		}
	}
	if rate, ok := r.offered(); ok {
		m.Client.OfferedPerS = timeline.Some(rate)
	}
	m.Workload.UniquePrompts = timeline.Some(r.unique())
	if c.askedN > 0 && c.askedN == c.ok { // else it is the mean of other requests than the server counted
		asked := float64(c.asked) / float64(c.askedN)
		m.Workload.AskedInput = timeline.Some(asked)
		if overhead, ok := r.lengths.overhead.Get(); ok {
			m.Workload.UserInput = timeline.Some(asked - r.lengths.compensated)
			m.Workload.TemplateOverhead = timeline.Some(overhead)
			m.Workload.TemplateCompensated = r.lengths.compensated > 0
		}
	}
}

// unique is how many different prompts were sent. Requests of one item are never
// alike: each goes on where the one before ended.
func (r *runner) unique() int64 {
	c := r.rec.of(timeline.Measure)
	if w, ok := r.work.(workload.Repeating); ok && w.Several() {
		all := c.done + r.rec.of(timeline.Warmup).done + r.rec.of(timeline.Cooldown).done
		return max(all-r.rec.repeats(), 1)
	}
	if n := r.rec.of(timeline.Warmup).done + r.rec.of(timeline.Cooldown).done - r.warm.Load(); r.plan.open() && n > 0 {
		return r.work.Unique(r.warm.Load(), c.done+n) // its ramp and cooldown go on in the load's own items
	}
	return r.work.Unique(r.warm.Load(), c.done)
}

// throttledMuch is the share of time from which on a quota is worth a warning.
const throttledMuch = 0.02

// offered is the rate that the schedule really asked for. A random one may
// differ from its mean. It is counted as the rate that was sent is, by the gaps
// between requests: else a client that sent each in time would seem to have
// sent one too few.
func (r *runner) offered() (float64, bool) {
	p := r.plan
	if !p.open() {
		return 0, false
	}
	r.offer.mu.Lock()
	n, first, last := r.offer.n, r.offer.first, r.offer.last
	r.offer.mu.Unlock()
	steady := p.Trace == nil && len(p.Stages) == 0
	if steady && p.Arrival == "constant" || n < 2 || last <= first {
		return p.Rate, p.Rate > 0
	}
	return float64(n-1) / (float64(last-first) / 1e6), true
}
