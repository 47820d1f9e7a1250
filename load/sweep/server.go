package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/record/exit"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Server is a subject that is loaded through bench. Each probe is a run in a
// folder of its own.
type Server struct {
	// Plan says what is sent where; its load and its folder are replaced.
	Plan     bench.Plan
	Variable string // Rate or Concurrency
	Dir      string // folder in which the runs' folders are made
	// SettleTime is how long the server may take to come to rest before a probe;
	// default 1 min, below 0 none. SettleTotal bounds it for all probes together,
	// but for a short look each; 0: no bound.
	SettleTime, SettleTotal time.Duration
	// Made hears of each run; nil: nobody does.
	Made func(load float64, r *run.Run, unsettled string)

	probes int
	lost   int // probes in a row that said nothing: the client was late, or they were turned away
	rest   rest
	alive  bool   // it answered once
	model  string // as its first run found it
}

// Probe runs the load.
func (s *Server) Probe(ctx context.Context, load float64, limit Limit, take func(Seen) bool) (Probed, error) {
	var out Probed
	var err error
	if out.Unsettled, out.Busy, err = s.settle(ctx); err != nil {
		return out, err
	}
	if err := s.breathe(ctx); err != nil {
		return out, err
	}
	if limit.Left != nil {
		limit.Duration = max(min(limit.Duration, limit.Left()), time.Second)
	}
	s.probes++
	plan := s.plan(load, limit)
	if limit.Left != nil && !s.alive && !s.rest.answered() { // a server that never answers would outlast the search
		plan.WarmupMost = max(limit.Left(), time.Second).Round(time.Second)
	}
	plan.Out = filepath.Join(s.Dir, fmt.Sprintf("%03d-%s-%s", s.probes, s.Variable, strconv.FormatFloat(load, 'g', 6, 64)))
	lists := objective.NeedLists(plan.Objectives)
	plan.Each = func(e bench.Ended) bool {
		rec := metric.ScalarsOf(e.Timeline)
		if lists {
			rec = metric.Of(e.Timeline)
		}
		due := float64(e.DueUS) / 1e6
		end := due + rec.CloseMS.Or(rec.E2EMS.Or(0))/1e3
		return take(Seen{Index: e.Index, DueS: due, EndS: end, Record: &rec})
	}
	done, err := s.run(ctx, plan, &out)
	refused := s.refused(err)
	switch {
	case done == nil && refused != nil && !unreachable[refused.Class]:
		s.lost++
		return out, nil // busy: it is tried again
	case done == nil:
		return out, err
	case refused != nil:
		err = nil // every request failed: the load is too much for it
	}
	out.Run = filepath.Base(plan.Out)
	out.Late, out.Harsh = late(done, plan.Objectives)
	out.Harsh = out.Harsh && s.Variable == Rate
	if s.lost++; out.Late == "" {
		s.lost = 0
	}
	out.Missed = missed(done, plan.Objectives)
	if s.Made != nil {
		s.Made(load, done, out.Unsettled)
	}
	return out, err
}

// run makes a run and keeps what it tells of the server. A gateway may turn even the
// look before a run away for a while after an overload: a server that answered before
// is waited for then and asked once more. Where it still refuses, there is no run and
// out says that it is busy.
func (s *Server) run(ctx context.Context, plan bench.Plan, out *Probed) (*run.Run, error) {
	plan.KeepGoing = s.alive
	if !s.alive && s.rest.known && !s.rest.answered() && plan.WarmupMost == 0 {
		plan.WarmupMost = cmp.Or(plan.Client.IdleTimeout, settleTime) // it was silent all the time before
	}
	plan.Model = cmp.Or(plan.Model, s.model)
	done, err := bench.Run(ctx, plan)
	if done == nil && s.refused(err) != nil {
		if s.SettleTime >= 0 {
			s.rest.left = true
			var failed error
			if out.Unsettled, out.Busy, failed = s.settle(ctx); failed != nil {
				return nil, failed
			}
		}
		if done, err = bench.Run(ctx, plan); done == nil && s.refused(err) != nil {
			out.Unsettled, out.Busy = err.Error(), true
		}
	}
	if done == nil {
		return nil, err
	}
	s.model = cmp.Or(s.model, done.Target.Model)
	s.alive = s.alive || done.Requests.OK > 0
	_, out.Silent = exit.OfRequests(&done.Requests).Silent()
	s.rest.after(done)
	return done, err
}

