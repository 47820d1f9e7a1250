package bench

import (
	"context"
	"strconv"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Control acts on the server around a run. What it does wrong ends the run, or is told
// when it has ended: never is a figure of a server that is not in the state that was
// asked for.
type Control interface {
	// Before acts before anything of the run is sent. An error ends the run.
	Before(ctx context.Context, p Point) error
	// Measure acts before what counts begins, and meanwhile: inFlight is how many
	// requests have no end yet. An error ends the run.
	Measure(ctx context.Context, inFlight func() int64) error
	// Measured ends what Measure began, once what counts has ended.
	Measured(ctx context.Context) error
	// After acts when all is over, with more facts of the point.
	After(ctx context.Context, facts map[string]string) error
	// Acts are what was done when, with warnings of it.
	Acts() ([]run.Act, []metric.Warning)
}

// Point is a run as those see it who act on its server.
type Point struct {
	Dir    string            // its folder
	Facts  map[string]string // url, model, concurrency, …; what is not known is not there
	NowUS  func() int64      // the run's clock
	Redact func(string) string
}

// controlled is the control of a run and what went wrong with it.
type controlled struct {
	Control
	begun   bool // what comes before was done
	started bool // what comes with the measuring was begun
}

// control makes that of the run.
func (r *runner) control() *controlled {
	if r.plan.Control == nil {
		return nil
	}
	return &controlled{Control: r.plan.Control(r.plan.Client)}
}

func (c *controlled) before(ctx context.Context, r *runner, ready found) error {
	if c == nil {
		return nil
	}
	err := c.Before(ctx, r.point(ready))
	c.begun = err == nil
	return ended(ctx, err)
}

func (c *controlled) measure(ctx context.Context, r *runner) error {
	if c == nil {
		return nil
	}
	c.started = true
	return ended(ctx, c.Measure(ctx, r.rec.inFlight.Load))
}

// measured and what follows also happen when the user has interrupted the run: a
// profiler that goes on would disturb the next.
func (c *controlled) measured(ctx context.Context, cause error) error {
	if c == nil || !c.started {
		return cause
	}
	err := c.Measured(context.WithoutCancel(ctx))
	if cause == nil && err != nil {
		return &UsageError{err}
	}
	return cause
}

func (c *controlled) after(ctx context.Context, r *runner, m *run.Run, cause error) error {
	if c == nil {
		return cause
	}
	if c.begun {
		n := r.rec.of(timeline.Measure)
		err := c.After(context.WithoutCancel(ctx), map[string]string{
			"requests": strconv.FormatInt(n.done, 10), "failed": strconv.FormatInt(n.failed, 10)})
		if cause == nil && err != nil {
			cause = &UsageError{err}
		}
	}
	acts, warnings := c.Acts()
	m.Control = acts
	for _, w := range warnings {
		r.log.notice(w.Name, w.Value, "%s", w.Says)
	}
	return cause
}

// ended is the error of an act as that of the run: what the user has stopped was
// stopped by the user.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ErrInterrupted
	}
	return &UsageError{err}
}

// point tells what is known before a run.
func (r *runner) point(ready found) Point {
	p, red := r.plan, redactor(r.plan)
	facts := map[string]string{"run": r.writer.Load().Dir(), "run_id": r.id, "name": p.Name, "url": red.URL(p.Client.BaseURL), "api": p.Client.API.Name,
		"model": ready.model, "server": red.String(ready.server), "input_tokens": p.InputTokens, "output_tokens": p.OutputTokens}
	if p.Concurrency > 0 {
		facts["concurrency"] = strconv.Itoa(p.Concurrency)
	}
	if p.Rate > 0 {
		facts["rate"] = strconv.FormatFloat(p.Rate, 'g', -1, 64)
	}
	for name, value := range facts {
		if value == "" {
			delete(facts, name)
		}
	}
	return Point{Dir: facts["run"], Facts: facts, NowUS: r.clk.US, Redact: red.String}
}
