// Package control acts on a server around a run: commands before and after it, its
// caches emptied, its own profiler started and stopped.
package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/load/bench"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/client"
)

// DefaultLimit is how long an act may take: stopping vLLM's profiler takes minutes.
const DefaultLimit = 10 * time.Minute

// Plan is what is to be done around each run.
type Plan struct {
	// Before and After are commands for the system's shell, in this order.
	Before, After []string
	// Env is the environment of the commands; the facts of the point come on top.
	Env []string
	// Reset empties the server's caches before the run, warm-up included.
	Reset bool
	// Profile lets the server's profiler run while the run measures: from ProfileAt
	// requests in flight on (0: from the start), for ProfileFor (0: to the end).
	Profile    bool
	ProfileAt  int64
	ProfileFor time.Duration
	// ProfileFiles is where the profiler writes, for the report; empty: unknown.
	ProfileFiles string
	Limit        time.Duration // of each act; 0 means DefaultLimit
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Before)+len(p.After) == 0 && !p.Reset && !p.Profile
}

// Control is the control of one run. It is used once.
type Control struct {
	plan   Plan
	keys   *secret.Redactor // knows the keys in the commands' environment
	server *server
	point  bench.Point

	profiling sync.WaitGroup
	quit      chan struct{} // what is measured has ended

	mu     sync.Mutex
	acts   []run.Act
	failed error     // of the profiler, in the middle of the run
	began  time.Time // the profiler, by this machine's clock
}

// New makes the control of one run against that target.
func New(plan Plan, cfg client.Config) *Control {
	plan.Limit = cmp.Or(plan.Limit, DefaultLimit)
	return &Control{plan: plan, keys: envSecrets(plan.Env), server: newServer(cfg), quit: make(chan struct{})}
}

// Before runs the commands, then empties the caches: a command may start the server
// anew. Its error says which of them failed and how.
func (c *Control) Before(ctx context.Context, p bench.Point) error {
	c.point = p
	for _, line := range c.plan.Before {
		if err := c.command(ctx, "before", line, nil); err != nil {
			return err
		}
	}
	if !c.plan.Reset && !c.plan.Profile {
		return nil
	}
	if err := c.limited(ctx, c.server.find); err != nil {
		return err
	}
	if c.plan.Profile && c.server.can.Start == "" {
		return fmt.Errorf("the profiler can't be started: %s; a command before the point may do it", c.server.unknown())
	}
	if c.plan.Reset {
		return c.reset(ctx)
	}
	return nil
}

// reset empties every cache that the server has.
func (c *Control) reset(ctx context.Context) error {
	if len(c.server.can.Resets) == 0 {
		return fmt.Errorf("the caches can't be emptied: %s; a command before the point may do it", c.server.unknown())
	}
	for i, path := range c.server.can.Resets {
		err := c.post(ctx, "reset_cache", path, c.server.can.ResetGuard)
		var missing *missingError
		if i > 0 && errors.As(err, &missing) {
			c.last(func(a *run.Act) { a.OK, a.Says = true, "this version has no such cache" })
			continue
		}
		if err != nil {
			return fmt.Errorf("the caches could not be emptied: %w", err)
		}
	}
	return nil
}

// Measure starts the profiler, or what waits until enough requests are in flight.
func (c *Control) Measure(ctx context.Context, inFlight func() int64) error {
	if !c.plan.Profile {
		return nil
	}
	if c.plan.ProfileAt == 0 {
		if err := c.startProfile(ctx); err != nil {
			return err
		}
	}
	c.profiling.Go(func() {
		if c.plan.ProfileAt > 0 {
			if !c.await(inFlight) {
				return
			}
			if err := c.startProfile(context.WithoutCancel(ctx)); err != nil {
				c.fail(err)
				return
			}
		}
		var over <-chan time.Time
		if c.plan.ProfileFor > 0 {
			t := time.NewTimer(c.plan.ProfileFor)
			defer t.Stop()
			over = t.C
		}
		select {
		case <-over:
		case <-c.quit:
		}
		if err := c.stopProfile(context.WithoutCancel(ctx)); err != nil {
			c.fail(err)
		}
	})
	return nil
}

// lookEvery is between two looks at how many requests are in flight: it costs an
// atomic read, and is short beside the start of a profiler.
const lookEvery = 5 * time.Millisecond

