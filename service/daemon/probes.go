package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/probe"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/tokens"
)

// Probes are requests of the daemon's own, at times of the day.
type Probes struct {
	Folder  string        `yaml:"folder" required:"true" doc:"where they are kept: a run folder for each target and day, and what the day has cost; tokenmeter probe and trend read it"`
	Targets []ProbeTarget `yaml:"targets" required:"true" doc:"who is asked"`
	Suite   []probe.Kind  `yaml:"suite" doc:"what is asked; default: that of tokenmeter probe"`
	Budget  probe.Budget  `yaml:"budget" doc:"what all of it may cost in a UTC day"`
}

// ProbeTarget is a model of an upstream.
type ProbeTarget struct {
	Name     string `yaml:"name" doc:"what tables call it; default: model and upstream"`
	Upstream string `yaml:"upstream" required:"true" doc:"name of an upstream"`
	Model    string `yaml:"model" required:"true"`
	API      string `yaml:"api" doc:"default openai-chat"`
}

// probeTimeout ends a probe that never ends.
const probeTimeout = 10 * time.Minute

func (c *checker) probes() {
	p := c.p.Config.Probes
	if p == nil {
		return
	}
	if len(p.Targets) == 0 && c.doc.Has("probes.targets") {
		c.addf("probes.targets", "name at least one target")
	}
	if err := p.Budget.Check(); err != nil {
		c.addf("probes.budget", "%v", err)
	}
	if err := probe.Check(p.Suite); err != nil {
		c.addf("probes.suite", "%v", err)
	}
	seen := map[string]bool{}
	for i := range p.Targets {
		t, at := &p.Targets[i], fmt.Sprintf("probes.targets[%d]", i)
		t.Name = cmp.Or(t.Name, t.Model+" "+t.Upstream)
		c.once(seen, at, "a target", t.Name, run.Slug(t.Name))
		cfg := client.Config{API: api.OpenAIChat, Form: client.PlainForm, Timeout: probeTimeout}
		if t.API != "" {
			known, err := api.ByName(t.API)
			if err != nil {
				c.addf(at+".api", "%v", err)
				continue
			}
			if known.Product().Lengthless() {
				c.addf(at+".api", "probes ask for words, and %s answers without", t.API)
				continue
			}
			cfg.API = known
		}
		k := slices.IndexFunc(c.p.Config.Upstreams, func(u Upstream) bool { return u.Name == t.Upstream })
		if k < 0 || k >= len(c.p.upstreams) {
			c.addf(at+".upstream", "no upstream is called %q", t.Upstream)
			continue
		}
		u := &c.p.upstreams[k]
		cfg.BaseURL, cfg.Key, cfg.Header, cfg.TLS = u.URL, u.Key, u.Header, u.TLS
		cfg.ConnectTimeout, cfg.IdleTimeout = cmp.Or(u.ConnectTimeout, 10*time.Second), u.IdleTimeout
		c.p.probed = append(c.p.probed, probe.Target{Name: t.Name, Model: t.Model, Client: cfg})
	}
}

// prober asks for as long as the daemon runs.
type prober struct {
	d    *Daemon
	plan *Plan // of the start
	sent traffic.Sinks

	mu     sync.Mutex
	base   probe.Plan
	asking *probe.Prober // nil: not yet
}

// openProbes prepares what is asked; nil where nothing is.
func (d *Daemon) openProbes(plan *Plan) (*prober, error) {
	c := plan.Config.Probes
	if c == nil {
		return nil, nil
	}
	fail := func(err error) (*prober, error) { return nil, fmt.Errorf("probes: %w", err) }
	ledger, err := probe.OpenFolder(c.Folder, c.Budget, len(c.Targets))
	if errors.Is(err, probe.ErrBusy) {
		err = fmt.Errorf("%w; name another folder", err)
	}
	if err != nil {
		return fail(err)
	}
	p := &prober{d: d, plan: plan}
	if err := p.prepare(c, ledger); err != nil {
		_ = ledger.Close()
		return fail(err)
	}
	return p, nil
}

func (p *prober) prepare(c *Probes, ledger *probe.Ledger) (err error) {
	p.base = probe.Plan{Ledger: ledger, Targets: slices.Clone(p.plan.probed), Kinds: c.Suite, Pricing: p.plan.pricing,
		Say: func(text string) { p.d.log.Info("probe", "says", text) }}
	for i := range p.base.Targets {
		p.base.Targets[i].Client.Dial = p.d.opt.Dial
	}
	if p.base.Tokenizer, err = tokens.ByName(tokens.Default); err != nil {
		return err
	}
	_, err = probe.New(p.base, clock.Start()) // what is wrong is said at the start
	return err
}

