package sweep

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/load/sweep/result"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Found is where the objectives cease to hold.
type Found struct {
	Variable string
	Holds    float64 // the largest load that held, also twice with fresh requests; 0: none did
	Fails    float64 // the smallest that was shown to fail, above every load that held; 0: none was
	// Confidence that nothing that is said of any load is wrong.
	Confidence float64
	Requests   int64
	Probes     []Probe
	// Settled: the bracket is as narrow as was asked. Else Why says what was in the way.
	Settled bool
	Why     string
	// Unknown is what the answer leaves open, whatever it says; empty where there is none.
	Unknown string
	Next    string   // what would narrow the bracket; empty when nothing need be done
	Missed  []string // objectives on the whole run, missed at Holds
}

// GoodShare is the share of good requests under the objective nearest to its limit.
func (p *Probe) GoodShare() (share float64, ok bool) {
	return p.Share, !math.IsNaN(p.Share) && p.Share >= 0 && p.Share <= 1
}

// Result is what was found as sweep.json keeps it.
func (f *Found) Result(objectives []string) *result.Found {
	out := &result.Found{Objectives: objectives, Variable: f.Variable, Confidence: f.Confidence, Probes: len(f.Probes),
		Requests: f.Requests, Settled: f.Settled, Why: f.Why, Unknown: f.Unknown, Next: f.Next, Missed: f.Missed}
	if f.Holds > 0 {
		out.Holds = timeline.Some(f.Holds)
	}
	if f.Fails > 0 {
		out.Fails = timeline.Some(f.Fails)
	}
	for _, p := range f.Probes {
		step := result.Step{Load: p.Load, Says: p.Says, Firm: p.Firm, Repeat: p.Repeat, Grows: p.Grows, Requests: p.Requests,
			Worst: p.Worst, Run: p.Run, Note: p.Note}
		step.Note = cmp.Or(step.Note, p.Unsettled)
		if share, ok := p.GoodShare(); ok {
			step.Share = timeline.Some(share)
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// answer is what the probes that were made say.
func (h *hunt) answer(f *Found) {
	f.Fails = h.smallest()
	if load := h.largest(); load > 0 && len(h.at(load)) > again {
		f.Holds = load
	}
	for _, p := range h.at(f.Holds) {
		f.Missed = p.Missed
	}
	f.Unknown = h.unknown(f)
}

// conclude adds why the search ended there, and what to do about it.
func (h *hunt) conclude(err error) {
	f := &h.found
	h.answer(f)
	if err != nil && f.Why == "" {
		f.Why = "broken off: " + err.Error()
	}
	if f.Why == done {
		f.Why = ""
	}
	if h.contrary() {
		f.Why = strings.TrimPrefix(f.Why+"; more load was not always worse, so the bracket is as wide as what held and what failed", "; ")
	}
	f.Settled = f.Why == "" && h.beyond == nil && (f.Holds > 0 || f.Fails > 0)
	if f.Why == "" && h.beyond != nil {
		f.Why = h.beyond.Error()
	}
	if err == nil {
		f.Next = h.advice()
	}
}

// contrary reports whether a load did worse than a larger one, or than itself.
func (h *hunt) contrary() bool {
	for i := range h.found.Probes {
		for j := range h.found.Probes {
			p, q := &h.found.Probes[i], &h.found.Probes[j]
			if p.full() && q.full() && p.decided == fails && q.decided == holds && q.Load >= p.Load {
				return true
			}
		}
	}
	return false
}

// unknown is what no probe of this length can know. Of something that comes at random, so
// often that a time T holds three of it on average, nothing is seen with probability e⁻³ = 5 %.
func (h *hunt) unknown(f *Found) string {
	if f.Holds == 0 {
		return ""
	}
	seen := float64(len(h.at(f.Holds))) * h.ProbeTime.Seconds()
	return fmt.Sprintf("It held three times for %v; what happens less often than once in %v is not excluded.",
		h.ProbeTime.Round(time.Second), (time.Duration(seen / 3 * float64(time.Second))).Round(time.Second))
}

// advice asks for the time that would decide what stayed open.
func (h *hunt) advice() string {
	f := &h.found
	if f.Settled {
		return ""
	}
	// The open load that takes least; without an end that is missing only those inside.
	best := math.Inf(1)
	load := 0.0
	for i := range f.Probes {
		p := &f.Probes[i]
		if p.full() && p.decided == unclear && p.look.longer > 1 && p.look.longer < best {
			best, load = p.look.longer, p.Load
		}
	}
	if n := h.quiet(); n > 0 {
		return fmt.Sprintf("The server answered nothing of the last %s: look whether it still works.", metric.Plural(int64(n), "probe"))
	}
	if math.IsInf(best, 1) || best > 1000 {
		if h.MaxTime > 0 && strings.Contains(f.Why, "time was up") {
			return "Give more --max-time."
		}
		return ""
	}
	probe := time.Duration(best * float64(h.ProbeTime)).Round(time.Second)
	whole := probe * ofTime
	return fmt.Sprintf("Probes of about %v would decide %s: --max-time %v.", rounded(probe), h.words(load), rounded(whole))
}

// quiet is how many of the last probes the server answered nothing of.
func (h *hunt) quiet() (n int) {
	for i := len(h.found.Probes) - 1; i >= 0 && h.found.Probes[i].Silent; i-- {
		n++
	}
	return n
}

// rounded leaves no digits that nobody needs.
func rounded(d time.Duration) string {
	switch {
	case d > 2*time.Hour:
		d = d.Round(10 * time.Minute)
	case d > 10*time.Minute:
		d = d.Round(time.Minute)
	default:
		d = d.Round(time.Second)
	}
	text := d.String()
	if d >= time.Minute && d%time.Minute == 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d >= time.Hour && d%time.Hour == 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