// silent reports whether the server has answered nothing at all, at rest and in its
// first run: each further one would only wait for it once more.
func (s *Server) silent(done *run.Run) bool {
	_, silent := exit.OfRequests(&done.Requests).Silent()
	return silent && !s.alive && s.rest.known && !s.rest.answered()
}

// refused is the failure of a server that answered before; nil: err is none.
func (s *Server) refused(err error) *bench.TargetError {
	var target *bench.TargetError
	if s.alive && errors.As(err, &target) {
		return target
	}
	return nil
}

// plan is that of one probe. Its load is the only one.
func (s *Server) plan(load float64, limit Limit) bench.Plan {
	p := s.Plan
	p.Stages, p.StagesClosed, p.Trace = nil, false, nil
	p.Requests, p.Duration = int(min(limit.Requests, math.MaxInt32)), limit.Duration
	if p.Requests == 0 && p.Duration == 0 {
		p.Requests = math.MaxInt32
	}
	if s.Variable == Concurrency {
		p.Concurrency, p.Rate, p.Arrival, p.Burstiness = int(load), 0, "", 0
	} else {
		p.Rate, p.Concurrency = load, 0
		p.Arrival = cmp.Or(p.Arrival, "poisson") // users do not come in step
		if p.Warmup == (bench.Warmup{}) {
			p.Warmup.Requests = 1 // connections, lengths
		}
	}
	p.Seed += uint64(s.probes)
	p.AllowLowN = true // the search weighs them itself
	return p
}

// late says why the client was too slow to judge the server. Being busy is no
// reason, nor is reading late where only whole answers and first tokens are
// judged: it moves an arrival by milliseconds. harsh: it can only have made the
// server look worse, as what counts from when a request was due does when
// the request leaves late. Of all else that is not so: requests that leave late
// come in smaller bursts, which are easier on the time between tokens and on limits.
func late(r *run.Run, objectives []objective.Objective) (why string, harsh bool) {
	checks := []string{"send_late", "client_errors"}
	if slices.ContainsFunc(objectives, func(o objective.Objective) bool { return !slices.Contains(coarse, o.Metric) }) {
		checks = append(checks, "client_lag")
	}
	harsh = !slices.ContainsFunc(objectives, func(o objective.Objective) bool {
		return (o.OfRequests() || o.Criterion) && !slices.Contains(fromDue, o.Metric)
	})
	for _, c := range r.Validity.Checks {
		if c.Verdict != validity.Invalid || c.Name == "send_late" && harmless(c.Value, r, objectives) {
			continue
		}
		if slices.Contains(checks, c.Name) {
			why = cmp.Or(why, c.Name+": "+c.Says)
			harsh = harsh && c.Name == "send_late"
		}
		harsh = harsh && c.Name != "achieved_over_offered"
	}
	return why, harsh && why != ""
}

// harmless reports whether leaving so late (ms) is too little to matter: a tenth
// of the tightest limit on a time that counts from when a request was due, and where
// other figures are judged, which are better in smaller bursts, a tenth of the time of
// a request.
func harmless(late timeline.Opt[float64], r *run.Run, objectives []objective.Objective) bool {
	tightest := math.Inf(1)
	for i := range objectives {
		switch o := &objectives[i]; {
		case o.Metric == "goodput" || !o.OfRequests() && !o.Criterion:
		case slices.Contains(fromDue, o.Metric):
			tightest = math.Min(tightest, o.Limit)
		default:
			tightest = math.Min(tightest, r.Metrics["e2e_ms"].P50.Or(math.Inf(1)))
		}
	}
	ms, ok := late.Get()
	return ok && !math.IsInf(tightest, 0) && ms <= tightest/10
}

// fromDue are the metrics that count from when a request was due, and goodput,
// which has no time of its own.
var fromDue = []string{"ttft", "turn_ttft", "ttfo", "e2e", "goodput"}

// coarse are the metrics that reading late does not touch.
var coarse = []string{"ttft", "turn_ttft", "ttfo", "e2e", "session_e2e", "goodput", "error_rate", "check_pass", "task_success"}

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
