//go:build !lean

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/base/spelling"
	"tokenmeter/load/bench"
	"tokenmeter/load/probe"
	"tokenmeter/reader/trend"
	"tokenmeter/record/exit"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/tokens"
)

type probeCmd struct {
	targetFlags `embed:""`
	More        []string `arg:"" optional:"" name:"more" help:"Further servers, asked side by side. Keys are found for each; the flags are of all."`

	For    string   `name:"for" placeholder:"TIME" help:"Ask for so long, each kind at its times of the day: 72h. Default: everything once, now, without cold starts."`
	Out    string   `placeholder:"DIR" help:"Folder that keeps all probes: a run folder for each target and start, and what the day has cost. Default: probes."`
	Suite  string   `placeholder:"FILE" help:"YAML file with the list probes: and, if you like, budget: (docs/probes.md). Default: 1,000, 10,000 and 100,000 tokens in with short and long answers, a picture, eight times a day; ten at once and a cold start once a day; a light one every minute."`
	Only   []string `placeholder:"NAME" help:"Only these kinds of the suite."`
	Prices string   `group:"limits" placeholder:"FILE" help:"YAML file with what tokens cost (docs/cost.md)."`
	Tokens string   `name:"budget-tokens" group:"limits" placeholder:"N" help:"The most tokens a day (UTC), in and out, of all targets. Default: 3,000,000 a target."`
	USD    string   `name:"budget-usd" group:"limits" placeholder:"X" help:"The most dollars a day, by --prices."`
	Window string   `placeholder:"TIME" help:"What the medians are of. Default: 72h."`

	sharedFlags `embed:""`
}

func (probeCmd) collects() {}

// Help is shown below the flags.
func (probeCmd) Help() string {
	return `Asks servers the same few things again and again and prints medians over 72 hours, as public rankings do. Prompts are new each time, sums that end them check the answers, and speeds are told in tokens of o200k_base too. The most that a probe can cost is counted before it is sent, so a day's budget is never passed, whatever restarts.

Without a URL nothing is sent: what the folder holds is shown. tokenmeter trend says when something changed.

Exit codes: 0 done; 2 wrong usage; 3 a server answered none of its probes; 4 none was asked: none was due, or for want of budget; 5 the folder can't be written; 130 interrupted (what was asked is saved).`
}

// probeSuite is the file of --suite.
type probeSuite struct {
	Probes []probe.Kind `yaml:"probes" doc:"what is asked; default: the suite that the help names"`
	Budget probe.Budget `yaml:"budget" doc:"what all of it may cost in a UTC day"`
}

const (
	probeRoot   = "probes"
	probeWindow = 72 * time.Hour
)

// Run asks, and prints the medians of what is known.
func (c *probeCmd) Run(a *app) error {
	job, err := c.plan(a)
	if err != nil {
		return err
	}
	if len(job.plan.Targets) == 0 {
		return c.show(a, job)
	}
	c.warnSecrets(a)
	if c.Insecure {
		a.warn("warning: %s", metric.UnverifiedTLS().Says)
	}
	began, err := c.ask(a, job)
	if !began {
		return err
	}
	return worse(err, c.show(a, job))
}

// probeJob is what the command line says.
type probeJob struct {
	plan   probe.Plan
	out    string
	budget probe.Budget
	during time.Duration // 0: once
	window time.Duration
}

func (c *probeCmd) plan(a *app) (*probeJob, error) {
	var check checker
	c.checkShared(&check, forms...)
	job := &probeJob{out: cmp.Or(c.Out, probeRoot), window: probeWindow}
	job.during, _ = check.duration("--for", c.For, time.Second)
	if d, given := check.duration("--window", c.Window, time.Second); given {
		job.window = d
	}
	job.plan.Pricing = priceFlags{file: c.Prices}.read(&check)
	c.suite(&check, job)
	if n := check.count("--budget-tokens", c.Tokens, 1); n > 0 {
		job.budget.Tokens = int64(n)
	}
	if usd := check.number("--budget-usd", c.USD, "2.50"); usd > 0 {
		job.budget.USD = usd
	}
	urls := slices.DeleteFunc(append([]string{c.URL}, c.More...), func(url string) bool { return url == "" })
	for _, url := range urls {
		job.plan.Targets = append(job.plan.Targets, c.target(a, &check, url))
	}
	if len(urls) == 0 && (c.targetFlags.given() || len(c.Only) > 0 || c.For+c.Suite+c.Prices+c.Tokens+c.USD != "") {
		check.addf("no server is named: give its URL, like http://localhost:8000; without one --out and --window say what is shown")
	}
	if err := check.err(); err != nil {
		return nil, err
	}
	return job, c.meet(job)
}

