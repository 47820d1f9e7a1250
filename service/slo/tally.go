package slo

import (
	"slices"
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
)

// Labels are where a request went, by dimension: model, route, …
type Labels map[string]string

// Applies reports whether a request belongs to the objective.
func (o *Objective) Applies(l Labels) bool {
	for name, value := range o.Where {
		if l[name] != value {
			return false
		}
	}
	return true
}

// Group is the group of a request; "" without By.
func (o *Objective) Group(l Labels) string {
	values := make([]string, len(o.By))
	for i, name := range o.By {
		values[i] = l[name]
	}
	return strings.Join(values, "/")
}

// NeedLists reports whether records must come with their lists of gaps.
func NeedLists(objectives []*Objective) bool {
	return slices.ContainsFunc(objectives, func(o *Objective) bool { return objective.NeedLists(o.Promises) })
}

// Tally is what one request adds to an objective. It is good when the limit
// holds for it, bad when not or when it failed, excluded when it was cancelled
// or can't be judged. Of gaps each one counts; a failed request adds its gaps,
// and at least one, as bad. Warm-up requests add nothing.
func (o *Objective) Tally(r *metric.Record) Counts {
	if !r.Phase.Counts() || len(o.Promises) == 0 {
		return Counts{}
	}
	p := o.Promises[0]
	if p.Metric == "goodput" {
		good, applies := objective.GoodOf(o.Promises, r).Get()
		return countOf(applies, good)
	}
	if p.Metric == "itl" || p.Metric == "icl" {
		return o.tallyGaps(&p, r)
	}
	// The statistic is the target; single requests are judged by the limit.
	p.Stat, p.Percentile = "", 0
	v := p.Check(r)
	return countOf(v != objective.NotEvaluable, v == objective.Good)
}

func countOf(valid, good bool) Counts {
	switch {
	case !valid:
		return Counts{Excluded: 1}
	case good:
		return Counts{Good: 1, Valid: 1}
	}
	return Counts{Valid: 1}
}

func (o *Objective) tallyGaps(p *objective.Objective, r *metric.Record) Counts {
	gaps := r.ITLMS
	if p.Metric == "icl" {
		gaps = r.ICLMS
	}
	switch {
	case r.Outcome.Cancelled(), r.Outcome.Failed() && p.Valid == "success":
		return Counts{Excluded: 1}
	case r.Outcome.Failed():
		return Counts{Valid: max(int64(len(gaps)), 1)}
	case len(gaps) == 0:
		return Counts{Excluded: 1}
	}
	c := Counts{Valid: int64(len(gaps))}
	for _, gap := range gaps {
		if p.Holds(gap) {
			c.Good++
		}
	}
	return c
}

// Increments are what one request adds to all objectives on requests and gaps.
// Of slices of requests they are what goes into a Slicer, under Objective.Raw.
// Tasks are counted when they are over: see Task.
func Increments(objectives []*Objective, source Source, l Labels, at time.Time, r *metric.Record) []Increment {
	var out []Increment
	seen := map[Key]bool{}
	for _, o := range objectives {
		if len(o.Promises) == 0 || o.OfTasks() || !o.Applies(l) || !slices.Contains(o.Sources, source) {
			continue
		}
		k := Key{o.Hash, source, o.Group(l)}
		if o.Kind == Slices {
			k.Hash = o.Raw
		}
		if c := o.Tally(r); !c.IsZero() && !seen[k] {
			seen[k] = true
			out = append(out, Increment{k, at, c})
		}
	}
	return out
}

// OfTasks reports whether the objective counts tasks of several requests.
func (o *Objective) OfTasks() bool {
	return len(o.Promises) > 0 && o.Promises[0].Metric == "task_success"
}

// FigureOf is what one request adds to the two sums of an objective's figure,
// counted when it ends; ok is false where it adds nothing or that is unknown.
func (o *Objective) FigureOf(r *metric.Record) (over, under float64, ok bool) {
	if o.Figure == nil || !r.Phase.Counts() {
		return 0, 0, false
	}
	tokens, haveTokens := r.OutputTokens.Get()
	input, haveInput := r.InputTokens.Get()
	usd, priced := r.CostUSD.Get()
	switch o.Figure.Name {
	case "system_output_tps", "delivered_tps":
		return float64(tokens), 0, haveTokens
	case "system_input_tps":
		return float64(input), 0, haveInput
	case "requests_per_s":
		return 1, 0, true
	case "chars_per_s":
		return float64(r.InputChars.Or(0)), 0, r.Error == nil && r.InputChars.OK()
	case "audio_s_per_s":
		return r.AudioS.Or(0), 0, r.Error == nil && r.AudioS.OK()
	case "images_per_s":
		return float64(r.Images.Or(0)), 0, r.Error == nil && r.Images.OK()
	case "inputs_per_s":
		return float64(r.Inputs.Or(0)), 0, r.Error == nil && r.Inputs.OK()
	case "goodput_per_s":
		good, _ := r.Good.Get()
		return float64(countOf(true, good).Good), 0, r.Good.OK()
	case "usd_per_1k_output", "usd_per_m_output":
		return usd, float64(tokens), priced && haveTokens
	case "usd_per_m_total":
		return usd, float64(tokens + input), priced && haveTokens && haveInput
	case "usd_per_request":
		return usd, 1, priced
	case "requests_per_usd", "qps_per_usd":
		return 1, usd, priced
	}
	return 0, 0, false
}

// Dollars is what dollars that are spent by the hour, on GPUs and not on
// requests, add to the two sums of a figure; nothing where it has none.
func (f *Figure) Dollars(usd float64) (over, under float64) {
	switch line := figures[f.Name]; {
	case line.over == "dollars":
		return usd, 0
	case line.under == "dollars":
		return 0, usd
	}
	return 0, 0
}
