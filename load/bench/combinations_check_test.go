package bench

import (
	"cmp"
	"reflect"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// check holds what was told against the server's log.
func (c *combination) check(res *result, trusts map[string]bool, fail func(string, ...any)) {
	p, srv, told := &c.plan, c.srv, res.run
	p.settle()
	visits := map[string][]*visit{}
	begins := time.Time{} // the last one
	prompts := map[string]bool{}
	for _, v := range srv.log {
		visits[v.id] = append(visits[v.id], v)
		prompts[v.prompt] = true
		if v.beginAt.After(begins) {
			begins = v.beginAt
		}
	}
	q := &told.Requests
	seen := map[timeline.Phase]int64{}
	lost := map[timeline.Phase]int64{} // begun, and cut before the server saw them
	tries, unanswered, atOnce, begun := int64(0), int64(0), int64(0), int64(0)
	known := map[string]bool{}
	ourCuts := false
	for _, records := range [][]metric.Record{res.records, res.warm} {
		for i := range records {
			rec := &records[i]
			known[rec.ID] = true
			vs := visits[rec.ID]
			switch {
			case len(vs) > 0:
				seen[rec.Phase]++
			case rec.Attempts > 0:
				lost[rec.Phase]++
			}
			if attempts := rec.Attempts + rec.ConnRetries; len(vs) > 0 && attempts > len(vs) {
				lost[rec.Phase]++ // its last try, by the same check as below
			}
			last := &visit{}
			if len(vs) > 0 {
				last = vs[len(vs)-1]
			}
			if rec.Outcome.Cancelled() || strings.HasPrefix(string(rec.Outcome), "timeout") {
				ourCuts = true
			}
			attempts := rec.Attempts + rec.ConnRetries
			// What ends before the server saw the last try: a cancelled one, and one whose time is
			// up at the instant at which the try before was dropped.
			unseen := rec.Outcome.Cancelled() || rec.ConnRetries > 0 && strings.HasPrefix(string(rec.Outcome), "timeout")
			if n := len(vs); attempts != n && !(unseen && attempts == n+1) {
				fail("request %d (%s, %s): %d attempts told, the server saw %d", rec.Request, rec.Phase, rec.Outcome, attempts, n)
			}
			if len(vs) > 0 && (last.model != told.Target.Model || last.asked != rec.RequestedTokens.Or(-1)) {
				fail("request %d: %v tokens of %s told, the server was asked for %d of %s", rec.Request, rec.RequestedTokens, told.Target.Model, last.asked, last.model)
			}
			if rec.Phase == timeline.Measure {
				tries += int64(len(vs) - rec.ConnRetries)
				if rec.Outcome == timeline.CancelledRunEnd && rec.Attempts > 0 {
					switch {
					case len(vs) == 0:
						atOnce++
					case !last.first:
						unanswered++
					case last.firstAt.Equal(last.endAt): // at the very end
						atOnce++
					}
				}
				if rec.Turn.Or(0) == 0 && rec.Step.Or(0) == 0 && len(vs) > 0 {
					begun++
				}
			}
			ok := false
			switch rec.Outcome {
			case timeline.OK:
				ok = last.whole
			case timeline.HTTP429:
				ok = last.end == "429"
			case timeline.HTTP5xx:
				ok = last.end == "503"
			case timeline.ConnReset, timeline.StreamTruncated:
				ok = last.end == "dropped"
			case timeline.TimeoutTTFT:
				ok = p.Client.TTFTTimeout > 0 && (!last.first || last.firstAt.Equal(last.endAt))
			case timeline.TimeoutIdle:
				ok = p.Client.IdleTimeout > 0
			case timeline.TimeoutTotal:
				ok = true
			case timeline.CancelledRunEnd:
				// A drop at the very instant of the end may be seen as either, and what waits to be tried again is cut.
				ok = last.end != "dropped" || !last.endAt.Before(begins) || p.Client.Retries > 0
			}
			if !ok {
				fail("request %d (%s) is %s (%v), the server's end %q", rec.Request, rec.Phase, rec.Outcome, rec.Error, last.end)
			}
		}
	}
	for id := range visits {
		if !known[id] {
			fail("request %s has no record", id)
		}
	}
	sent := q.Total - q.Unsent()
	near := func(told, saw, lost int64) bool { return told >= saw && told <= saw+lost }
	if !near(sent, seen[timeline.Measure], lost[timeline.Measure]) || !near(q.Warmup, seen[timeline.Warmup], lost[timeline.Warmup]) ||
		!near(q.Cooldown, seen[timeline.Cooldown], lost[timeline.Cooldown]) || !near(q.Attempts, tries, lost[timeline.Measure]) {
		fail("told: sent %d, warm-up %d, cooldown %d, attempts %d; the server saw %v in %d tries", sent, q.Warmup, q.Cooldown, q.Attempts, seen, tries)
	}
	if q.OK+q.Failed+q.Excluded["cancelled_run_end"]+q.Excluded["never_sent"] != q.Total {
		fail("the parts are not the whole: %+v", *q)
	}
	if q.Unanswered < unanswered || q.Unanswered > unanswered+atOnce {
		fail("%d unanswered, the server says %d", q.Unanswered, unanswered)
	}
	if reuse := len(prompts) < len(visits); reuse != warned(told, "prompt_reuse") {
		fail("%d different prompts in %d requests, told %d", len(prompts), len(visits), told.Workload.UniquePrompts.Or(-1))
	}
	stopped := res.err != nil
	words := ""
	for _, w := range told.Warnings {
		words += w.Says + "\n"
		switch w.Name {
		case "client_limited":
			fail("client_limited: %s", w.Says)
		case "connections_opened":
			dropped := false
			for _, v := range srv.log {
				dropped = dropped || v.end == "dropped"
			}
			if !dropped {
				fail("%s", w.Says)
			}
		case "rate_not_sustained":
			if !stopped && !strings.Contains(w.Says, "held back by the cap") {
				fail("%s", w.Says)
			}
		}
	}
	for _, k := range told.Validity.Checks {
		if k.Verdict == "valid" || k.Verdict == "unknown" {
			continue
		}
		switch k.Name {
		case "send_late", "client_errors":
			fail("%s %s: %s", k.Name, k.Verdict, k.Says)
		case "achieved_over_offered":
			if !stopped && (p.Concurrency == 0 && p.Prefills == 0 || strings.Contains(k.Says, "--workers")) {
				fail("%s %s: %s", k.Name, k.Verdict, k.Says)
			}
		case "drift", "isl_error", "osl_shortfall", "errors":
			if q.Total > 0 && srv.room == 0 && len(srv.faults) == 0 && !ourCuts && p.Prefills == 0 && p.Concurrency == 0 && k.Name != "isl_error" && (k.Name != "osl_shortfall" || c.content == "made") {
				fail("a healthy server: %s %s: %s", k.Name, k.Verdict, k.Says)
			}
		}
	}
	for trust := range trusts {
		if strings.HasSuffix(trust, "send_late") {
			fail("while running: %s", trust)
		}
	}
	c.told(&told.Load, p, fail)
	// What was asked for came to be, or the run says so.
	if p.open() && p.Trace == nil && c.single && !stopped {
		planned := p.openLoop().Planned()
		if off := q.Total - planned; p.Arrival == "constant" && (off != 0 && p.Ramp == 0 || off*off > 1) {
			fail("%d requests were due, want %d", q.Total, planned)
		}
		if begun < planned*9/10 && p.Arrival == "constant" && planned > 10 && told.Validity.Verdict == "valid" {
			fail("valid with %d of %d sent", begun, planned)
		}
		if p.Rate > 0 && p.Arrival == "constant" && told.Client.OfferedPerS.Or(0) != p.Rate {
			fail("offered %v of %v", told.Client.OfferedPerS, p.Rate)
		}
	}
	if p.Requests > 0 && p.Duration == 0 && len(p.Stages) == 0 && !stopped && p.Trace == nil && c.single && q.Total != int64(p.Requests) {
		fail("%d requests, want %d", q.Total, p.Requests)
	}
	if p.Prefills > 0 && srv.mostWait > p.Prefills && !ourCuts {
		fail("%d waited for a first token, the cap is %d", srv.mostWait, p.Prefills)
	}
	if p.Concurrency > 0 && srv.most > p.Concurrency && !ourCuts && (p.open() || c.content != "task") {
		fail("%d in flight, want at most %d", srv.most, p.Concurrency)
	}
	if !p.open() && !stopped && p.Prefills == 0 && p.Ramp == 0 && p.Pace == 0 && len(p.Stages) == 0 && p.Requests > 0 && p.Duration == 0 &&
		!warned(told, "too_few_requests") && told.Client.MaxInFlight < int64(p.Concurrency) {
		fail("%d in flight, want %d", told.Client.MaxInFlight, p.Concurrency)
	}
}

// told holds what is told of the load against what was asked for.
func (c *combination) told(l *run.Load, p *Plan, fail func(string, ...any)) {
	asked := func(is bool, x float64) timeline.Opt[float64] { return timeline.Maybe(x, is) }
	rates := p.open() && p.Trace == nil
	want := run.Load{Kind: map[bool]string{true: "open", false: "closed"}[p.open()], Arrival: "closed",
		Concurrency: timeline.Maybe(int64(p.Concurrency), p.Concurrency > 0), Requests: timeline.Maybe(int64(p.Requests), p.Requests > 0),
		RatePerS: asked(rates && len(p.Stages) == 0, p.Rate), DurationS: asked(p.Duration > 0, p.Duration.Seconds()),
		RampS: asked(p.Ramp > 0, p.Ramp.Seconds()), CooldownS: asked(p.Cooldown > 0, p.Cooldown.Seconds()), PaceS: asked(p.Pace > 0, p.Pace.Seconds()),
		PrefillConcurrency: timeline.Maybe(int64(p.Prefills), p.Prefills > 0), Workers: p.Workers, NoKeepAlive: p.Client.NoKeepAlive, Warmup: l.Warmup,
		Retries: timeline.Some(int64(p.Client.Retries)), RetryBudget: timeline.Some(p.Client.RetryBudget)}
	switch {
	case p.Trace != nil:
		want.Arrival, want.Speed = "trace", timeline.Some(p.Trace.Speed)
	case rates:
		want.Arrival = p.Arrival
	}
	want.Burstiness = asked(want.Arrival == "gamma", cmp.Or(p.Burstiness, 1))
	if len(p.Stages) > 0 {
		want.Stages = p.Stages.String()
	}
	if !reflect.DeepEqual(*l, want) {
		fail("the load is told as %+v, want %+v", *l, want)
	}
}
