// Package method holds published ways to measure, by their own rules and with
// their own figures. A method is one file, or one line of a table.
package method

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/bench"
	"tokenmeter/sweep"
	"tokenmeter/sweep/result"
	"tokenmeter/timeline"
)

// Method is a published way to measure.
type Method struct {
	Name  string
	Title string // whose it is
	AsOf  string // which version of the rules
	About string // which question it answers
	// Says is what a result is not; it stands beside every one.
	Says     string
	Rules    []string
	Variable string // what its points are
	// Variants are what may follow the name after a colon; empty: nothing.
	Variants []string
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
var methods = slices.Concat(mlperf, []Method{artificialAnalysis, artificialLoad, llamaBench, batchedBench}, tools)

// All lists the methods.
func All() []Method { return slices.Clone(methods) }

// Names lists their names.
func Names() (names []string) {
	for _, m := range methods {
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
		return nil, fmt.Errorf("%s has no variant %q; there are %s", name, variant, strings.Join(m.Variants, ", "))
	}
	m.variant = variant
	return &m, nil
}

// Prepare says what is to be measured.
func (m *Method) Prepare(o *Options) (*Steps, error) {
	o.departs = nil
	return m.prepare(m, o)
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
