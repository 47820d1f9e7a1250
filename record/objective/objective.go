// Package objective is one grammar for promises ("p99 tpot < 120ms") and one
// predicate on records, used by bench, sweep, compare, the service levels and
// the proxy alike.
//
//	[pNN|mean|max|min] METRIC OP VALUE[unit] [valid: success]
//	error rate < 0.1%   goodput > 99%   check pass >= 98%
//	availability >= 99.9%   (the same as error rate <= 0.1%)
//	task success < 60s >= 95%
//	ttft:500 tpot:50        (limits that make a request good, no promise of their own)
//
// A failed request is bad in every objective, unless the objective says
// `valid: success`. What can't be judged (one token has no TPOT) leaves
// numerator and denominator.
package objective

// Objective is one parsed promise.
type Objective struct {
	Text       string  // normalised; parses to the same objective
	Metric     string  // name without unit: ttft, tpot, itl, e2e, error_rate, goodput, …
	Stat       string  // "p99", "mean", "max", "min"; empty: every request, or a ratio
	Percentile float64 // 0.99 for p99; 0 otherwise
	Op         string  // <, <=, >, >=
	Limit      float64 // in the metric's own unit (ms, tokens/s, ratio)
	Valid      string  // "" or "success": failed requests leave the sample

	// Criterion: the limit only says which requests are good (`ttft:500`, or
	// beside a `goodput` objective); it has no verdict of its own.
	Criterion bool
	// Within is the time a task may take, in ms; task_success only, 0 without.
	Within   float64
	WithinOp string // < or <=
}

// String returns the normalised text.
func (o Objective) String() string { return o.Text }

// Target is the share of good requests that the objective promises: 0.99 for
// "p99 tpot < 120ms", 0.999 for "error rate < 0.1%". ok is false where no
// share is promised (a mean, a throughput).
func (o Objective) Target() (share float64, ok bool) {
	switch {
	case o.Percentile > 0 && o.below():
		return o.Percentile, true
	case o.Percentile > 0:
		return 1 - o.Percentile, true
	case o.Stat == "max" || o.Stat == "min":
		return 1, true
	case o.Metric == "error_rate":
		return 1 - o.Limit, true
	case o.Metric == "goodput" || o.Metric == "check_pass" || o.Metric == "task_success":
		return o.Limit, true
	}
	return 0, false
}

// Hint says what an objective probably does not mean, in words; empty when
// there is nothing to say. The tail that hurts is the slow one, and of a speed
// that is the low percentile.
func (o Objective) Hint() string {
	if o.Percentile > 0.5 && !o.below() && o.subject().higher {
		low := o
		low.Percentile = 1 - o.Percentile
		low.Stat = percentileName(low.Percentile)
		return o.Stat + " of " + o.Metric + " is its fast end; \"" + low.canonical() + "\" promises it to " +
			share(o.Percentile) + " of the requests"
	}
	return ""
}

// below reports whether small values are good.
func (o Objective) below() bool { return o.Op == "<" || o.Op == "<=" }

// Holds reports whether a value keeps the limit.
func (o Objective) Holds(v float64) bool { return compare(v, o.Op, o.Limit) }

func compare(v float64, op string, limit float64) bool {
	switch op {
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	}
	return false
}