// await waits until enough requests are in flight; false: the end came first.
func (c *Control) await(inFlight func() int64) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for inFlight() < c.plan.ProfileAt {
		select {
		case <-tick.C:
		case <-c.quit:
			return false
		}
	}
	return true
}

// startProfile begins the act; it lasts until stopProfile.
func (c *Control) startProfile(ctx context.Context) error {
	c.mu.Lock()
	c.began = time.Now()
	c.mu.Unlock()
	err := c.post(ctx, "profile", c.server.can.Start, c.server.can.ProfileGuard)
	if err != nil {
		return fmt.Errorf("the server's profiler could not be started: %w", err)
	}
	c.last(func(a *run.Act) { a.ToS, a.Files = timeline.Opt[float64]{}, c.plan.ProfileFiles })
	return nil
}

func (c *Control) stopProfile(ctx context.Context) error {
	err := c.limited(ctx, func(ctx context.Context) error { return c.server.post(ctx, c.server.can.Stop, "") })
	c.last(func(a *run.Act) {
		if err == nil {
			a.ToS = timeline.Some(c.now())
			return
		}
		a.OK, a.Says = false, c.point.Redact(fmt.Sprintf("it may still run: %v", err))
	})
	if err != nil {
		return fmt.Errorf("the server's profiler could not be stopped: %w", err)
	}
	return nil
}

// Measured waits until the profiler has been stopped.
func (c *Control) Measured(context.Context) error {
	close(c.quit)
	c.profiling.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// After runs the commands, all of them: each may clean up. The error is the first one's.
func (c *Control) After(ctx context.Context, facts map[string]string) error {
	var first error
	for _, line := range c.plan.After {
		if err := c.command(ctx, "after", line, facts); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Acts are what was done when; of the profiler also the files that it left behind, those
// that a command after the point has fetched among them.
func (c *Control) Acts() ([]run.Act, []metric.Warning) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var warnings []metric.Warning
	profiled := false
	for i := range c.acts {
		a := &c.acts[i]
		if a.Name == "profile" {
			profiled = true // or it was tried, and the run ends with that
		}
		if a.Profiled() {
			a.Found = c.find(c.began)
			from, to := a.FromS, a.ToS.Or(c.now())
			warnings = append(warnings, metric.Warning{Name: "server_profiled", Value: timeline.Some(to - from),
				Says: fmt.Sprintf("The server's profiler ran from %.1f to %.1f s of the run, and slowed the server down: requests of that time tell little of its speed.", from, to)})
		}
		if !a.OK {
			warnings = append(warnings, metric.Warning{Name: "control_failed",
				Says: fmt.Sprintf("%s (%s) failed: %s. The server may not be in the state that was asked for.", a.Name, a.Does, a.Says)})
		}
	}
	if c.plan.Profile && c.plan.ProfileAt > 0 && !profiled {
		warnings = append(warnings, metric.Warning{Name: "profile_never", Value: timeline.Some(float64(c.plan.ProfileAt)),
			Says: fmt.Sprintf("The profiler was never started: there were never %s in flight at once.", metric.Plural(int64(c.plan.ProfileAt), "request"))})
	}
	return c.acts, warnings
}

func (c *Control) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		c.failed = err
	}
}

// now is the time on the run's clock, in s.
func (c *Control) now() float64 { return float64(c.point.NowUS()) / 1e6 }

// act does something and keeps when, and how it went.
func (c *Control) act(ctx context.Context, name, does string, do func(context.Context) error) error {
	a := run.Act{Name: name, Does: c.point.Redact(does), FromS: c.now()}
	err := c.limited(ctx, do)
	a.ToS, a.OK = timeline.Some(c.now()), err == nil
	if err != nil {
		a.Says = c.point.Redact(err.Error())
	}
	c.mu.Lock()
	c.acts = append(c.acts, a)
	c.mu.Unlock()
	return err
}

// last changes what was kept of the last act.
func (c *Control) last(change func(*run.Act)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.acts[len(c.acts)-1])
}

func (c *Control) limited(ctx context.Context, do func(context.Context) error) error {
	ctx, stop := context.WithTimeoutCause(ctx, c.plan.Limit, fmt.Errorf("it did not end within %v", c.plan.Limit))
	defer stop()
	err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *Control) post(ctx context.Context, name, path, guard string) error {
	return c.act(ctx, name, "POST "+path, func(ctx context.Context) error { return c.server.post(ctx, path, guard) })
}
