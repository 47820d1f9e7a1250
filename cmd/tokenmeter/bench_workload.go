package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	opt := workload.Options{Seed: p.Seed, Salt: cmp.Or(c.Salt, newSalt()), TokenizerName: c.Tokenizer, OneModel: c.Model, Set: c.Set}
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
	if p.Tokenizer == nil {
		p.Tokenizer = loaded.Tokenizer
	}
	c.hurry(loaded, check)
	c.ofWorkload(&loaded.Spec, check)
	c.when(p, loaded, check)
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
		spec, opt.Dir = l.Spec, filepath.Dir(name)
	case spec.Input == "" && spec.File == "":
		spec.Input = "256"
	}
	opt.Tokenizer, opt.Checks = findTokenizer, true
	l, err := workload.FromSpec("--check", spec.WithChecks(seenFrom(opt.Dir, c.Check)), opt)
	if err != nil {
		check.add(prefixed("", err))
	}
	return l
}

// seenFrom is a file of the current folder as it is named beside those of another one.
func seenFrom(dir, file string) string {
	if rel, err := filepath.Rel(cmp.Or(dir, "."), file); err == nil {
		return rel
	}
	if abs, err := filepath.Abs(file); err == nil { // as where dir lies above, or is not named from here
		return abs
	}
	return file
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
