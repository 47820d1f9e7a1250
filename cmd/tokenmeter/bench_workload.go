package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/schedule"
	"tokenmeter/load/workload"
	"tokenmeter/record/objective"
	"tokenmeter/wire/tokens"
)

// findTokenizer is how workloads find tokenizers.
func findTokenizer(name string) (workload.Tokenizer, error) { return tokens.ByName(name) }

// loadWorkload reads a workload file, a data file, or a workload that the
// program knows by name.
func loadWorkload(name string, opt workload.Options) (*workload.Loaded, error) {
	opt.Tokenizer = findTokenizer
	if s, ok := workload.FindScenario(name); ok {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return workload.FromSpec(name, s.Workload, opt)
		}
	}
	l, err := workload.Load(name, opt)
	if errors.Is(err, fs.ErrNotExist) || err != nil && strings.HasSuffix(err.Error(), "no such file or directory") && !strings.ContainsAny(name, "./\\") {
		return nil, errors.New(name + ": there is no such file, and no workload of this name; known are " + strings.Join(workload.ScenarioNames(), ", "))
	}
	return l, err
}

// workload applies --workload, --scenario, --check and the tokenizers.
func (c *benchCmd) workload(p *bench.Plan, check *checker) {
	c.tokenizers(p, check)
	p.CompensateTemplate = c.CompensateTemplate
	p.Salt = c.Salt
	p.Readers = c.readers(check)
	opt := workload.Options{Seed: p.Seed, Salt: cmp.Or(c.Salt, newSalt()), TokenizerName: c.Tokenizer, OneModel: c.Model != "", Set: c.Set}
	name := c.Workload
	if c.Scenario != "" {
		s, ok := workload.FindScenario(c.Scenario)
		switch {
		case c.Workload != "":
			check.addf("--scenario brings a workload of its own: leave out --workload, or --scenario")
			return
		case !ok:
			check.addf("--scenario %q: choose one of %s", c.Scenario, strings.Join(workload.ScenarioNames(), ", "))
			return
		}
		name = c.Scenario
		if len(p.Readers) == 0 {
			p.Readers = s.Readers
		}
		if len(c.Objective) == 0 {
			c.promises(p, s, check)
		}
	}
	if name == "" && len(c.Set) > 0 {
		check.addf("--set replaces a field of a workload: add --workload or --scenario")
	}
	if name == "" && c.Check == "" {
		return
	}
	loaded := c.loaded(name, opt, check)
	if loaded == nil {
		return
	}
	p.Workload, p.ReadsAnswers = loaded, loaded.ReadsAnswers()
	c.hurry(loaded, check)
	c.ofWorkload(&loaded.Spec, check)
	c.when(p, loaded, check)
}

// tellWorkload says what should be known of how the workload's files are read.
func tellWorkload(a *app, p *bench.Plan) {
	if l, ok := p.Workload.(interface{ Remarks() []string }); ok {
		for _, text := range l.Remarks() {
			a.note("%s", text)
		}
	}
}

// hurry plays recorded gaps faster; a trace's own times are hurried with them.
func (c *benchCmd) hurry(l *workload.Loaded, check *checker) {
	if t := l.Spec.When.Trace; t != nil {
		l.Speed(t.Speed)
	}
	if c.Speedup != "" {
		l.Speed(check.number("--speedup", c.Speedup, "10"))
	}
}

// readers are the reading speeds of --consume.
func (c *benchCmd) readers(check *checker) (tps []float64) {
	if c.Consume == "" {
		return nil
	}
	for _, text := range strings.Split(c.Consume, ",") {
		if x := check.number("--consume", strings.TrimSpace(text), "10"); x > 0 {
			tps = append(tps, x)
		}
	}
	return tps
}

// promises are the objectives of a scenario.
func (c *benchCmd) promises(p *bench.Plan, s workload.Scenario, check *checker) {
	objectives, err := objective.ParseAll(s.Objectives)
	if err != nil {
		check.add(err)
	}
	p.Objectives = objectives
}

// loaded reads what is to be sent, with the requests whose answers are known.
func (c *benchCmd) loaded(name string, opt workload.Options, check *checker) *workload.Loaded {
	for flag, text := range map[string]string{"--prompt": c.Prompt, "--prompts": c.Prompts, "--input-tokens": c.InputTokens, "--batch": c.Batch, "--output-tokens": c.OutputTokens,
		"--images": c.Images, "--video": c.Video} {
		if text != "" && name != "" {
			check.addf("%s says what is sent, and so does --workload (or --scenario): leave one of them out", flag)
			return nil
		}
	}
	if c.Check == "" {
		l, err := loadWorkload(name, opt)
		if err != nil {
			check.add(prefixed("--workload ", err))
		}
		return l
	}
	spec := workload.Spec{Content: c.contentOf(check)}
	switch {
	case c.Prompt != "":
		check.addf("--check goes with made prompts, --prompts and --workload, not with one --prompt")
		return nil
	case name != "":
		l, err := loadWorkload(name, opt)
		if err != nil {
			check.add(prefixed("--workload ", err))
			return nil
		}
		l.Close()
		if byItsTimes(l) && c.Rate+c.Stages+c.Concurrency == "" {
			check.addf("--check: a file that is played by its times takes no other requests in between: give --rate, --stages or --concurrency, or leave out one of the two files")
			return nil
		}
		spec = l.Spec.Beside(name)
	case spec.Input == "" && spec.File == "":
		spec.Input = "256"
	}
	opt.Tokenizer = findTokenizer
	l, err := workload.FromSpec("--check", spec.WithChecks(c.Check), opt)
	if err != nil {
		check.add(prefixed("", err))
	}
	return l
}

