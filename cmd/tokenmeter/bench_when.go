package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
)

// whenField is a field of when, and the flag that says the same.
type whenField struct {
	name, flag string
	given      bool // in the workload
	typed      bool // the flag
}

// whenFields are all of them.
func (c *benchCmd) whenFields(w *workload.When) []whenField {
	return []whenField{
		{"rate", "--rate", w.Rate != 0, c.Rate != ""}, {"stages", "--stages", w.Stages != "", c.Stages != ""},
		{"closed", "--stages", w.Closed, c.Stages != ""}, {"trace", "--speedup", w.Trace != nil, c.Speedup != ""},
		{"concurrency", "--concurrency", w.Concurrency != 0, c.Concurrency != ""}, {"arrival", "--arrival", w.Arrival != "", c.Arrival != ""},
		{"burstiness", "--burstiness", w.Burstiness != 0, c.Burstiness != ""}, {"pace", "--pace", w.Pace != 0, c.Pace != ""},
		{"requests", "--requests", w.Requests != 0, c.Requests != ""}, {"duration", "--duration", w.Duration != 0, c.Duration != ""},
		{"warmup", "--warmup", w.Warmup != "", c.Warmup != ""}, {"ramp", "--ramp", w.Ramp != 0, c.Ramp != ""},
		{"cooldown", "--cooldown", w.Cooldown != 0, c.Cooldown != ""}, {"grace", "--grace", w.Grace != 0, c.Grace != ""},
		{"prefill_concurrency", "--prefill-concurrency", w.Prefills != 0, c.PrefillConcurrency != ""},
		{"max_failures", "--max-failures", w.Failures != 0, c.MaxFailures != ""}, {"until_precision", "--until-precision", w.Precise != 0, c.UntilPrecision != ""},
	}
}

// when takes the load from the workload where no flag says otherwise.
func (c *benchCmd) when(p *bench.Plan, l *workload.Loaded, check *checker) {
	w := &l.Spec.When
	loadGiven := p.Rate != 0 || p.Concurrency != 0 && c.Rate == "" || len(p.Stages) > 0 ||
		c.searchesRate && !byItsTimes(l) // a trace is refused there
	var aside []string // what the flags replace though none of them has its name
	if loadGiven {
		aside = c.besides(p, w)
	} else {
		c.load4(p, w, l, check)
	}
	if c.Speedup != "" && p.Trace == nil && !l.Waits() {
		check.addf("--speedup hurries the times of a file, and none are played: leave it out, or what sets the load aside of them (--rate, --stages, --concurrency)")
	}
	if p.Requests == 0 && p.Duration == 0 {
		p.Requests, p.Duration = w.Requests, w.Duration
	} else {
		aside = append(aside, "requests", "duration")
	}
	if c.Warmup == "" && w.Warmup != "" {
		p.Warmup = warmupOf("when.warmup", w.Warmup, check)
	}
	for _, d := range []struct {
		flag string
		from time.Duration
		into *time.Duration
	}{{c.Ramp, w.Ramp, &p.Ramp}, {c.Cooldown, w.Cooldown, &p.Cooldown}, {c.Grace, w.Grace, &p.Grace}} {
		if d.flag == "" {
			*d.into = d.from
		}
	}
	if c.PrefillConcurrency == "" {
		p.Prefills = w.Prefills
	}
	if c.MaxFailures == "" {
		p.MaxFailures = float64(w.Failures)
	}
	if c.UntilPrecision == "" {
		p.UntilPrecision = float64(w.Precise)
	}
	c.replaced(w, aside, check)
}

// besides takes what the workload says beside a load that flags give: how its arrivals or
// its users are, where the flags' are of that kind, and its cap. It returns the others.
func (c *benchCmd) besides(p *bench.Plan, w *workload.When) (aside []string) {
	aside = []string{"rate", "stages", "closed", "trace", "concurrency"}
	if open := c.searchesRate || p.Rate != 0 || len(p.Stages) > 0 && !p.StagesClosed; !open {
		if c.Pace == "" {
			p.Pace = w.Pace
		}
		return append(aside, "arrival", "burstiness")
	}
	if c.Arrival == "" {
		p.Arrival = w.Arrival
		if c.Burstiness == "" {
			p.Burstiness = w.Burstiness
		}
	}
	if w.Rate != 0 || w.Stages != "" && !w.Closed {
		p.Concurrency = cmp.Or(p.Concurrency, w.Concurrency)
		aside = aside[:4]
	}
	return append(aside, "pace")
}

// replaced refuses fields that --set writes where a flag goes before them, and keeps those
// of the workload for a note.
func (c *benchCmd) replaced(w *workload.When, aside []string, check *checker) {
	for _, f := range c.whenFields(w) {
		other := slices.Contains(aside, f.name)
		set := slices.ContainsFunc(c.Set, func(text string) bool {
			path, _, _ := strings.Cut(text, "=")
			path = strings.TrimSpace(path)
			return path == "when."+f.name || strings.HasPrefix(path, "when."+f.name+".")
		})
		switch {
		case f.given && set && (f.typed || other):
			check.addf("--set when.%s: the flags of the load go before it: give %s instead, or leave out those", f.name, f.flag)
		case f.given && other && !f.typed:
			c.aside = append(c.aside, "when."+f.name)
		}
	}
}

// load4 is the load that a workload asks for: its own, or its trace's.
func (c *benchCmd) load4(p *bench.Plan, w *workload.When, l *workload.Loaded, check *checker) {
	p.Rate = w.Rate
	if c.Pace == "" {
		p.Pace = w.Pace
	}
	p.Concurrency = cmp.Or(p.Concurrency, w.Concurrency)
	if w.Stages != "" {
		stages, err := schedule.ParseStages(w.Stages)
		if err != nil {
			check.addf("when.stages: %w", err)
		}
		p.Stages, p.StagesClosed = stages, w.Closed
	}
	if c.Arrival == "" {
		p.Arrival = w.Arrival
	}
	if c.Burstiness == "" {
		p.Burstiness = w.Burstiness
	}
	if !byItsTimes(l) {
		return
	}
	t := traceOf(l)
	t.Requests, t.Duration = 0, 0 // the plan has them, and flags go before them
	p.Trace = &t
	if c.Speedup != "" {
		p.Trace.Speed = check.number("--speedup", c.Speedup, "10")
	}
}

// traceOf is what a workload that is played by its times plays.
func traceOf(l *workload.Loaded) schedule.Trace {
	w := &l.Spec.When
	t := schedule.Trace{Times: l.Times, Requests: int64(w.Requests), Duration: w.Duration}
	if w.Trace != nil {
		t.Speed, t.From, t.To = w.Trace.Speed, w.Trace.From, w.Trace.To
	}
	return t
}
