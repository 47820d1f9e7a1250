package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// subject is the server that a search loads.
func (c *sweepCmd) subject(plan bench.Plan, j *sweepJob, s *result.Sweep) *sweep.Server {
	server := &sweep.Server{Plan: plan, Variable: s.Variable, Dir: s.Dir, SettleTime: j.settle, SettleTotal: j.search.MaxTime / 10}
	if j.settle == 0 {
		server.SettleTime = min(time.Minute, j.search.MaxTime/20) // the time is for the search
	}
	return server
}

// judged looks for objectives that no request could be held to: a search would try one
// load again and again until its time is up.
func (c *sweepCmd) judged(j *sweepJob, check *checker) {
	made := c.Workload == "" && c.Scenario == "" // a workload may have checks of its own
	for i := range j.search.Objectives {
		o := &j.search.Objectives[i]
		missing := ""
		switch o.Metric {
		case "cost":
			if j.plan.Pricing == nil {
				missing = "--prices"
			}
		case "check_pass":
			if made && c.Check == "" {
				missing = "--check"
			}
		case "norm_decode_tps", "norm_e2e_tps":
			if c.NormTokenizer == "" {
				missing = "--norm-tokenizer"
			}
		}
		if missing != "" {
			check.addf("--objective %q can't be judged without %s", o.Text, missing)
		}
	}
}

// first is the load that a search begins with, to be looked at before anything is sent.
func first(j *sweepJob) sweep.Cell {
	cell := sweep.Cell{Plan: j.plan, Value: cmp.Or(j.search.From, 1)}
	cell.Text = fmt.Sprintf("%g", cell.Value)
	if j.variable == sweep.Concurrency {
		cell.Plan.Concurrency, cell.Plan.Rate = int(cell.Value), 0
	} else {
		cell.Plan.Rate, cell.Plan.Concurrency = cell.Value, 0
	}
	return cell
}

// find searches and keeps every probe as a point of the sweep. What was found so far is
// saved after each.
func (c *sweepCmd) find(ctx context.Context, view progress, search sweep.Search, subject *sweep.Server, s *result.Sweep) error {
	began := time.Now()
	subject.Made = func(load float64, r *run.Run, unsettled string) {
		p := sweep.PointOf(r, load)
		p.Text, p.Run, p.Unsettled = fmt.Sprintf("%g", load), filepath.Base(r.Dir), unsettled
		s.Insert(p)
		if s.Target == (run.Target{}) {
			s.Target = r.Target
		}
	}
	keep := func(found *sweep.Found) error {
		s.Found = found.Result(s.Objectives)
		s.Conclude()
		s.Planned = len(s.Points)
		return sweep.Save(s)
	}
	search.Now = func() time.Duration { return time.Since(began) }
	search.Told = func(soFar *sweep.Found) {
		c.tell(view, probeLine(s.Variable, soFar.Probes[len(soFar.Probes)-1]))
		_ = keep(soFar) // the last one tells whether it could be written
	}
	found, err := search.Run(ctx, subject)
	if late := errors.Is(err, sweep.ErrLate); err == nil || late {
		now := time.Now().UTC().Round(0)
		s.Finished, s.Partial = &now, false
		if late && !strings.Contains(found.Why, err.Error()) {
			found.Why = strings.TrimPrefix(found.Why+"; "+err.Error(), "; ")
		}
	}
	if saveErr := keep(&found); err == nil {
		err = saveErr
	}
	return err
}

func probeLine(variable string, p sweep.Probe) string {
	step := result.Step{Says: p.Says, Firm: p.Firm, Repeat: p.Repeat}
	line := fmt.Sprintf("%s %.4g  %s", variable, p.Load, step.Words())
	if share, ok := p.GoodShare(); ok {
		line += fmt.Sprintf("  %s, %.1f %% good of those judged", typeset.Things(int64(p.Requests), "request"), 100*share)
	}
	if p.Grows {
		line += ", requests pile up"
	}
	for _, note := range []string{p.Unsettled, p.Note} {
		if note != "" {
			line += "; " + note
		}
	}
	return line
}
