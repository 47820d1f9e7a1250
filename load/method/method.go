// Package method holds published ways to measure, by their own rules and with
// their own figures. A method is one file, or one line of a table.
package method

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/timeline"
)

// Method is a published way to measure.
type Method struct {
	Name  string
	Title string // whose it is
	AsOf  string // which version of the rules
	// Says is what a result is not; it stands beside every one.
	Says     string
	Rules    []string
	Variable string // what its points are
	// Variants are what may follow the name after a colon; empty: nothing.
	Variants []string
	// absent says of variants that one may look for why they are none.
	absent map[string]string
	// needs is what one of them is; empty where the name does without.
	needs string
	// takes says of which variables the user may give values in place of the
	// method's; without an entry one length, and no load.
	takes map[string]many
	lens  string // a lens with the method's own figures; empty: there is none

	// API is where it sends unless the user says otherwise; empty: where everybody does.
	API string

	// NormTokenizer counts answers where the method has a tokenizer of its own.
	NormTokenizer string

	variant string
	prepare func(m *Method, o *Options) (*Steps, error)
	read    func(m *Method, o *Options, s *result.Sweep, out *result.Method)
}

// Options are what the user asked for.
type Options struct {
	// Base has the target and what else all points share. What it says of load and
	// lengths goes before the rules, and is listed as a departure from them.
	Base  bench.Plan
	Lists map[string][]float64 // by variable: lists in place of the method's own
	GPUs  timeline.Opt[int64]
	// Salt makes the words of a workload that a method brings; a new one for each sweep
	// keeps a server from knowing them.
	Salt string

	departs []string
}

// Steps are what is measured.
type Steps struct {
	// Search looks for a rate first; nil: none is needed. Probes is its plan, and
	// At adds the measured run at what was found.
	Search *sweep.Search
	Probes bench.Plan
	At     func(rate float64)

	Cells []sweep.Cell
	Next  func(made []result.Point) *sweep.Cell
}

// methods are all of them, in the order in which they are listed.
var methods = slices.Concat(mlperf, []Method{artificialAnalysis, artificialLoad, llamaBench, batchedBench, depthSeries}, tools, []Method{agentX})

// Names lists their names, with what has to follow one.
func Names() (names []string) {
	for _, m := range methods {
		if m.needs != "" {
			m.Name += ":" + m.needs
		}
		names = append(names, m.Name)
	}
	return names
}

// ByName finds a method; a variant follows the name after a colon.
func ByName(text string) (*Method, error) {
	name, variant, given := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ":")
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no method is called %q; there are %s", name, strings.Join(Names(), ", "))
	}
	m := methods[i]
	if given && !slices.Contains(m.Variants, variant) {
		if len(m.Variants) == 0 {
			return nil, fmt.Errorf("%s has no variants", name)
		}
		if why, ok := m.absent[variant]; ok {
			return nil, fmt.Errorf("%s has no variant %q: %s; there are %s", name, variant, why, strings.Join(m.Variants, ", "))
		}
		return nil, fmt.Errorf("%s has no variant %q; there are %s", name, variant, strings.Join(m.Variants, ", "))
	}
	m.variant = variant
	return &m, nil
}

// Prepare says what is to be measured.
func (m *Method) Prepare(o *Options) (*Steps, error) {
	o.departs = nil
	if err := m.refuse(o); err != nil {
		return nil, err
	}
	return m.prepare(m, o)
}

// many is how many values of a variable the user may give.
type many int

const (
	none many = iota
	one
	several
)

func (m *Method) most(variable string) many {
	switch most, ok := m.takes[variable]; {
	case ok:
		return most
	case variable == sweep.InputTokens, variable == sweep.OutputTokens:
		return one
	}
	return none
}

// refuse says for which of the user's values the method has no place.
func (m *Method) refuse(o *Options) error {
	var errs []error
	for _, v := range []struct {
		variable, flag string
		given          bool
	}{
		{sweep.Rate, "--rate", o.Base.Rate > 0},
		{sweep.Concurrency, "--concurrency", o.Base.Concurrency > 0},
		{sweep.InputTokens, "--input-tokens", o.Base.InputTokens != ""},
		{sweep.OutputTokens, "--output-tokens", o.Base.OutputTokens != ""},
		{sweep.Depth, "--depth", false},
	} {
		switch most, n := m.most(v.variable), len(o.Lists[v.variable]); {
		case most == none && (v.given || n > 0):
			errs = append(errs, fmt.Errorf("%s has a load of its own: leave %s out%s", m.Name, v.flag, m.instead(v.variable)))
		case most == one && n > 1:
			errs = append(errs, fmt.Errorf("%s takes one value of %s, not %d", m.Name, v.flag, n))
		}
	}
	if m.most(sweep.Rate) == none && (o.Base.Arrival != "" || o.Base.Burstiness != 0) {
		errs = append(errs, fmt.Errorf("%s has a load of its own: leave --arrival and --burstiness out", m.Name))
	}
	return errors.Join(errs...)
}

// instead says how a tool's figures of a rate can be had.
func (m *Method) instead(variable string) string {
	if m.lens == "" || variable != sweep.Rate {
		return ""
	}
	return fmt.Sprintf(" (bench --rate, and then report --lens %s, has its figures of a rate)", m.lens)
}

// Read computes the method's figures from what was measured so far.
func (m *Method) Read(o *Options, s *result.Sweep) *result.Method {
	out := &result.Method{Name: m.Name, Title: m.Title, AsOf: m.AsOf, Says: m.Says, Rules: m.Rules, Why: []string{},
		Fields: []result.MethodField{}, Heads: []string{}, Rows: [][]result.MethodCell{}}
	if m.variant != "" {
		out.Name += ":" + m.variant
	}
	m.read(m, o, s, out)
	if out.Verdict == valid && len(o.departs) > 0 {
		out.Verdict += ", but for how the rules were departed from"
	}
	out.Why = append(out.Why, o.departs...)
	return out
}
