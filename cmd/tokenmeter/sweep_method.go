package main

import (
	"cmp"
	"context"

	"tokenmeter/load/method"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
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
	if c.API == "" && c.apiOf(new(checker)) == nil {
		c.API = m.API
	}
	return m
}

// prepare asks the method what is to be measured. Where it searches, it does so with the
// flags of a search.
func (c *sweepCmd) prepare(j *sweepJob) (*method.Options, *method.Steps, error) {
	o := c.methodOptions(j)
	steps, err := j.way.Prepare(o)
	if err != nil {
		return nil, nil, err
	}
	if steps.Search != nil {
		asked := j.search
		asked.Objectives, asked.Variable = steps.Search.Objectives, sweep.Rate
		steps.Search = &asked
	}
	return o, steps, nil
}

// follow measures by a method, and reads its figures from what was measured. However it
// ends, the sweep says what a result of the method is, and what it is not.
func (c *sweepCmd) follow(ctx context.Context, view progress, j *sweepJob, s *result.Sweep) error {
	o, steps, err := c.prepare(j)
	if err != nil {
		return err
	}
	o.GPUs = s.GPUs
	read := func() error {
		s.Method = j.way.Read(o, s)
		return sweep.Save(s)
	}
	if err := read(); err != nil {
		return err
	}
	err = c.carryOut(ctx, view, j, steps, s, func(result.Point) { _ = read() }) // the last one tells whether it could be written
	return worse(err, read())
}

// carryOut searches, where the method does, and measures its points.
func (c *sweepCmd) carryOut(ctx context.Context, view progress, j *sweepJob, steps *method.Steps, s *result.Sweep, told func(result.Point)) error {
	var searched *sweep.Server
	if steps.Search != nil {
		s.Variable = sweep.Rate
		searched = c.subject(steps.Probes, j, s)
		if err := c.find(ctx, view, *steps.Search, searched, s); err != nil {
			return err
		}
		holds, ok := s.Found.Holds.Get()
		if !ok {
			return nil
		}
		steps.At(holds)
		s.Partial, s.Finished = true, nil
	}
	grid := c.grid(view, j, steps.Cells, s)
	grid.Ordered, grid.Next, grid.Searched = true, steps.Next, searched
	if told != nil {
		grid.Told = told
	}
	return grid.Run(ctx, s)
}

func (c *sweepCmd) methodOptions(j *sweepJob) *method.Options {
	o := &method.Options{Base: j.plan, Lists: map[string][]float64{}, Salt: cmp.Or(c.Salt, newSalt())}
	// A workload's own load gives way to the method's; what flags say does not.
	p := &o.Base
	p.Stages, p.StagesClosed = nil, false
	if c.Rate == "" {
		p.Rate = 0
	}
	if c.Concurrency == "" {
		p.Concurrency = 0
	}
	if c.Arrival == "" {
		p.Arrival = ""
	}
	if c.Burstiness == "" {
		p.Burstiness = 0
	}
	for _, x := range j.axes {
		o.Lists[x.name] = x.numbers
	}
	return o
}
