package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// ObjectiveLine is what became of one objective.
type ObjectiveLine struct {
	State   string // HELD | FAILED | OPEN | LIMIT | VOID
	Metric  string
	settled bool   // false: the interval spans the limit
	Text    string // as written
	Says    string // value, interval, n
}

// The states in words.
const (
	Held   = "HELD"
	Missed = "FAILED"
	Open   = "OPEN"  // too few requests to tell
	Limit  = "LIMIT" // says which requests are good, promises nothing by itself
	Voided = "VOID"  // would hold or fail, but the measurement is invalid
)

// Mark is the state with its reservation.
func (o ObjectiveLine) Mark() string {
	if !o.settled && (o.State == Held || o.State == Missed) {
		return o.State + ", not settled"
	}
	return o.State
}

func objectiveLines(r *run.Run) (lines []ObjectiveLine, judged string) {
	if r.Goodput == nil || len(r.Goodput.Objectives) == 0 {
		return nil, "No objectives set."
	}
	var n tally
	for i := range r.Goodput.Objectives {
		o := &r.Goodput.Objectives[i]
		line := ObjectiveLine{Text: typeset.Short(o.Text, 160), Metric: o.Metric, settled: o.Settled.Or(true), Says: objectiveValue(o) + withFailures(r, o)}
		void := r.Validity.Voids(r.Goodput.Metrics(o)...)
		switch {
		case o.State == "met" && void:
			line.State, line.Says = Voided, line.Says+"; it would hold, but its measurement is invalid"
			n.void++
		case o.State == "missed" && void:
			line.State, line.Says = Voided, line.Says+"; it would fail, but its measurement is invalid"
			n.void++
			n.failing++
		case o.State == "met":
			line.State = Held
			n.held++
		case o.State == "missed":
			line.State = Missed
			n.missed++
			if !slices.ContainsFunc(r.Goodput.Metrics(o), func(m string) bool { return r.Validity.Of(m) != validity.Valid }) {
				n.safe++
			}
		case o.State == objective.Open:
			line.State = Open
			n.open++
		default:
			line.State, line.Says = Limit, criterionValue(o)
		}
		lines = append(lines, line)
	}
	judged = n.words()
	if n.missed > 0 && n.safe == n.missed && verdict(r) != Valid {
		safe := "their figures are safe."
		if n.missed == 1 {
			safe = "its figure is safe."
		}
		judged = strings.TrimSuffix(judged, ".") + "; " + safe
	}
	return lines, judged
}

// tally counts objectives by what became of them.
type tally struct {
	held, missed, open, void, failing int
	safe                              int // of the missed, on figures that are valid
}

func (t tally) words() string {
	n := t.held + t.missed + t.open + t.void
	if n == 0 {
		return "No objectives, only limits."
	}
	text := fmt.Sprintf("%d of %s held", t.held, typeset.Plural(int64(n), "objective"))
	switch {
	case t.missed > 0:
		text = fmt.Sprintf("%d of %s failed", t.missed, typeset.Plural(int64(n), "objective"))
	case t.void > 0 && t.held == 0:
		text = typeset.Plural(int64(t.void), "objective") + " void, as the measurement is invalid"
	}
	if t.void > 0 && t.held+t.missed > 0 {
		text += fmt.Sprintf(", %d void", t.void)
	}
	if t.failing > 0 {
		text += fmt.Sprintf("; %d would fail", t.failing)
	}
	if t.open > 0 {
		text += fmt.Sprintf(", %d open", t.open)
	}
	return text + "."
}

// criterionValue is the share of requests that kept a limit.
func criterionValue(o *objective.ObjectiveResult) string {
	if share, ok := o.Attained.Get(); ok {
		return typeset.Percent(share) + " of the requests keep it"
	}
	return "no request could be judged"
}

// objectiveValue is what was measured, in the words of the objective.
func objectiveValue(o *objective.ObjectiveResult) string {
	show := ShowAs(o.Metric)
	v, ok := o.Value.Get()
	if o.State != "met" && o.State != "missed" {
		return openValue(o, v, ok, show)
	}
	if !ok {
		return noValue(o)
	}
	limit := timeline.Some(o.Limit)
	if ci := o.CI95; ci != nil && !math.IsInf(ci[0], 0) && !math.IsInf(ci[1], 0) {
		value, lo, hi := show(v, ci, limit)
		return fmt.Sprintf("%s, 95 %% sure between %s and %s (n %s%s)", value, lo, hi, typeset.Count(o.N), WorthWords(o.N, o.Worth))
	}
	value, _, _ := show(v, nil, limit)
	return fmt.Sprintf("%s (n %s%s)", value, typeset.Count(o.N), WorthWords(o.N, o.Worth))
}

