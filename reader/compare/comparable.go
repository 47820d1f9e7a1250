package compare

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Comparability is the verdict on whether two sides did the same work.
type Comparability string

// The verdicts.
const (
	ComparableRuns    Comparability = "comparable"
	DoubtfulRuns      Comparability = "doubtful" // compared, with warnings
	NotComparableRuns Comparability = "not_comparable"
)

// Comparable says whether the sides may be compared, and what stands against it.
type Comparable struct {
	Verdict Comparability `json:"verdict"`
	Why     []Reason      `json:"why"`
}

// Gravity is how much a reason weighs.
type Gravity string

// The levels of a reason.
const (
	Note   Gravity = "note"   // to know
	Warn   Gravity = "warn"   // compared all the same
	Refuse Gravity = "refuse" // not compared
)

// Refusals are the names of the reasons for which sides are not compared, unless
// Options.Allow has them.
var Refusals = []string{"input_tokens", "output_tokens", "workload", "load", "users", "invalid"}

// Reason is one difference between the sides beside the figures.
type Reason struct {
	Name  string  `json:"name"`
	Level Gravity `json:"level"`
	Says  string  `json:"says"`
	A     string  `json:"a"`
	B     string  `json:"b"`
}

func (c *Comparable) add(reasons []Reason) {
	for _, r := range reasons {
		if !slices.Contains(c.Why, r) {
			c.Why = append(c.Why, r)
		}
	}
}

func (c *Comparable) conclude() {
	weight := map[Gravity]int{Refuse: 0, Warn: 1, Note: 2}
	sort.SliceStable(c.Why, func(i, j int) bool { return weight[c.Why[i].Level] < weight[c.Why[j].Level] })
	c.Verdict = ComparableRuns
	for _, r := range c.Why {
		switch {
		case r.Level == Refuse:
			c.Verdict = NotComparableRuns
		case r.Level == Warn && c.Verdict == ComparableRuns:
			c.Verdict = DoubtfulRuns
		}
	}
}

// lengthLimit is how far mean lengths may differ.
const lengthLimit = 0.05

// flagLimit is the share of requests from which a flag matters.
const flagLimit = 0.05

