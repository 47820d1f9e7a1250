package compare

import (
	"math"

	"tokenmeter/record/stat"
)

// What is worth proposing: beyond it more of the same is no plan.
const (
	mostMore   = 1_000_000 // requests
	mostFactor = 20        // times what there is
)

// power is how often a proposal is enough, if the figures are what they seem.
const power = 0.9

// room is how many times a half interval must fit into a distance, so that an estimate that
// varies by its error stays beyond it, at this chance of error, with that power.
func room(wrong float64) float64 {
	return (stat.NormalQuantile(1-wrong/2) + stat.NormalQuantile(power)) / stat.NormalQuantile((1+Confidence)/2)
}

// wanted is the half interval that would settle a figure, one of so many tests: narrow enough
// to show what it is beyond the first distance, or inside the second.
func wanted(beyond, inside float64, tests int) float64 {
	return math.Max(beyond/room(Level/float64(max(tests, 1))), inside/room(1-Confidence))
}

// more is what would settle a figure, one of so many tests: enough to narrow its interval until it
// either leaves zero behind or fits into the margin, whichever is nearer. nil
// where more of the same would not help, or can't be told. Of sessions it is not told: what
// is proposed is a number of requests, or runs.
func (f *finding) more(o *Options, m *measure, tests int) *More {
	if f.interval == nil || f.why != "" || m.kind == ofSession {
		return nil
	}
	diff, half, margin := f.spread(o, m)
	if f.unit == ByRequest && m.kind != ofShare {
		// Beyond the noise of runs: a difference that is not larger than this
		// needs repeats, however many requests there are.
		more := f.moreOfRequests(half, wanted(math.Abs(diff)-math.Log1p(o.RunNoise), margin-math.Abs(diff), tests))
		if more == nil {
			more = moreOfRuns(half, wanted(math.Abs(diff), margin-math.Abs(diff), tests))
		}
		return more
	}
	target := wanted(math.Abs(diff), margin-math.Abs(diff), tests)
	if !(half > target) || target <= 0 {
		// The interval would do; chance was against it.
		target = half / 1.3
	}
	factor := half / target
	factor *= factor
	if !(factor <= mostFactor) {
		return nil
	}
	if f.unit != ByRequest {
		runs := max(f.runs[0], f.runs[1])
		return &More{Runs: max(1, int64(math.Ceil(float64(runs)*(factor-1))))}
	}
	return f.requests(factor)
}

// spread is the difference, half its interval and the margin on one scale.
func (f *finding) spread(o *Options, m *measure) (diff, half, margin float64) {
	if m.kind == ofShare {
		return f.b.Or(0) - f.a.Or(0), (f.interval[1] - f.interval[0]) / 2, o.WithinShare
	}
	return math.Log(f.b.Or(1) / f.a.Or(1)), math.Log(f.interval[1]/f.interval[0]) / 2, math.Log1p(o.Within)
}

// fewestRepeats is how many runs a side are proposed where single runs can't settle it, at
// least: they have to tell how runs differ too, of which nothing is known yet.
const fewestRepeats = 4

// moreOfRuns narrows half an interval of single runs to the target by repeats, if runs differ
// by no more than their requests do: at most as many as are worth proposing, to see more by. nil
// where an end of the interval is no number.
func moreOfRuns(half, target float64) *More {
	if math.IsNaN(half) || math.IsInf(half, 0) || !(target > 0) {
		return nil
	}
	factor := half / target
	return &More{Runs: int64(math.Ceil(math.Min(math.Max(fewestRepeats, factor*factor), mostFactor))) - 1}
}

// moreOfRequests is nil where repeats are the better plan.
func (f *finding) moreOfRequests(half, target float64) *More {
	factor := half / target
	if target <= 0 || half <= target || factor*factor > mostFactor {
		return nil
	}
	return f.requests(factor * factor)
}

func (f *finding) requests(factor float64) *More {
	n := float64(max(f.na, f.nb)) * (factor - 1)
	if n > mostMore || math.IsNaN(n) {
		return nil
	}
	// Two significant digits: it is an estimate.
	scale := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(n, 1)))-1))
	return &More{Requests: max(1, int64(math.Ceil(n/scale)*scale))}
}
