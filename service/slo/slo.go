// Package slo is objectives with error budgets: what an objective compiles to,
// its windows, budgets, burn rates and alerts. It is pure computation over
// counts that others took; the clock and the counts come from outside.
//
// Every objective is a share of good among valid: requests, gaps between
// tokens, or slices of time. So "p99 tpot < 120ms" over 28 days means that 99 %
// of the requests to which TPOT applies were under 120 ms, failed ones counted
// as bad, and its error budget is 1 % of them. Counts are summed and then
// divided; ratios are never averaged, and what has no events has no ratio.
package slo

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"tokenmeter/record/objective"
	"tokenmeter/service/traffic"
)

// Source says whose requests were counted. Sources are never mixed.
type Source = traffic.Source

// The sources.
const (
	Live  = traffic.Live  // requests of users
	Probe = traffic.Probe // our own, sent on schedule
	Run   = Source("run") // of benchmark runs
)

// Sources lists every source.
func Sources() []Source { return []Source{Live, Probe, Run} }

// Counts is what happened in some time: events, gaps or slices.
type Counts = traffic.Counts

// Key names a series of counts.
type Key struct {
	Hash   string // Objective.Hash
	Source Source
	Group  string // values of the objective's By, joined by "/"; empty without
}

// Compare orders keys.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Hash, o.Hash), cmp.Compare(k.Source, o.Source), cmp.Compare(k.Group, o.Group))
}

// Kind says what an objective counts.
type Kind string

// The kinds.
const (
	Events Kind = "events" // requests (or tasks, checks)
	Tokens Kind = "tokens" // gaps between tokens, pooled over requests
	Slices Kind = "slices" // slices of time, each judged as a whole
)

// unit is what the kind counts, in words.
func (k Kind) unit() string {
	switch k {
	case Tokens:
		return "token gaps"
	case Slices:
		return "slices"
	}
	return "requests"
}

// Objective is a compiled objective.
type Objective struct {
	Name  string
	About string
	Text  string // normalised
	Kind  Kind
	// Promises are the predicates of single requests: the promise itself first,
	// then the criteria of a goodput objective. Empty for figures.
	Promises []objective.Objective
	// Figure is what a slice is judged by when it is no share of requests.
	Figure *Figure
	Slice  time.Duration // 0 unless Kind is Slices
	// SliceShare is the share of good requests that makes a slice good.
	SliceShare float64
	Idle       string // what a slice without anything is: exclude, bad or good
	Target     float64
	Budget     float64 // 1 - Target, as the decimal number that was meant
	Window     Window
	Sources    []Source
	By         []string
	Where      map[string]string
	Alerts     []Alert
	MinEvents  int64 // fewer are insufficient data
	StaleAfter time.Duration
	Holes      []Correction // intervals that do not count
	// Hash names the counters. An objective that is written in another way, or
	// has another window, keeps them; one with another limit gets new ones.
	Hash string
	// Raw names what slices are made from: counters of requests, or a figure.
	Raw   string
	Notes []string // what was adapted, in sentences
}

// Compiled says in one sentence what the objective counts.
func (o *Objective) Compiled() string {
	var b strings.Builder
	switch {
	case o.Kind == Slices && o.Figure != nil:
		fmt.Fprintf(&b, "%s of the %s slices with %s", percent(o.Target), span(o.Slice), o.Figure.text)
	case o.Kind == Slices:
		fmt.Fprintf(&b, "%s of the %s slices in which %s of the %s %s", percent(o.Target), span(o.Slice), percent(o.SliceShare), o.sliced(), o.did())
	case o.Kind == Tokens:
		fmt.Fprintf(&b, "%s of the gaps between tokens %s; a failed request is a bad gap", percent(o.Target), o.predicate())
	default:
		fmt.Fprintf(&b, "%s of %s %s", percent(o.Target), o.population(), o.predicate())
	}
	if o.Kind != Tokens && o.Figure == nil {
		if p := o.Promises[0]; p.Valid == "success" {
			b.WriteString("; failed ones left out")
		} else if p.Metric != "error_rate" && p.Metric != "check_pass" {
			b.WriteString("; failed ones are bad")
		}
	}
	fmt.Fprintf(&b, "; %s; budget %s", o.Window, percent(o.Budget))
	return b.String()
}

func (o *Objective) population() string {
	switch o.Promises[0].Metric {
	case "task_success":
		return "tasks"
	case "check_pass":
		return "checked requests"
	case "error_rate", "goodput":
		return "requests"
	}
	return "requests to which it applies"
}

// sliced is what is counted within a slice.
func (o *Objective) sliced() string {
	if m := o.Promises[0].Metric; m == "itl" || m == "icl" {
		return "gaps between tokens"
	}
	return "requests"
}

// did is the predicate behind a verbless subject: had ttft < 500ms.
func (o *Objective) did() string {
	text := o.predicate()
	if limit, ok := strings.CutPrefix(text, "with "); ok {
		return "had " + limit
	}
	return text
}

// predicate is what makes one request good.
func (o *Objective) predicate() string {
	p := o.Promises[0]
	switch p.Metric {
	case "error_rate":
		return "did not fail"
	case "check_pass":
		return "passed their check"
	case "task_success":
		if p.Within > 0 {
			return fmt.Sprintf("succeeded within %s", span(time.Duration(p.Within*float64(time.Millisecond))))
		}
		return "succeeded"
	case "goodput":
		var limits []string
		for _, c := range o.Promises[1:] {
			limits = append(limits, c.Text)
		}
		if limits == nil {
			return "did not fail"
		}
		return "met " + strings.Join(limits, " and ")
	}
	text := p.Text
	if p.Stat != "" {
		text = strings.TrimPrefix(text, p.Stat+" ")
	}
	return "with " + strings.TrimSuffix(text, " valid: success")
}