// counted is what an objective counts.
func counted(o *objective.ObjectiveResult) string {
	switch o.Metric {
	case "session_e2e":
		return "session"
	case "task_success":
		return "task"
	}
	return "request"
}

// openValue says why nothing was decided: what was seen is on both sides of the limit.
func openValue(o *objective.ObjectiveResult, v float64, ok bool, show shower) string {
	if o.N == 0 && o.Metric == "session_e2e" {
		return "no whole session was seen"
	}
	if o.N == 0 {
		return "no " + counted(o) + " can settle it"
	}
	text := fmt.Sprintf("%s%s cannot settle it", typeset.Plural(o.N, counted(o)), WorthWords(o.N, o.Worth))
	if p, has := o.Percentile.Get(); has && p < 1 {
		// None bad of n settles a percentile from 0.025^(1/n) ≥ p on.
		if least := math.Ceil(math.Log(0.025) / math.Log(max(p, 1-p))); o.Worth.Or(float64(o.N)) < least {
			text += fmt.Sprintf(", %s independent ones are needed at least", typeset.Count(int64(least)))
		}
	}
	if ok {
		value, lo, hi := show(v, o.CI95, timeline.Some(o.Limit))
		text += "; so far " + value
		if o.CI95 != nil {
			text += ", 95 % sure between " + lo + " and " + hi
		}
	}
	return text
}

// withFailures reminds that an objective counts failed requests, which the table of
// latencies can't: its value is another one where there are some.
func withFailures(r *run.Run, o *objective.ObjectiveResult) string {
	if p, has := o.Percentile.Get(); !has || p <= 0 || p >= 1 || r.Requests.Failed == 0 || counted(o) != "request" || !o.Value.OK() {
		return ""
	}
	return ", the " + typeset.Exact(r.Requests.Failed) + " failed requests counted as the worst"
}

// WorthWords says how many independent requests there are, where they are clearly
// fewer.
func WorthWords(n int64, worth timeline.Opt[float64]) string {
	w, ok := worth.Get()
	if !ok || w >= 0.9*float64(n) {
		return ""
	}
	return ", worth " + typeset.Plural(int64(max(w, 1)), "independent one")
}

// noValue explains a percentile that failed requests made infinite.
func noValue(o *objective.ObjectiveResult) string {
	if p, ok := o.Percentile.Get(); ok && o.N > 0 {
		return fmt.Sprintf("no value: more than %s of the %ss failed (n %s)", typeset.Percent(1-p), counted(o), typeset.Count(o.N))
	}
	return "no value: no " + counted(o) + " counts for it"
}

// shower writes a value and its interval in a metric's unit; the interval may
// be missing.
type shower func(v float64, ci *[2]float64, limit timeline.Opt[float64]) (value, lo, hi string)

// ShowAs picks the unit by the metric's name: shares in per cent, rates a second,
// times in ms or s as their size asks.
func ShowAs(metric string) shower {
	switch {
	case metric == "goodput" || strings.HasSuffix(metric, "_rate") || metric == "error rate" ||
		strings.HasPrefix(metric, "check") || strings.HasPrefix(metric, "task"):
		return showShare
	case strings.HasSuffix(metric, "_tps"):
		return showUnit(" tokens/s", false)
	case strings.HasPrefix(metric, "usd"):
		return showUnit(" USD", false)
	case strings.HasSuffix(metric, "tokens") || metric == "stalls" || metric == "starvations" || metric == "rtf" || metric == "chunks":
		return showUnit("", false)
	case strings.HasSuffix(metric, "_per_s"):
		of := map[string]string{"chars_per_s": " characters/s", "audio_s_per_s": " s of sound/s", "images_per_s": " pictures/s", "inputs_per_s": " texts/s"}
		return showUnit(cmp.Or(of[metric], " requests/s"), false)
	}
	return showUnit(" ms", true)
}

func showShare(v float64, ci *[2]float64, limit timeline.Opt[float64]) (value, lo, hi string) {
	d := typeset.Digits{Limit: limit}
	if ci != nil {
		lo, hi = typeset.PercentNear(ci[0], d), typeset.PercentNear(ci[1], d)
	}
	return typeset.PercentNear(v, d), lo, hi
}

func showUnit(unit string, long bool) shower {
	return func(v float64, ci *[2]float64, limit timeline.Opt[float64]) (value, lo, hi string) {
		unit := unit
		if long && v >= 10_000 {
			unit = " s"
			v /= 1e3
			if ci != nil {
				ci = &[2]float64{ci[0] / 1e3, ci[1] / 1e3}
			}
			limit = timeline.Map(limit, func(l float64) float64 { return l / 1e3 })
		}
		d := typeset.Digits{Limit: limit}
		if ci == nil {
			return d.Value(v) + unit, "", ""
		}
		value, lo, hi = d.Interval(v, ci[0], ci[1])
		return value + unit, lo, hi
	}
}
