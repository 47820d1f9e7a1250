package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"tokenmeter/base/process"
	"tokenmeter/load/bench"
	"tokenmeter/physics/sim"
	"tokenmeter/record/exit"
	"tokenmeter/record/run"
)

// Run measures.
func (c *benchCmd) Run(a *app) error {
	defer process.BoundGarbage()()
	plan, err := c.plan(a)
	if err != nil {
		return err
	}
	c.warnSecrets(a)
	c.told(a, &plan)
	if c.Demo {
		stop, err := c.demo(&plan)
		if err != nil {
			return err
		}
		defer stop()
	}
	if c.DryRun {
		curl, err := bench.DryRun(plan)
		if err != nil {
			return err
		}
		_, err = io.WriteString(a.stdout, curl)
		if plan.Model == "" {
			a.note("MODEL stands for the model: give --model to fill it in")
		}
		c.before(a, &plan)
		return err
	}
	if how := c.detect(&plan); how != "" {
		a.note("%s", how)
	}
	untell, err := c.telemetry(a, &plan)
	if err != nil {
		return err
	}
	var sum *run.Run
	defer func() { untell(sum) }()
	sum, err = c.measure(a, plan)
	if sum == nil {
		return err
	}
	err = c.results(a, sum, err)
	if c.Demo && exitCode(err) == exitOK && (c.Format == "" || c.Format == "table") {
		a.note("next: your own server: tokenmeter bench http://localhost:8000\n      its limit: tokenmeter sweep http://localhost:8000 --find --objective \"p95 ttft < 500ms\"")
	}
	return err
}

// measure runs the plan with progress and signals.
func (c *benchCmd) measure(a *app, plan bench.Plan) (*run.Run, error) {
	view := a.progress(c.Quiet, c.NoColor, c.Demo, plan)
	plan.Progress = view.show
	if c.warnings() {
		plan.Log = view
	}
	ctx, end := interruptible(func() {
		view.say("stopping; what was measured is kept in " + cmp.Or(c.Out, "./"+run.DefaultRoot) + " (once more: leave at once; tokenmeter report shows what is there)")
	})
	defer end()
	defer view.close()
	return bench.Run(ctx, plan)
}

// results writes the files first, then the screen, and settles the exit code.
func (c *benchCmd) results(a *app, sum *run.Run, err error) error {
	if sum.Dir == "" {
		return err
	}
	if errors.Is(err, bench.ErrInterrupted) {
		err = fmt.Errorf("%w; what was measured is saved in %s", err, sum.Dir)
	}
	if c.HTML.Asked {
		err = worse(err, c.html(sum))
	}
	format := cmp.Or(c.Format, "table")
	target, plan := (*bench.TargetError)(nil), (*bench.UsageError)(nil)
	if format == "table" && sum.Requests.Total == 0 {
		switch {
		case errors.As(err, &target):
			a.note("no request was measured; the warm-up is saved in %s", sum.Dir)
			return err
		case errors.As(err, &plan):
			a.note("no request was measured; what was done is in %s", sum.Dir)
			return err
		}
	}
	if format != "table" {
		a.note("saved %s", sum.Dir)
	}
	err = worse(err, a.show(format, sum, sum.Dir, c.NoColor))
	return worse(err, verdict(sum, c.Strict))
}

func (c *benchCmd) html(sum *run.Run) error {
	f, err := run.Open(sum.Dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeHTML(c.HTML.path(sum.Dir, "report.html"), true, f, sum)
}

// verdict is the exit code of what was measured.
func verdict(sum *run.Run, strict bool) error {
	f := exit.OfRequests(&sum.Requests)
	f.Strict = strict
	f.Measurement, f.Doubt = asked(sum.Goodput, &sum.Validity)
	f.Gates = objectivesOf(sum.Goodput, &sum.Validity)
	return decided(f)
}

// demoDuration is long enough for intervals and short enough for a first look.
const demoDuration = 10 * time.Second

// demo starts the simulated server and points the plan at it.
func (c *benchCmd) demo(plan *bench.Plan) (stop func(), err error) {
	preset, ok := sim.FindPreset("demo")
	if !ok {
		return nil, errors.New("there is no preset for --demo")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("--demo can't open a port on this machine: %w", bare(err))
	}
	server := sim.New(preset.Config)
	go server.Serve(ln)
	plan.Client.BaseURL = "http://" + ln.Addr().String() + "/v1"
	if plan.Requests == 0 && plan.Duration == 0 {
		plan.Duration = demoDuration
	}
	return func() { server.Close() }, nil
}
