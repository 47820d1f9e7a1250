package objective

import (
	"errors"
	"fmt"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Figure is one figure of a whole run, named as in objectives: "p95 ttft",
// "mean tpot", "output tps", "error rate".
type Figure struct {
	Text   string // in its normal form
	Metric string // name without unit
	Stat   string // p50, mean, …; empty for what a run has one of
	Higher bool   // more is better

	subject *subject
}

// ParseFigure reads a figure. Without a statistic it is the median. Refused are
// percentiles that a summary does not keep, and shares of good requests, which
// mean other things under other objectives.
func ParseFigure(text string) (Figure, error) {
	o, err := Named(text)
	if err != nil {
		return Figure{}, err
	}
	f := Figure{Metric: o.Metric, Stat: o.Stat, subject: o.subject()}
	f.Higher = f.subject.higher
	switch f.subject.class {
	case ofRequest, ofGaps:
		if f.Stat == "" {
			f.Stat = "p50"
		}
		if _, kept := new(metric.Dist).Stat(f.stat()); !kept {
			return Figure{}, fmt.Errorf("a run keeps no %s of %s: choose p50, p90, p95, p99, p99.9, mean, min or max", f.Stat, f.Metric)
		}
		f.Text = f.Stat + " " + f.Metric
	case ofRatio:
		if f.Metric != "error_rate" {
			return Figure{}, fmt.Errorf("runs with other objectives have another %s: choose error_rate, or a figure such as p95 ttft", f.Metric)
		}
		f.Text = f.Metric
	default:
		if f.Metric == goodputRate {
			return Figure{}, fmt.Errorf("runs with other objectives have another %s: choose requests_per_s", f.Metric)
		}
		f.Text = f.Metric
	}
	return f, nil
}

// Named is an objective, of whatever limit, about what text names: "p95 ttft".
func Named(text string) (Objective, error) {
	// The grammar of objectives knows every name; the limit only has to parse.
	o, err := Parse(text + " < 1")
	if err != nil {
		o, err = Parse(text + " > 0.5")
	}
	return o, WithoutText(err)
}

// WithoutText leaves out of an error the text in which it was found, for those
// whose user wrote another one.
func WithoutText(err error) error {
	var one *Error
	if !errors.As(err, &one) {
		return err
	}
	if one.Hint != "" {
		return fmt.Errorf("%s; %s", one.What, one.Hint)
	}
	return errors.New(one.What)
}

// Unit is what the value is in: ms, tokens/s, …; empty for a share.
func (f Figure) Unit() string {
	d, err := metric.Lookup(f.Metric)
	if err != nil || f.subject.unit == ratio {
		return ""
	}
	return d.Unit
}

// Of is the figure of a run and, where it has one, its 95 % interval. It is
// absent where it was not measured.
func (f Figure) Of(s *metric.Summary) (value timeline.Opt[float64], ci95 *[2]float64) {
	switch f.subject.class {
	case ofRequest, ofGaps:
		d := s.Metrics[f.subject.key]
		v, _ := d.Stat(f.stat())
		if ci, ok := d.CI95[f.stat()]; ok {
			ci95 = &ci
		}
		return v, ci95
	case ofRatio:
		return s.Requests.ErrorRate(), nil
	}
	return f.subject.run(s), nil
}

// N is of how many values the figure is; absent for one of the whole run, such as
// a rate.
func (f Figure) N(s *metric.Summary) timeline.Opt[int64] {
	switch f.subject.class {
	case ofRequest, ofGaps:
		return timeline.Some(s.Metrics[f.subject.key].N)
	case ofRatio:
		return s.Requests.Ended()
	}
	return timeline.Opt[int64]{}
}

// stat is the statistic's name in files: p999 for p99.9.
func (f Figure) stat() string { return strings.ReplaceAll(f.Stat, ".", "") }
