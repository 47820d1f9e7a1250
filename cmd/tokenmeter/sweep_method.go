package main

import (
	"context"
	"errors"
	"time"

	"tokenmeter/bench"
	"tokenmeter/method"
	"tokenmeter/sweep"
	"tokenmeter/sweep/result"
)

// method finds the method of --method, and fills in what it asks of the flags.
func (c *sweepCmd) method(check *checker) *method.Method {
	if c.Method == "" {
		return nil
	}
	m, err := method.ByName(c.Method)
	if err != nil {
		check.addf("--method: %w", err)
		return nil
	}
	if m.NormTokenizer != "" && c.NormTokenizer == "" {
		c.NormTokenizer = m.NormTokenizer
	}
	return m
}

// follow measures by a method, and reads its figures from what was measured.
func (c *sweepCmd) follow(ctx context.Context, view progress, m *method.Method, plan bench.Plan, axes []axis, settle time.Duration, s *result.Sweep) error {
	o := methodOptions(plan, axes)
	o.GPUs = s.GPUs
	steps, err := m.Prepare(o)
	if err != nil {
		return &usageError{err}
	}
	if search := steps.Search; search != nil {
		var check checker
		asked := c.search(&check)
		search.From, search.Most, search.MaxTime, search.Probe.Duration = asked.From, asked.Most, asked.MaxTime, asked.Probe.Duration
		probes := steps.Probes
		s.Variable = sweep.Rate
		if err := c.find(ctx, view, *search, probes, settle, s); err != nil {
			return err
		}
		holds, ok := s.Found.Holds.Get()
		if !ok {
			return nil
		}
		steps.At(holds)
		s.Partial, s.Finished = true, nil
	}
	grid := sweep.Grid{Variable: s.Variable, Cells: steps.Cells, Next: steps.Next, Ordered: true, SettleTime: settle, Seed: plan.Seed}
	grid.Begins = func(cell *sweep.Cell, made, planned int) {
		view.say(beginLine(cell, s.Variable, made, planned))
	}
	grid.Told = func(p result.Point) { s.Method = m.Read(o, s) }
	if len(steps.Cells) > 0 {
		err = grid.Run(ctx, s)
	}
	s.Method = m.Read(o, s)
	if len(s.Points) == 0 {
		return err
	}
	return errors.Join(err, sweep.Save(s))
}

func methodOptions(plan bench.Plan, axes []axis) *method.Options {
	o := &method.Options{Base: plan, Lists: map[string][]float64{}}
	for _, x := range axes {
		o.Lists[x.name] = x.numbers
	}
	return o
}
