package compare

import (
	"math"
)

// What is worth proposing: beyond it more of the same is no plan.
const (
	mostMore   = 1_000_000 // requests
	mostFactor = 20        // times what there is
)

// more is what would settle a figure: enough to narrow its interval until it
// either leaves zero behind or fits into the margin, whichever is nearer. nil
// where more of the same would not help, or can't be told. Of sessions it is not
// told: what is proposed is a number of requests, or runs.
func (f *finding) more(o *Options, m *measure) *More {
	if f.interval == nil || f.why != "" || m.kind == ofSession {
		return nil
	}
	diff, half, margin := f.spread(o, m)
	if f.unit == ByRequest && m.kind != ofShare {
		// Beyond the noise of runs: a difference that is not larger than this
		// needs repeats, however many requests there are.
		return f.moreOfRequests(diff, half, math.Log1p(o.RunNoise), margin)
	}
	target := math.Max(math.Abs(diff), margin-math.Abs(diff))
	if !(half > target) || target <= 0 {
		// The interval would do; it is the number of tests that is too large.
		target = half / 1.3
	}
	factor := half / target
	factor *= factor
	if factor > mostFactor {
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

// repeats is how many runs a side are proposed where single runs can't settle it.
const repeats = 4

func (f *finding) moreOfRequests(diff, half, noise, margin float64) *More {
	beyond, inside := math.Abs(diff)-noise, margin-math.Abs(diff)
	target := math.Max(beyond, inside)
	if target <= 0 || half <= target {
		return &More{Runs: repeats - 1}
	}
	factor := half / target
	if factor*factor > mostFactor {
		return &More{Runs: repeats - 1}
	}
	more := f.requests(factor * factor)
	if more == nil {
		return &More{Runs: repeats - 1}
	}
	return more
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
