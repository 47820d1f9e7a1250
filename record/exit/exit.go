// Package exit decides the exit code of a command that measured or compared:
// one function of what became of the requests, the gates and the measurement.
package exit

import (
	"fmt"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Code is what a command leaves the shell with. It is never a count of failures.
type Code int

// The exit codes, all of them.
const (
	OK          Code = 0   // done, and every gate held or could not be decided
	Missed      Code = 1   // an objective or a gate failed
	Usage       Code = 2   // wrong usage or configuration, of this machine too
	Target      Code = 3   // the target failed
	Undecided   Code = 4   // nothing was decided, and that is not enough (--strict)
	Unwritten   Code = 5   // results could not be written
	Interrupted Code = 130 // what was measured is saved and marked partial
)

// Facts is what the code is made of. The zero value is a command that had
// nothing to decide.
type Facts struct {
	Answered   int64 // requests whose answer came to its end
	Failed     int64 // requests that failed
	Own        int64 // of them, those that failed for want of what this machine lacks
	Unanswered int64 // without a token when the run ended
	Cut        int64 // being answered when the run ended, or ended by the user
	None       bool  // none was answered, and nobody counted how many were not

	Gates Gates

	apart apart // what answered nothing, of what stands by itself

	// Measurement is the verdict on the measurement: valid, suspect, invalid or
	// unknown; empty where nothing was measured.
	Measurement string
	Doubt       string // why it is invalid or unknown, in words; empty: the usual ones

	NotWritten  bool // results could not be written
	Interrupted bool
	Strict      bool // what was not decided is no success
}

// And returns the facts with the requests of others added: of one target, which has
// failed where it answered none of all.
func (f Facts) And(o Facts) Facts {
	f.Answered += o.Answered
	f.Failed += o.Failed
	f.Own += o.Own
	f.Unanswered += o.Unanswered
	f.Cut += o.Cut
	f.None = f.None || o.None
	return f
}

// Beside returns the facts with those of a target or a run that stands by itself: where
// it answered nothing, that is what was found, whatever became of the others. Its name is
// for the words.
func (f Facts) Beside(name string, o Facts) Facts {
	if o.noAnswer() {
		f.apart.add(name, o)
	}
	return f.And(o)
}

// Counted returns the facts with those of a run whose failures the gates count, as
// objectives do. One of which nothing came, no failure either, is in no gate's count, so
// that it stands by itself.
func (f Facts) Counted(name string, o Facts) Facts {
	if o.Failed > 0 {
		return f.And(o)
	}
	return f.Beside(name, o)
}

// apart is the verdict on those that answered nothing by themselves: what failed itself
// goes before what this machine lacks.
type apart Verdict

func (a *apart) add(name string, o Facts) {
	v := Of(Facts{Failed: o.Failed, Own: o.Own, Unanswered: o.Unanswered, None: o.None})
	v.Says = name + ": " + v.Says
	if a.Says != "" {
		v.Says = a.Says + "; " + v.Says
	}
	a.Code, a.Says = max(a.Code, v.Code), v.Says
}

// Gates counts objectives, gates, budgets and verdicts asked for by what became of them.
type Gates struct {
	Met    int
	Missed int
	Open   int // neither met nor missed: too few requests, or no answer at all
	Void   int // it would be met, but the measurement says nothing about it
}

// Add counts a gate by its state. A state that is not known decides nothing. With void
// the measurement can't vouch for it: then it is not met, but what is missed stays missed.
func (g *Gates) Add(state string, void bool) {
	switch {
	case state == "": // not a gate
	case state == "missed":
		g.Missed++
	case state == "met" && void:
		g.Void++
	case state == "met":
		g.Met++
	default:
		g.Open++
	}
}

// Verdict is an exit code and, where the code alone would mislead, its reason
// in words; Says is empty for success and for what the result itself shows.
type Verdict struct {
	Code Code
	Says string
}

// Of decides. What was lost goes before what was found, a target that answers
// nothing before what the gates make of it, and with Strict an invalid
// measurement before gates.
func Of(f Facts) Verdict {
	undecided := f.Gates.Open + f.Gates.Void
	switch {
	case f.Interrupted:
		return Verdict{Code: Interrupted}
	case f.NotWritten:
		return Verdict{Code: Unwritten}
	case f.apart != apart{}:
		return Verdict(f.apart)
	case f.noAnswer() && f.Own > 0 && f.Own == f.Failed+f.Unanswered:
		return Verdict{Usage, f.unanswered()}
	case f.noAnswer():
		return Verdict{Target, f.unanswered()}
	case f.Strict && (f.Measurement == "invalid" || f.Measurement == "unknown"):
		return Verdict{Undecided, f.doubt() + " (--strict)"}
	case f.Gates.Missed > 0:
		return Verdict{Code: Missed}
	case undecided > 0 && f.Strict:
		return Verdict{Undecided, f.Gates.words() + " (--strict)"}
	case undecided > 0:
		return Verdict{OK, "exit 0: " + f.Gates.words() + "; --strict makes this 4"}
	}
	return Verdict{}
}

// OfRequests counts requests by what became of them: those of the warm-up where a target
// that answered none of them was given up.
func OfRequests(r *metric.Requests) Facts {
	if r.Total == 0 && !r.Untold.Total && r.Warmup == r.WarmupFailed { // it ended there, and nothing was asked besides
		return Facts{Failed: r.Warmup}
	}
	switch not := r.Untold; {
	case not.OK && not.Total: // nobody knows whether one was answered
		return Facts{}
	case not.Failed && !not.OK && r.OK == 0 && (not.Total || r.Total > 0):
		return Facts{None: true}
	}
	return Facts{Answered: r.OK, Failed: r.Failed, Own: r.ByClass[timeline.ClientResource], Unanswered: r.Unanswered,
		Cut: max(r.Total-r.OK-r.Failed-r.Unanswered-r.Unsent(), 0)}
}

// Count adds a request, as OfRequests does those of a run.
func (f *Facts) Count(tl *timeline.Timeline) {
	switch {
	case tl.Outcome == timeline.OK:
		f.Answered++
	case tl.Unsent():
	case tl.Unanswered():
		f.Unanswered++
	case tl.Outcome.Cancelled():
		f.Cut++
	default:
		f.Failed++
		if tl.Outcome == timeline.ClientResource {
			f.Own++
		}
	}
}

// Silent reports whether the target answered nothing of what it was asked, and how.
// Requests that all failed in this client itself say nothing of it.
func (f Facts) Silent() (says string, silent bool) {
	v := Of(f)
	return v.Says, v.Code == Target
}

// noAnswer reports whether nothing was answered. A request that was being answered
// when the run ended is an answer begun, and no failure.
func (f *Facts) noAnswer() bool {
	return f.Answered == 0 && f.Cut == 0 && (f.Failed+f.Unanswered > 0 || f.None)
}

func (f *Facts) doubt() string {
	switch {
	case f.Doubt != "":
		return f.Doubt
	case f.Measurement == "unknown":
		return "whether the measurement is valid is unknown: its run.json is missing or damaged"
	}
	return "the measurement is invalid, see the checks above"
}

func (f *Facts) unanswered() string {
	n := f.Failed + f.Unanswered
	all, none := fmt.Sprintf("all %d requests", n), fmt.Sprintf("none of %d requests was", n)
	if n == 1 {
		all, none = "the only request", "the only request was not"
	}
	switch {
	case f.None:
		return "no request was answered"
	case f.Own == n:
		return all + " failed in this client itself (client_resource), so nothing is known of the target; see what this machine lacks"
	case f.Unanswered == 0:
		return all + " failed"
	case f.Failed == 0:
		return none + " answered before the run ended; raise --grace or --duration if the server needs longer for a first token"
	default:
		return fmt.Sprintf("%s answered: %d failed, %d had no token when the run ended", none, f.Failed, f.Unanswered)
	}
}

// words says what was not decided.
func (g Gates) words() string {
	if g.Met == 0 {
		return "nothing was decided"
	}
	return fmt.Sprintf("%d of %d gates were not decided", g.Open+g.Void, g.Met+g.Open+g.Void)
}