// reasons lists what stands against comparing two runs, but for the lengths,
// which are those of all runs of a side together.
func reasons(a, b *Facts) []Reason {
	var list []Reason
	add := func(name string, level Gravity, va, vb, says string) {
		list = append(list, Reason{Name: name, Level: level, A: va, B: vb, Says: says})
	}
	differ := func(name string, level Gravity, va, vb, says string) {
		if va != "" && vb != "" && va != vb {
			add(name, level, va, vb, fmt.Sprintf(says, va, vb))
		}
	}
	differ("workload", Refuse, a.Workload.Kind, b.Workload.Kind, "the prompts are of another kind: %s and %s")
	differ("workload_source", Warn, base(a.Workload.Source), base(b.Workload.Source), "the prompts come from elsewhere: %s and %s")
	la, lb := a.Load.Words(), b.Load.Words()
	if other, vague := loadsDiffer(a, b); other {
		add("load", Refuse, la, lb, fmt.Sprintf("the load differs: %s and %s", la, lb))
	} else if (la == "") != (lb == "") {
		add("load", Warn, la, lb, "the load of one is not known, of the other it is "+la+lb)
	} else if vague {
		add("load", Warn, la, lb, fmt.Sprintf("the load of one is not known in full: %s and %s", la, lb))
	}
	known := func(name string, level Gravity, va, vb, usual, what, says string) { // an older folder or another tool's may not tell it
		switch {
		case va != "" && vb != "":
			differ(name, level, va, vb, what+says)
		case va+vb != "" && va+vb != usual:
			add(name, Warn, va, vb, what+" are not known of one, of the other they are "+va+vb)
		}
	}
	known("users", Refuse, a.Workload.Users, b.Workload.Users, "none", "the users who hang up or read slowly", " differ: %s and %s")
	ra, rb := a.Load, b.Load
	if !ra.RetryBudget.OK() || !rb.RetryBudget.OK() {
		ra.RetryBudget, rb.RetryBudget = timeline.Opt[float64]{}, timeline.Opt[float64]{}
	}
	known("retries", Warn, ra.FurtherTries(), rb.FurtherTries(), run.NoFurtherTry, "the further attempts of refused requests", " differ (%s and %s): waiting for them counts as latency")
	differ("api", Warn, a.Target.API, b.Target.API, "the APIs differ (%s and %s): templates and stream formats may too")
	differ("model", Warn, a.Target.Model, b.Target.Model, "the models differ (%s and %s): a token of one is not a token of the other")
	if a.Target.Model == b.Target.Model {
		differ("served_model", Warn, a.ServedModels, b.ServedModels, "the models that answered differ (%s and %s), though the same one was asked for")
	}
	differ("server", Note, a.Target.Server, b.Target.Server, "the servers differ: %s and %s")
	differ("tokenmeter_version", Note, a.Version, b.Version, "measured by different versions of tokenmeter: %s and %s")
	differ("client_machine", Warn, a.CPUModel, b.CPUModel, "the load came from different machines: %s and %s")
	differ("client_os", Warn, a.OS, b.OS, "the load came from different systems: %s and %s")
	differ("token_source", Warn, a.TokenSource, b.TokenSource, "tokens are counted from %s and from %s: figures per token are not compared")
	differ("tokenizer", Warn, tokenizerOf(a), tokenizerOf(b), "tokens are counted by different tokenizers (%s and %s): figures per token are not compared")
	differ("evidence", Warn, string(a.Evidence), string(b.Evidence), "not as much is known of both: %s and %s")
	differ("clock", Warn, string(a.Clock), string(b.Clock), "arrivals were stamped by different clocks (%s and %s), some 0.05 ms apart")
	of := func(yes bool, is, isNot string) string {
		if yes {
			return is
		}
		return isNot
	}
	wa, wb := a.Workload, b.Workload
	wholeA, told := wa.NoStream.Get()
	if wholeB, too := wb.NoStream.Get(); told && too {
		differ("streams", Warn, of(wholeA, "whole", "streamed"), of(wholeB, "whole", "streamed"), "the answers of one side were asked for whole: %s and %s")
		differ("parameters", Warn, typeset.Short(cmp.Or(wa.Parameters, "none"), 200), typeset.Short(cmp.Or(wb.Parameters, "none"), 200), "the requests had other further fields: %s and %s")
	}
	if a.Tags["imported"] == "" && b.Tags["imported"] == "" { // other tools' files don't tell these
		differ("connections", Warn, a.Load.Connections(), b.Load.Connections(), "%s and %s: opening one is part of the time to the first token")
		differ("ignore_eos", Note, of(wa.OutputIsCap, "where they end", "at the asked length"), of(wb.OutputIsCap, "where they end", "at the asked length"), "the answers were asked to end elsewhere: %s and %s")
	}
	list = append(list, shareReasons(a, b)...)
	return list
}

// base is a file without its folder: the same file lies elsewhere elsewhere.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// lengthReasons compares what was sent and what came back.
func lengthReasons(a, b *Facts) []Reason {
	return append(
		lengths("input_tokens", "input", a.InputTokens, b.InputTokens, a.Workload.InputTokens, b.Workload.InputTokens, a.AllowDrift && b.AllowDrift),
		lengths("output_tokens", "output", a.OutputTokens, b.OutputTokens, a.Workload.OutputTokens, b.Workload.OutputTokens, false)...)
}

// lengths holds the mean lengths against each other, or what was asked for
// where they were not measured.
func lengths(name, word string, a, b Length, askedA, askedB string, allowed bool) []Reason {
	ma, okA := a.Mean.Get()
	mb, okB := b.Mean.Get()
	level := Refuse
	if allowed {
		level = Warn
	}
	if !okA || !okB {
		if askedA != "" && askedB != "" && askedA != askedB {
			return []Reason{{name, level, fmt.Sprintf("other %s lengths were asked for: %s and %s", word, askedA, askedB), askedA, askedB}}
		}
		return nil
	}
	if far := apart(ma, mb); far > lengthLimit {
		return []Reason{{name, level, fmt.Sprintf("the %s lengths differ by %s: %s and %s tokens on average", word, percentText(far), typeset.Number(ma, 0), typeset.Number(mb, 0)),
			tokensText(ma), tokensText(mb)}}
	}
	if pa, pb := a.P90.Or(ma), b.P90.Or(mb); apart(pa, pb) > 2*lengthLimit {
		return []Reason{{name, Warn, fmt.Sprintf("the %s lengths are spread otherwise: the p90 is %s and %s tokens", word, typeset.Number(pa, 0), typeset.Number(pb, 0)),
			tokensText(pa), tokensText(pb)}}
	}
	return nil
}

func apart(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(b-a) / math.Max(math.Min(a, b), 1e-9)
}

