package method

import (
	"math"
	"path/filepath"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/run"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// seen is what a point's records say.
type seen struct {
	records []metric.Record // of requests that the run's end did not cut off
	good    []metric.Record // of these, the successful ones
	from    float64         // s on the run's clock: the first request was due
	until   float64         // the last one was
	first   float64         // the last first token of all
	last    float64         // the last token of all
	// The last successful request to be due, and when it was complete.
	lastDue, lastDone float64
	lasted            float64 // s for which queries were issued
	partial           bool    // the run was stopped
}

// look reads the records of a point.
func look(s *result.Sweep, p *result.Point) (out seen, ok bool) {
	f, err := run.Open(filepath.Join(s.Dir, p.Run))
	if err != nil {
		return out, false
	}
	defer f.Close()
	out.from, out.lastDue = math.Inf(1), math.Inf(-1)
	for tl, err := range f.Timelines() {
		if err != nil || !tl.Phase.Counts() || tl.Outcome.Cancelled() {
			continue
		}
		r := metric.ScalarsOf(tl)
		r.Server = nil
		out.add(r)
	}
	out.partial = f.Run().Partial
	out.lasted = out.issued(f.Run().Load, f.Run().Partial)
	return out, len(out.records) > 0
}

// longGap is how many times the mean time between two queries may pass without one, in
// a Poisson process too.
const longGap = 20

// issued is for how many seconds queries were issued: as long as the run was to last,
// unless it ended before that. The last query is due some time before the end.
func (s *seen) issued(load run.Load, partial bool) float64 {
	span, n := s.until-s.from, len(s.records)
	asked, timed := load.DurationS.Get()
	if partial || !timed || load.Requests.OK() || n < 2 || asked-span > longGap*span/float64(n-1) {
		return span
	}
	return math.Max(span, asked)
}

func (s *seen) add(r metric.Record) {
	s.records = append(s.records, r)
	s.from, s.until = math.Min(s.from, r.DueS), math.Max(s.until, r.DueS)
	if r.Outcome != timeline.OK {
		return
	}
	s.good = append(s.good, r)
	if ms, ok := r.TTFTMS.Get(); ok {
		s.first = math.Max(s.first, r.DueS+ms/1e3)
	}
	if ms, ok := r.E2EMS.Get(); ok {
		s.last = math.Max(s.last, r.DueS+ms/1e3)
		if r.DueS >= s.lastDue {
			s.lastDue, s.lastDone = r.DueS, r.DueS+ms/1e3
		}
	}
}

func (s *seen) failed() int { return len(s.records) - len(s.good) }

// sum adds up a count over the successful requests; empty where one has none.
func (s *seen) sum(count func(*metric.Record) timeline.Opt[int64]) opt {
	total := int64(0)
	for i := range s.good {
		n, ok := count(&s.good[i]).Get()
		if !ok {
			return opt{}
		}
		total += n
	}
	return some(float64(total))
}

// share is a count of tokens over all input tokens; empty where a request lacks one of
// them.
func (s *seen) share(count func(*metric.Record) opt) opt {
	part, all := 0.0, 0.0
	for i := range s.good {
		r := &s.good[i]
		n, ok := count(r).Get()
		in, told := r.InputTokens.Get()
		if !ok || !told {
			return opt{}
		}
		part, all = part+n, all+float64(in)
	}
	return ratio(part, all)
}

func inputs(r *metric.Record) timeline.Opt[int64]  { return r.InputTokens }
func outputs(r *metric.Record) timeline.Opt[int64] { return r.OutputTokens }

// values is the sample of a figure of the successful requests.
func (s *seen) values(of func(*metric.Record) opt) stat.Sorted {
	var all stat.Sample
	for i := range s.good {
		if v, ok := of(&s.good[i]).Get(); ok {
			all.Add(v)
		}
	}
	return all.Sorted()
}

func ttft(r *metric.Record) opt { return r.TTFTMS }
func tpot(r *metric.Record) opt { return r.TPOTMS }
func e2e(r *metric.Record) opt  { return r.E2EMS }

func quantile(v stat.Sorted, p float64) opt {
	if x, ok := stat.Quantile(v, p); ok {
		return some(x)
	}
	return opt{}
}

func mean(v stat.Sorted) opt {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return ratio(sum, float64(len(v)))
}

// through looks at a point under another tool's definitions.
func through(name string, s *result.Sweep, p *result.Point) (rows map[string]lens.Row, order []string) {
	f, err := run.Open(filepath.Join(s.Dir, p.Run))
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	sum := f.Run()
	facts := lens.Facts{Summary: &sum.Summary}
	if sum.Load.Kind == "closed" {
		facts.Concurrency = sum.Load.Concurrency
	}
	tables, err := lens.Apply([]string{name}, func(yield func(*timeline.Timeline) bool) {
		for tl, err := range f.Timelines() {
			if err == nil && !yield(tl) {
				return
			}
		}
	}, facts)
	if err != nil || len(tables) == 0 {
		return nil, nil
	}
	rows = map[string]lens.Row{}
	for _, r := range tables[0].Rows {
		rows[r.Name] = r
		order = append(order, r.Name)
	}
	return rows, order
}
