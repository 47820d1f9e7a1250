package sweep

import (
	"fmt"
	"math"

	"tokenmeter/metric"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
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
	// The largest load that seemed to hold and the smallest that seemed to fail,
	// where nothing was shown firmly: odds of 4 to 1. 0: none.
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

// lean fills in what seemed to be where nothing is known for sure.
func (h *hunt) lean() {
	f := &h.found
	for i := range f.Probes {
		p := &f.Probes[i]
		if p.spoilt {
			continue
		}
		if p.decided == holds && f.Holds == 0 && (f.Fails == 0 || p.Load < f.Fails) {
			f.SeemsHolds = math.Max(f.SeemsHolds, p.Load)
		}
		if p.decided == fails && f.Fails == 0 && p.Load > f.Holds && (f.SeemsFails == 0 || p.Load < f.SeemsFails) {
			f.SeemsFails = p.Load
		}
	}
	if f.SeemsFails > 0 && f.SeemsHolds >= f.SeemsFails { // they contradict each other
		f.SeemsHolds, f.SeemsFails = 0, 0
	}
}

// next says what would narrow the bracket.
func (h *hunt) next() string {
	f := &h.found
	late := h.lates > 0
	switch {
	case f.Settled:
		return ""
	case f.Holds > 0 && f.Fails > 0:
		if h.closed(1 + h.Width) {
			return ""
		}
		wide := f.Fails/f.Holds - 1
		text := fmt.Sprintf("The bracket is %s %% wide: more --max-time narrows it", metric.Significant(100*wide, 2))
		if wide < near-1 {
			text += ", to half in about four times as long"
		}
		return text + "."
	case h.beyond != nil:
		return "Run the client on a quieter or larger machine to look further up."
	case late && f.Holds == 0:
		return "Run the client on a quieter machine, or give more --max-time."
	case f.Holds > 0:
		return fmt.Sprintf("No upper end was found: start higher (--from %v) or give more --max-time.", digits(f.Holds, math.Round))
	case f.SeemsHolds > 0:
		return fmt.Sprintf("Give more --max-time, or start near the limit (--from %v).", digits(f.SeemsHolds, math.Round))
	case f.Fails > 0:
		return "No lower end was found: start lower (--from) or give more --max-time."
	}
	return "Give more --max-time."
}