func percentText(share float64) string {
	if share > 10 {
		return "more than ten times"
	}
	return typeset.Number(share*100, 0) + " %"
}

// tokensText is a length as programs read it: in values and in the names of groups.
func tokensText(n float64) string { return strconv.FormatFloat(n, 'f', 0, 64) }

// loadsDiffer reports whether two loads are known to differ, or else whether they may, as
// one is of a file that doesn't tell all of it.
func loadsDiffer(a, b *Facts) (differ, vague bool) {
	if a.Load.Kind == "" || b.Load.Kind == "" {
		return false, false
	}
	differ = a.Load.Kind != b.Load.Kind
	pa, pb := a.Load.Parts(), b.Load.Parts()
	untold := func(f *Facts, part *run.Part) bool { // some parts runs have kept for as long as no_stream
		later := part.Name == run.BurstinessPart || part.Name == run.TracePart
		return part.Words == "" && (f.Tags["imported"] != "" || later && !f.Workload.NoStream.OK())
	}
	for i := range pa {
		switch {
		case pa[i] == pb[i]:
		case untold(a, &pa[i]), untold(b, &pb[i]):
			vague = true
		default:
			differ = true
		}
	}
	return differ, vague
}

// tokenizerOf names what counted the tokens, where that was a tokenizer.
func tokenizerOf(f *Facts) string {
	if f.TokenSource != "tokenizer" || f.Tokenizer == nil {
		return ""
	}
	return *f.Tokenizer
}

func (f *Facts) flagShare(names ...string) float64 {
	n := int64(0)
	for _, name := range names {
		n += f.Flags[name]
	}
	return math.Min(1, float64(n)/float64(max(f.Requests.Total, 1)))
}

// shareReasons compares shares of requests.
func shareReasons(a, b *Facts) []Reason {
	var list []Reason
	add := func(name string, va, vb float64, says string) {
		list = append(list, Reason{name, Warn, fmt.Sprintf(says, typeset.Percent(va), typeset.Percent(vb)), typeset.Percent(va), typeset.Percent(vb)})
	}
	if va, vb := bursts(a), bursts(b); va > flagLimit || vb > flagLimit {
		add("bursts", va, vb, "tokens arrived in bursts in %s and %s of the requests: the pace between tokens is not compared, only TPOT adj., which leaves the first burst out")
	}
	if va, vb := a.flagShare("prefix_cache_active"), b.flagShare("prefix_cache_active"); math.Abs(va-vb) > flagLimit {
		add("prefix_cache", va, vb, "the prefix cache answered in %s and %s of the requests")
	}
	if va, vb := failedShare(a), failedShare(b); a.Requests.Untold == b.Requests.Untold && math.Abs(va-vb) > flagLimit {
		add("failures", va, vb, "%s and %s of the requests failed: latencies are those of the answered ones")
	}
	return list
}

func failedShare(f *Facts) float64 {
	return float64(f.Requests.Failed) / float64(max(f.Requests.Total, 1))
}

// bursts is the share of requests whose tokens came in bursts.
func bursts(f *Facts) float64 { return f.flagShare("coalesced_bursts", "burst") }

// Doubts lists what is wrong with the runs of a side themselves, whatever they are held
// against: what a baseline of them would bring into every comparison.
func (g Group) Doubts() []Reason { return state(g.Name, g) }

// state lists what is wrong with the runs of a side themselves, a line each:
// how many of them, and what the first of them says.
func state(side string, g Group) []Reason {
	var list []Reason
	see := func(name string, level Gravity, one, many string, wrong func(*Facts) bool) {
		n, because := 0, ""
		for _, r := range g.Runs {
			if !wrong(&r.Facts) {
				continue
			}
			if n++; n == 1 && (name == "invalid" || name == "unknown" || name == "suspect") && r.Facts.ValidityWhy != "" {
				because = ": " + strings.TrimRight(r.Facts.ValidityWhy, ". ")
			}
		}
		switch {
		case n == 0:
			return
		case len(g.Runs) == 1:
			list = append(list, Reason{Name: name, Level: level, Says: side + " " + one + because})
		case n == 1:
			list = append(list, Reason{Name: name, Level: level, Says: fmt.Sprintf("a run of %s %s%s", side, one, because)})
		default:
			list = append(list, Reason{Name: name, Level: level, Says: fmt.Sprintf("%d runs of %s %s%s", n, side, many, because)})
		}
	}
	see("invalid", Refuse, "is an invalid measurement", "are invalid measurements", func(f *Facts) bool { return f.Validity == validity.Invalid && f.partly() == "" })
	for _, r := range g.Runs {
		if safe := r.Facts.partly(); safe != "" {
			list = append(list, Reason{Name: "invalid_figures", Level: Warn, Says: fmt.Sprintf("%s is invalid for some figures, which are not compared: %s", side, safe)})
			break
		}
	}
	see("unknown", Warn, "is a run of which nobody knows whether it is valid", "are runs of which nobody knows whether they are valid", func(f *Facts) bool { return f.Validity == validity.Unknown })
	see("suspect", Warn, "is a suspect measurement", "are suspect measurements", func(f *Facts) bool { return f.Validity == "suspect" })
	see("partial", Warn, "was stopped before its end", "were stopped before their end", func(f *Facts) bool { return f.Partial })
	see("summary_only", Warn, "has only a summary: nothing in it can be tested", "have only summaries: nothing in them can be tested",
		func(f *Facts) bool { return f.Evidence == timeline.SummaryOnly })
	return list
}