// prefixed puts a flag in front of each line of an error.
func prefixed(flag string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = flag + lines[i]
	}
	return errors.New(strings.Join(lines, "\n"))
}

func (c *benchCmd) tokenizers(p *bench.Plan, check *checker) {
	for _, t := range []struct {
		flag, name string
		into       *workload.Tokenizer
	}{{"--tokenizer", c.Tokenizer, &p.Tokenizer}, {"--norm-tokenizer", c.NormTokenizer, &p.Norm}} {
		if t.name == "" {
			continue
		}
		found, err := tokens.ByName(t.name)
		if err != nil {
			check.addf("%s: %w", t.flag, err)
			continue
		}
		*t.into = found
	}
}

// when takes the load from the workload where no flag says otherwise.
func (c *benchCmd) when(p *bench.Plan, l *workload.Loaded, check *checker) {
	w := &l.Spec.When
	loadGiven := p.Rate != 0 || p.Concurrency != 0 && c.Rate == "" || len(p.Stages) > 0
	if !loadGiven {
		c.load4(p, w, l, check)
	}
	if c.Speedup != "" && p.Trace == nil && !l.Waits() {
		check.addf("--speedup hurries the times of a file, and none are played: leave it out, or what sets the load aside of them (--rate, --stages, --concurrency)")
	}
	if p.Requests == 0 && p.Duration == 0 {
		p.Requests, p.Duration = w.Requests, w.Duration
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
	p.Trace = &schedule.Trace{Times: l.Times}
	if t := w.Trace; t != nil {
		p.Trace.Speed, p.Trace.From, p.Trace.To = t.Speed, t.From, t.To
	}
	if c.Speedup != "" {
		p.Trace.Speed = check.number("--speedup", c.Speedup, "10")
	}
}

// byItsTimes reports whether a workload's own times are played, where no flag says otherwise.
func byItsTimes(l *workload.Loaded) bool {
	w := &l.Spec.When
	return l.Timed && (w.Trace != nil || w.Rate == 0 && w.Stages == "" && w.Concurrency == 0)
}

func warmupOf(flag, text string, check *checker) (w bench.Warmup) {
	switch n, err := strconv.Atoi(text); {
	case err == nil && n == 0:
		w.Off = true
	case err == nil && n > 0:
		w.Requests = n
	case err == nil:
		check.addf("%s %d: give 0 or more", flag, n)
	default:
		if _, err := time.ParseDuration(text); err != nil && !isNumber(text) {
			check.addf("%s %q: give a number or a time, like 4 or 30s", flag, text)
			return w
		}
		d, given := check.duration(flag, text, 0)
		w.Duration, w.Off = d, given && d == 0
	}
	return w
}

func newSalt() string { return fmt.Sprintf("%016x", rand.Uint64()) }

// stages reads --stages and what else changes the load over time.
func (c *benchCmd) stages(p *bench.Plan, check *checker) {
	if c.Stages != "" {
		text, closed := strings.CutSuffix(c.Stages, " streams")
		stages, err := schedule.ParseStages(text)
		if err != nil {
			check.addf("--stages: %w", err)
		}
		p.Stages, p.StagesClosed = stages, closed
		if c.Rate != "" {
			check.addf("--rate and --stages exclude each other")
		}
		if closed && c.Concurrency != "" {
			check.addf("--stages of streams and --concurrency exclude each other")
		}
	}
	p.Ramp, _ = check.duration("--ramp", c.Ramp, 0)
	if p.Pace, _ = check.duration("--pace", c.Pace, 0); p.Pace > 0 && c.Rate != "" {
		check.addf("--pace is of users in a closed loop: leave out --rate")
	}
	p.Cooldown, _ = check.duration("--cooldown", c.Cooldown, 0)
	p.Prefills = check.count("--prefill-concurrency", c.PrefillConcurrency, 1)
	p.MaxFailures = check.share("--max-failures", c.MaxFailures)
	if c.Speedup != "" && c.Workload == "" && c.Scenario == "" {
		check.addf("--speedup is for a trace: give one with --workload")
	}
	if c.CompensateTemplate && slices.ContainsFunc([]string{c.Prompt, c.Prompts}, func(s string) bool { return s != "" }) {
		check.addf("--compensate-template is for made prompts")
	}
}
