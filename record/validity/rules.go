package validity

import (
	"fmt"
	"math"
	"strings"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Rule is a check with its limits. A figure beyond a limit gets its verdict.
type Rule struct {
	Name    string
	Figure  string // what is held against the limits
	Applies string // to which runs; empty: all
	Suspect float64
	Invalid float64
	MS      bool // the figure is a time in ms, not a share
	Under   bool // it should be large: beyond is below
	// Bears are the families of figures that it can spoil; a check may find that it
	// spoils fewer.
	Bears []string

	test func(*Rule, *Facts) (c Check, applies bool)
}

// Rules are all checks, in the order in which they are made. Adding one is a
// function and a line here.
var Rules = []Rule{
	{Name: "client_lag", Figure: "how late arrivals were read (p99) against the median gap between tokens; with kernel stamps only of those that lost their own time by waiting", Suspect: 0.10, Invalid: 0.50, Bears: []string{TTFT, TPOT, ITL, Throughput}, test: clientLag},
	{Name: "send_late", Figure: "how late requests left (p99) through the client's own doing", Applies: "open loop", Suspect: 5, Invalid: 50, MS: true, Bears: []string{TTFT, E2E, Throughput, Delay}, test: sendLate},
	{Name: "achieved_over_offered", Figure: "the rate that was sent against the rate that was due", Applies: "open loop", Suspect: 0.99, Invalid: 0.95, Under: true, Bears: load, test: achieved},
	{Name: "coalesced", Figure: "events that came together with another of the same choice, or streams that came in bursts, whichever is more", Suspect: 0.05, Invalid: 0.25, Bears: []string{TTFT, TPOT, ITL}, test: coalesced},
	{Name: "cpu_busy", Figure: "how busy the cores were that the client may use; where the kernel stamped the arrivals and `client_lag` and `coalesced` hold, suspect at worst, and only throughput and the client's lateness are", Suspect: 0.70, Invalid: 0.90, Bears: Figures, test: cpuBusy},
	{Name: "steal", Figure: "processor time that the host took, or a container's quota", Suspect: 0.02, Invalid: 0.10, Bears: Figures, test: steal},
	{Name: "drift", Figure: "change of the medians of TTFT and TPOT (of E2E, where nothing was streamed; of speech TTFA and E2E) between the halves of the run, beyond their intervals", Suspect: 0.10, Invalid: 0.30, Bears: []string{TTFT, TPOT, ITL, E2E, Throughput}, test: drift},
	{Name: "prefix_hits", Figure: "prompt tokens that came from the server's cache, beyond a template that was measured", Applies: "prompts meant to be new", Suspect: 0.05, Invalid: 0.25, Bears: load, test: prefixHits},
	{Name: "osl_shortfall", Figure: "how much shorter answers are than asked; over 20 % longer ones are suspect", Applies: "a length was asked for", Suspect: 0.05, Invalid: metric.FarShort, Bears: load, test: oslShortfall},
	{Name: "isl_error", Figure: "how far the mean prompt length is from the asked one; with --allow-isl-drift suspect at worst", Applies: "a length was asked for", Suspect: 0.05, Invalid: 0.20, Bears: load, test: islError},
	{Name: errorsCheck, Bears: load, Figure: "requests that failed; a run without any is invalid", Suspect: 0.01, Invalid: 0.50, test: errorShare},
	{Name: "silence", Bears: []string{TTFT, E2E, Throughput, Errors}, Figure: "time at the end in which nothing came, while every stream of a closed loop waited, or until the last request of an open one was due, of the time under load", Applies: "it is over 10 %, and longer than any answer was waited for", Suspect: 0.10, Invalid: 0.30, test: silence},
	{Name: "client_errors", Bears: load, Figure: "requests that failed in the client itself (client_resource)", Applies: "there are some", Suspect: 0, Invalid: 0.01, test: clientErrors},
}

// Topics explains the checks.
func Topics() []metric.Topic {
	var all []metric.Topic
	for i := range Rules {
		all = append(all, metric.Topic{Name: Rules[i].Name, Kind: "checks", Title: Rules[i].Figure, Text: Rules[i].Text()})
	}
	return all
}

// Text is the rule in a few lines, for a terminal.
func (r *Rule) Text() string {
	lines := [][2]string{{"figure", r.Figure}, {"applies to", r.Applies}, {"suspect", r.Beyond(r.Suspect)}, {"invalid", r.Beyond(r.Invalid)}, {"bears on", r.BearsOn()}}
	return metric.Paragraph(r.Name+" (check of a run)", lines)
}

// BearsOn names the families of figures that the check can spoil.
func (r *Rule) BearsOn() string {
	if len(r.Bears) == len(Figures) {
		return "all"
	}
	return strings.Join(r.Bears, ", ")
}

// Beyond writes what is beyond a limit: "> 10 %".
func (r *Rule) Beyond(limit float64) string {
	sign := ">"
	if r.Under {
		sign = "<"
	}
	if r.MS {
		return fmt.Sprintf("%s %g ms", sign, limit)
	}
	return fmt.Sprintf("%s %g %%", sign, math.Round(limit*1000)/10)
}

type opt = timeline.Opt[float64]

// judge makes the check of a figure. The limit shown is the one that was
// passed, or the nearest.
func (r *Rule) judge(value opt, says string) Check {
	c := Check{Name: r.Name, Verdict: Unknown, Value: value, Limit: timeline.Some(r.Suspect), Says: says}
	v, ok := value.Get()
	switch {
	case !ok || math.IsNaN(v) || math.IsInf(v, 0):
		c.Value = opt{}
	case r.beyond(v, r.Invalid):
		c.Verdict, c.Limit = Invalid, timeline.Some(r.Invalid)
	case r.beyond(v, r.Suspect):
		c.Verdict = Suspect
	default:
		c.Verdict = Valid
	}
	return c
}

func (r *Rule) beyond(v, limit float64) bool {
	if r.Under {
		return v < limit
	}
	return v > limit
}
