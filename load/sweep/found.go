package sweep

import (
	"maps"
	"math"
	"slices"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/timeline"
)

// Found is where the objectives cease to hold.
type Found struct {
	Variable string
	Holds    float64 // the largest load that was shown to hold; 0: none did
	Fails    float64 // the smallest that was shown to fail; 0: none did
	// Confidence that the load at which the objectives cease to hold lies between.
	Confidence float64
	Requests   int64
	Probes     []Probe
	// Settled: the bracket is as narrow as was asked. Else Why says what was in the way.
	Settled bool
	Why     string
	Next    string // what would narrow the bracket; empty when nothing need be done
	// The largest load that seems to hold and the smallest that seems to fail, where
	// nothing was shown firmly: what all probes together lean to. 0: none.
	SeemsHolds, SeemsFails float64
	Missed                 []string // objectives on the whole run, missed at Holds
}

// GoodShare is the share of good requests under the objective nearest to its limit.
func (p *Probe) GoodShare() (share float64, ok bool) {
	return p.Share, !math.IsNaN(p.Share) && p.Share >= 0 && p.Share <= 1
}

// Result is what was found as sweep.json keeps it.
func (f *Found) Result(objectives []string) *result.Found {
	out := &result.Found{Objectives: objectives, Variable: f.Variable, Confidence: f.Confidence, Probes: len(f.Probes),
		Requests: f.Requests, Settled: f.Settled, Why: f.Why, Next: f.Next, Missed: f.Missed}
	for _, x := range []struct {
		to   *timeline.Opt[float64]
		load float64
	}{{&out.Holds, f.Holds}, {&out.Fails, f.Fails}, {&out.SeemsHolds, f.SeemsHolds}, {&out.SeemsFails, f.SeemsFails}} {
		if x.load > 0 {
			*x.to = timeline.Some(x.load)
		}
	}
	for _, p := range f.Probes {
		step := result.Step{Load: p.Load, Says: p.Says, Firm: p.Firm, Repeat: p.Repeat, Grows: p.Grows, Requests: p.Requests,
			Worst: p.Worst, Run: p.Run, Note: p.Note}
		if step.Note == "" {
			step.Note = p.Unsettled
		}
		if share, ok := p.GoodShare(); ok {
			step.Share = timeline.Some(share)
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// lean fills in what seems to be where nothing is known for sure: the loads are cut
// where the odds of all probes, for holding below and for failing above, are best.
func (h *hunt) lean() {
	f := &h.found
	odds := map[float64]float64{}
	for i := range f.Probes {
		p := &f.Probes[i]
		switch {
		case p.spoilt || p.light:
		case p.above || p.early: // nothing says that the server keeps up
			odds[p.Load] += math.Min(p.leaning(), 0)
		default:
			odds[p.Load] += p.leaning()
		}
	}
	loads := slices.Sorted(maps.Keys(odds))
	best, sum, cut := 0.0, 0.0, 0
	for i, load := range loads {
		if sum += odds[load]; sum > best {
			best, cut = sum, i+1
		}
	}
	for i, load := range loads {
		switch {
		case i < cut && best > leans && odds[load] > 0 && f.Holds == 0 && (f.Fails == 0 || load < f.Fails):
			f.SeemsHolds = load
		case i >= cut && sum-best < -leans && odds[load] < 0 && f.Fails == 0 && load > f.Holds && f.SeemsFails == 0:
			f.SeemsFails = load
		}
	}
}

// leaning is the odds for a load, as a logarithm; what was decided is worth a step
// on the way at least.
func (p *Probe) leaning() float64 {
	odds := math.Max(math.Min(p.odds, surest), -surest)
	switch p.decided {
	case holds:
		return math.Max(odds, weak)
	case fails:
		return math.Min(odds, -weak)
	}
	return odds
}

// surest bounds the odds of a single probe.
const surest = 100
