package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"tokenmeter/bench"
	"tokenmeter/metric"
	"tokenmeter/objective"
	"tokenmeter/run"
	"tokenmeter/validity"
)

// Server is a subject that is loaded through bench. Each probe is a run in a
// folder of its own.
type Server struct {
	// Plan says what is sent where; its load and its folder are replaced.
	Plan     bench.Plan
	Variable string // Rate or Concurrency
	Dir      string // folder in which the runs' folders are made
	// SettleTime is how long the server may take to come to rest before a probe;
	// default 1 min, below 0 none.
	SettleTime time.Duration
	// Made hears of each run; nil: nobody does.
	Made func(load float64, r *run.Run, unsettled string)

	probes int
	rest   float64 // ms to the first token of the server at rest; 0: not known
	alive  bool    // it answered once
}

// Probe runs the load.
func (s *Server) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	var out Probed
	var err error
	if out.Unsettled, err = s.settle(ctx); err != nil {
		return out, err
	}
	s.probes++
	plan := s.plan(load, limit)
	plan.Out = filepath.Join(s.Dir, fmt.Sprintf("%03d-%s-%s", s.probes, s.Variable, strconv.FormatFloat(load, 'g', 6, 64)))
	out.Run = filepath.Base(plan.Out)
	lists := objective.NeedLists(plan.Objectives)
	plan.Each = func(e bench.Ended) bool {
		rec := metric.ScalarsOf(e.Timeline)
		if lists {
			rec = metric.Of(e.Timeline)
		}
		due := float64(e.DueUS) / 1e6
		end := due + rec.CloseMS.Or(rec.E2EMS.Or(0))/1e3
		return take(Seen{Index: e.Index, DueS: due, EndS: end, InFlight: e.InFlight, Record: &rec})
	}
	done, err := bench.Run(ctx, plan)
	if done == nil {
		return out, err
	}
	var target *bench.TargetError
	if errors.As(err, &target) && s.alive {
		err = nil // every request failed: the load is too much for it
	}
	s.alive = s.alive || done.Requests.OK > 0
	out.AchievedPerS = done.Throughput.RequestsPerS
	out.Late = late(done, plan.Objectives)
	out.Missed = missed(done, plan.Objectives)
	if s.Made != nil {
		s.Made(load, done, out.Unsettled)
	}
	return out, err
}

// plan is that of one probe.
func (s *Server) plan(load float64, limit Limit) bench.Plan {
	p := s.Plan
	p.Requests, p.Duration = int(min(limit.Requests, math.MaxInt32)), limit.Duration
	if p.Requests == 0 && p.Duration == 0 {
		p.Requests = math.MaxInt32
	}
	if s.Variable == Concurrency {
		p.Concurrency, p.Rate, p.Arrival = int(load), 0, ""
	} else {
		p.Rate, p.Concurrency = load, 0
		if p.Arrival == "" {
			p.Arrival = "poisson" // users do not come in step
		}
		if p.Warmup == (bench.Warmup{}) {
			p.Warmup.Requests = 1 // connections, lengths
		}
	}
	p.Seed += uint64(s.probes)
	p.KeepGoing = s.alive
	p.AllowLowN = true // the search weighs them itself
	return p
}

const (
	restRequests = 5
	settleTime   = time.Minute
)

// settle sends one request at a time until the first token comes as soon as it
// did before any load. A server that was overloaded may go on with what its
// client has given up.
func (s *Server) settle(ctx context.Context) (unsettled string, err error) {
	if s.SettleTime < 0 {
		return "", nil
	}
	dir, err := os.MkdirTemp(s.Dir, ".settle-")
	if err != nil {
		return "", &run.WriteError{Path: s.Dir, Err: err}
	}
	defer os.RemoveAll(dir)
	p := s.Plan
	p.Concurrency, p.Rate, p.Arrival = 1, 0, ""
	p.Requests, p.Duration = 0, s.SettleTime
	if p.Duration == 0 {
		p.Duration = settleTime
	}
	p.Out, p.Capture, p.Objectives, p.KeepGoing = filepath.Join(dir, "run"), false, nil, true
	p.Progress = nil
	var times []float64
	p.Each = func(e bench.Ended) bool {
		v := metric.ValuesOf(e.Timeline)
		if ms, ok := v.TTFTMS.Get(); ok {
			times = append(times, ms)
		} else if ms, ok := v.E2EMS.Get(); ok {
			times = append(times, ms)
		} else {
			times = append(times, math.Inf(1))
		}
		return !s.rested(times)
	}
	_, err = bench.Run(ctx, p)
	var target *bench.TargetError
	switch {
	case errors.As(err, &target) && s.alive:
		return "the server answered nothing before the probe", nil
	case err != nil:
		return "", err
	case s.rest == 0:
		slices.Sort(times)
		s.rest = times[len(times)/2]
	case !s.rested(times):
		return fmt.Sprintf("the server was not at rest after %v", p.Duration), nil
	}
	return "", nil
}

// rested reports whether the last two answers were as quick as at rest; before
// that is known, whether enough were seen to know it.
func (s *Server) rested(times []float64) bool {
	n := len(times)
	if s.rest == 0 {
		return n >= restRequests
	}
	limit := 1.5*s.rest + 10
	return n >= 2 && times[n-1] <= limit && times[n-2] <= limit
}

// late says why the client was too slow to judge the server. Being busy is no
// reason, nor is reading late where only whole answers and first tokens are
// judged: it moves an arrival by milliseconds.
func late(r *run.Run, objectives []objective.Objective) string {
	checks := []string{"send_late", "client_errors"}
	if slices.ContainsFunc(objectives, func(o objective.Objective) bool { return !slices.Contains(coarse, o.Metric) }) {
		checks = append(checks, "client_lag")
	}
	for _, c := range r.Validity.Checks {
		if c.Verdict == validity.Invalid && slices.Contains(checks, c.Name) {
			return c.Name + ": " + c.Says
		}
	}
	return ""
}

// coarse are the metrics that reading late does not touch.
var coarse = []string{"ttft", "ttfo", "e2e", "goodput", "error_rate", "check_pass", "task_success"}

// missed are the objectives on the whole run that it did not meet.
func missed(r *run.Run, objectives []objective.Objective) (texts []string) {
	if r.Goodput == nil {
		return nil
	}
	for i := range objectives {
		o := &objectives[i]
		if o.OfRequests() {
			continue
		}
		for _, got := range r.Goodput.Objectives {
			if got.Text == o.Text && got.State == objective.Missed {
				texts = append(texts, o.Text)
			}
		}
	}
	return texts
}