// suite reads what is asked.
func (c *probeCmd) suite(check *checker, job *probeJob) {
	var file probeSuite
	if c.Suite != "" {
		data, err := limitio.File(c.Suite, 1<<20)
		if err == nil {
			err = config.Decode(c.Suite, data, &file).Err()
		}
		if err != nil {
			check.addf("--suite: %w", err)
			return
		}
	}
	if err := file.Budget.Check(); err != nil {
		check.addf("--suite: budget: %w", err)
	}
	job.budget, job.plan.Kinds = file.Budget, file.Probes
	if len(job.plan.Kinds) == 0 {
		job.plan.Kinds = probe.Default()
	}
	if len(c.Only) == 0 {
		return
	}
	var names []string
	for _, k := range job.plan.Kinds {
		names = append(names, k.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			check.addf("--only: no probe is called %q%s", name, spelling.Meant(name, names))
		}
	}
	job.plan.Kinds = slices.DeleteFunc(job.plan.Kinds, func(k probe.Kind) bool { return !slices.Contains(c.Only, k.Name) })
}

// target is a server as the flags reach it.
func (c *probeCmd) target(a *app, check *checker, url string) probe.Target {
	flags := c.targetFlags
	flags.URL = url
	t := probe.Target{Model: flags.model(), Client: client.Config{ConnectTimeout: defaultConnectTimeout, Timeout: defaultTimeout, IdleTimeout: defaultIdleTimeout}}
	if t.Client.API = flags.apiOf(check); t.Client.API != nil && t.Client.API.Product().Lengthless() {
		check.addf("--api %s: probes ask for words, and it answers without", t.Client.API.Name)
	}
	flags.reach(&t.Client, check, a)
	probe.Mark(&t.Client) // of what it is before it is asked, too
	if _, err := client.JoinURL(url, "/v1/models"); err != nil {
		check.add(err)
	}
	return t
}

// meet asks each target what it is, by GETs, and gives it a name.
func (c *probeCmd) meet(job *probeJob) error {
	taken := map[string]bool{}
	for i := range job.plan.Targets {
		t := &job.plan.Targets[i]
		named := t.Client.API != nil || pathTells(t.Client.BaseURL)
		t.Client.API = cmp.Or(t.Client.API, api.OpenAIChat)
		if !named || t.Model == "" {
			s, cl, err := ask(t.Client)
			if cl == nil {
				return err
			}
			if found := s.API(); found != nil && !named {
				t.Client.API = found
			}
			t.Server = strings.TrimSpace(s.Title + " " + s.Version)
			switch {
			case t.Model != "":
			case len(s.Models) == 1:
				t.Model = s.Models[0]
			case len(s.Models) > 1:
				return fmt.Errorf("%s has several models; choose one with --model", cl.URL())
			case err != nil:
				return &codedError{code: exitTarget, text: cl.Redactor().String(fmt.Sprintf("%s does not say which models it has: %v; name one with --model", cl.URL(), err))}
			default:
				return fmt.Errorf("%s lists no models; name one with --model", cl.URL())
			}
		}
		red := t.Client.Redactor()
		t.Name = red.String(strings.TrimSpace(t.Model + " " + hostOf(t.Client.BaseURL)))
		for n := 2; taken[run.Slug(t.Name)]; n++ {
			t.Name = red.String(fmt.Sprintf("%s %s %d", t.Model, hostOf(t.Client.BaseURL), n))
		}
		taken[run.Slug(t.Name)] = true
	}
	return nil
}