// likewise leaves out of reasons what earlier ones of their name have said word for word
// after the first sentence: the same advice twice makes readers pass over both.
func likewise(earlier, reasons []Reason) []Reason {
	for i := range reasons {
		r := &reasons[i]
		head, advice, found := strings.Cut(r.Says, ". ")
		if found && slices.ContainsFunc(earlier, func(e Reason) bool {
			_, said, ok := strings.Cut(e.Says, ". ")
			return ok && e.Name == r.Name && said == advice
		}) {
			r.Says = head
		}
	}
	return reasons
}

// partly says which figures of an invalid run hold all the same; empty: none does, or
// the run is not invalid.
func (f *Facts) partly() string {
	if f.Validity != validity.Invalid {
		return ""
	}
	v := validity.Validity{Verdict: f.Validity, Figures: f.Figures}
	for _, figure := range validity.Latencies {
		if f.Figures[figure] != "" && f.Figures[figure] != validity.Invalid {
			return v.Safe()
		}
	}
	return ""
}

// invalidFigure says why a metric's own measurement is invalid where that of others is
// not; empty: it is not.
func (f *Facts) invalidFigure(metric string) string {
	figure := validity.FigureOf(metric)
	if f.Figures[figure] != validity.Invalid {
		return ""
	}
	return "its measurement is invalid (" + f.FiguresWhy[figure] + ")"
}

// burstsWhy is why a pace can't be compared.
const burstsWhy = "tokens arrived in bursts"

// unlike tells for each metric why it can't be compared although the runs can.
func unlike(a, b *Facts) map[string]string {
	why := map[string]string{}
	for i := range measures {
		m := &measures[i]
		switch {
		case m.paced && (bursts(a) > flagLimit || bursts(b) > flagLimit):
			why[m.key] = burstsWhy
		case a.invalidFigure(m.key) != "" && a.partly() != "":
			why[m.key] = a.invalidFigure(m.key)
		case b.invalidFigure(m.key) != "" && b.partly() != "":
			why[m.key] = b.invalidFigure(m.key)
		case m.counted && (a.Evidence == timeline.SummaryOnly) != (b.Evidence == timeline.SummaryOnly):
			why[m.key] = "only the summary is known of one side, and not how its tokens were counted"
		case m.counted && a.TokenSource != b.TokenSource:
			why[m.key] = "tokens are counted otherwise"
		case m.counted && tokenizerOf(a) != tokenizerOf(b):
			why[m.key] = "tokens are counted by different tokenizers"
		case m.key == "goodput" && !slices.Equal(a.Objectives, b.Objectives):
			why[m.key] = "the objectives differ"
		}
	}
	return why
}

// orderOf warns when one side was measured as a whole before the other.
func orderOf(a, b []*Run) []Reason {
	if len(a) < 2 || len(b) < 2 {
		return nil
	}
	first := func(list []*Run, later bool) (at int64) {
		for i, r := range list {
			t := r.Facts.Started.UnixNano()
			if r.Facts.Started.IsZero() {
				return 0
			}
			if i == 0 || later == (t > at) {
				at = t
			}
		}
		return at
	}
	firstA, lastA, firstB, lastB := first(a, false), first(a, true), first(b, false), first(b, true)
	if firstA == 0 || firstB == 0 || (firstA <= lastB && firstB <= lastA) {
		return nil
	}
	return []Reason{{Name: "not_interleaved", Level: Warn, Says: "one side was measured before the other: what changed on the machine in between looks like a difference; take turns (A B A B)"}}
}