// run asks day after day, each in run folders of its own.
func (p *prober) run(ctx context.Context) {
	defer p.base.Ledger.Close()
	p.d.mu.Lock()
	p.sent = p.d.sinks()
	p.d.mu.Unlock()
	for ctx.Err() == nil {
		begun := time.Now()
		until := begun.Add(24*time.Hour - begun.Sub(begun.Truncate(24*time.Hour))) // of the monotonic clock: a step of the wall clock does not move it
		if err := p.day(ctx, until); err != nil && !(ctx.Err() != nil && errors.Is(err, context.Canceled)) {
			p.d.log.Error("probes", "error", err.Error())
			until = time.Now().Add(time.Minute) // a disk that was full may have room then
		}
		wait := time.NewTimer(time.Until(until))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
	}
}

func (p *prober) day(ctx context.Context, until time.Time) error {
	clk := clock.Start()
	var folders *probe.Folders
	p.mu.Lock()
	plan := p.base
	plan.Targets = slices.Clone(plan.Targets)
	plan.Took = func(target int, tl *timeline.Timeline) error {
		err := folders.Took(target, tl)
		p.tell(target, tl, clk) // from here on it is only read
		return err
	}
	asking, err := probe.New(plan, clk)
	p.asking = asking
	p.mu.Unlock()
	if err != nil {
		return err
	}
	kinds := plan.Kinds
	if len(kinds) == 0 {
		kinds = probe.Default()
	}
	folders, err = probe.Create(ctx, p.plan.Config.Probes.Folder, plan.Targets, probe.About{Version: p.d.opt.Version, Command: []string{"tokenmeter", "serve"},
		Pricing: plan.Pricing, Kinds: kinds}, clk)
	if err != nil {
		return err
	}
	err = asking.Run(ctx, until)
	if text := asking.Withheld(); text != "" {
		plan.Say(text)
	}
	return errors.Join(err, folders.Finish(err != nil || ctx.Err() != nil))
}

// takeProbes lets probes go on by a new plan, as far as they can.
func (d *Daemon) takeProbes(plan *Plan) {
	var before *Probes
	if d.asking != nil {
		before = d.asking.plan.Config.Probes
	}
	if all := d.asking.take(plan); !all || !reflect.DeepEqual(before, plan.Config.Probes) {
		d.log.Warn("what is probed, and where, is taken at the start only: probes go on as they were until a restart")
	}
}

// take goes on with the keys, headers and certificates of a new plan: a probe with
// a key that was replaced would tell of a failure of ours as one of the server. It
// reports whether all targets are where they were.
func (p *prober) take(plan *Plan) bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := true
	for i := range p.base.Targets {
		t := &p.base.Targets[i]
		k := slices.IndexFunc(plan.probed, func(n probe.Target) bool {
			return n.Name == t.Name && n.Model == t.Model && n.Client.BaseURL == t.Client.BaseURL && n.Client.API == t.Client.API
		})
		if k < 0 {
			kept = false
			continue
		}
		cfg := plan.probed[k].Client
		cfg.Dial = p.d.opt.Dial
		if p.asking != nil {
			if err := p.asking.Reach(i, cfg); err != nil {
				p.d.log.Error("probes go on with the old key and headers", "target", t.Name, "error", err.Error())
				continue
			}
		}
		t.Client = cfg
	}
	return kept
}

// tell passes a probe on to everything that is told of requests: as a probe, so
// that it counts apart from users'.
func (p *prober) tell(target int, tl *timeline.Timeline, clk *clock.Clock) {
	if !tl.Phase.Counts() {
		return // what a target does not take is no failure of it
	}
	t := p.plan.Config.Probes.Targets[target]
	p.sent.Done(&traffic.Request{Timeline: tl, At: clk.Wall().Add(time.Duration(tl.DueUS) * time.Microsecond), Record: metric.ScalarsOf(tl),
		Labels: traffic.Labels{Source: traffic.Probe, Route: "probes", Upstream: t.Upstream, Model: t.Model, API: p.plan.probed[target].Client.API.Name}})
}