// ask sends the probes; began: some could be sent.
func (c *probeCmd) ask(a *app, job *probeJob) (began bool, err error) {
	p := &job.plan
	var unwritten *run.WriteError
	switch p.Ledger, err = probe.OpenFolder(job.out, job.budget, len(p.Targets)); {
	case errors.As(err, &unwritten):
		return false, err
	case errors.Is(err, probe.ErrBusy):
		return false, fmt.Errorf("%w; name another folder with --out", err)
	case err != nil:
		return false, err
	}
	defer p.Ledger.Close()
	if p.Tokenizer, err = tokens.ByName(tokens.Default); err != nil {
		return false, err
	}
	p.Say = func(text string) { a.note("%s", text) }
	clk := clock.Start()
	var folders *probe.Folders
	var mu sync.Mutex
	asked := make([]exit.Facts, len(p.Targets))
	p.Took = func(target int, tl *timeline.Timeline) error {
		mu.Lock()
		asked[target].Count(tl)
		mu.Unlock()
		a.note("%s  %s", p.Targets[target].Name, probed(tl))
		return folders.Took(target, tl)
	}
	prober, err := probe.New(*p, clk)
	if err != nil {
		return false, err
	}
	ctx, end := interruptible(func() { a.note("stopping; what was asked is kept in %s", job.out) })
	defer end()
	folders, err = probe.Create(ctx, job.out, p.Targets, probe.About{Version: fullVersion(), Command: append([]string{"tokenmeter"}, a.args...),
		Pricing: p.Pricing, Kinds: p.Kinds}, clk)
	if err != nil {
		return false, err
	}
	a.note("%s", c.words(job, prober.Day()))
	if job.during > 0 {
		err = prober.Run(ctx, time.Now().Add(job.during))
	} else {
		err = prober.Once(ctx)
	}
	if ctx.Err() != nil {
		err = bench.ErrInterrupted
	}
	err = worse(err, folders.Finish(err != nil))
	left, ahead := prober.Unaffordable(), p.Ledger.DayToCome(time.Now())
	none := !slices.ContainsFunc(asked, func(f exit.Facts) bool { return f != exit.Facts{} })
	switch {
	case err != nil:
	case left == 0 && none && job.during > 0:
		return true, &codedError{code: exitInvalid, text: fmt.Sprintf("nothing was asked: no probe was due within %v, the next one is at %s UTC; ask for longer, or without --for for each probe once",
			job.during, prober.Next().Format(time.DateTime))}
	case left == 0:
	case none && ahead != "":
		return true, &codedError{code: exitInvalid, text: "nothing was asked: too little is left of the day's budget, and " + ahead}
	case none:
		return true, &codedError{code: exitInvalid, text: "nothing was asked: what is left of the day's budget is less than the most that any of the probes may cost; the next day begins at 00:00 UTC, and --budget-tokens and --budget-usd set another budget"}
	default:
		a.note("%s", prober.Withheld())
	}
	return true, worse(err, failedTargets(p.Targets, asked, job.out))
}

// failedTargets is the exit code of the targets that answered nothing of what they were
// asked, whatever others did; nil: there is none.
func failedTargets(targets []probe.Target, asked []exit.Facts, out string) error {
	var all exit.Facts
	for i, f := range asked {
		all = all.Beside(targets[i].Name, f)
	}
	v := exit.Of(all)
	if v.Code == exit.OK {
		return nil
	}
	return &codedError{code: int(v.Code), text: v.Says + "; tokenmeter report on a folder below " + out + " says why"}
}

// probed is a line of progress: what became of a probe.
func probed(tl *timeline.Timeline) string {
	if tl.Outcome != timeline.OK {
		return fmt.Sprintf("%-10s  %s", tl.Class, tl.Outcome)
	}
	v := metric.ValuesOf(tl)
	return fmt.Sprintf("%-10s  TTFT %s, TPOT %s", tl.Class, inMS(v.TTFTMS), inMS(v.TPOTMS))
}

// words say what is going to be asked.
func (c *probeCmd) words(job *probeJob, day probe.Load) string {
	budget := job.plan.Ledger.Limit()
	bound := fmt.Sprintf("at most %d tokens", budget.Tokens)
	if budget.USD > 0 {
		bound += fmt.Sprintf(" and $%g", budget.USD)
	}
	if job.during == 0 {
		return fmt.Sprintf("asking each probe once; the day's budget is %s", bound)
	}
	return fmt.Sprintf("asking for %v: about %d requests a day, %d tokens in and at most %d out; the day's budget is %s",
		job.during, day.Requests, day.Input, day.Output, bound)
}

// show prints the medians of what the folder holds.
func (c *probeCmd) show(a *app, job *probeJob) error {
	win := trend.Window{To: time.Now().UTC()}
	win.From = win.To.Add(-job.window)
	rows, notes, err := trend.Read([]string{job.out}, win.From)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, run.ErrDevice) || errors.Is(err, run.ErrNoRun) {
		return fmt.Errorf("%w; give a URL to ask, or --out with the folder of earlier probes", err)
	}
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.warn("%s", note)
	}
	return trend.WriteMedians(a.stdout, c.Format, win, trend.Medians(rows), trend.PublishedOf(rows))
}
