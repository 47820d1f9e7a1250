package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// match pairs runs of the baseline with runs of the candidate that did the
// same work. Several workloads on both sides (prompts of 1k and of 64k, say)
// are compared one by one; a single one is compared or refused.
func match(baseline, candidate Group, o *Options) ([]*pairing, []Reason) {
	var reasons []Reason
	reasons = append(reasons, state("the baseline", baseline)...)
	reasons = append(reasons, state(candidate.Name, candidate)...)
	groups := alike(baseline.Runs)
	var pairs []*pairing
	if len(groups) == 1 {
		pairs = []*pairing{{a: baseline.Runs, b: candidate.Runs, exact: baseline.pooled}}
	} else {
		var left []*Run
		pairs, left = byWorkload(groups, candidate.Runs)
		for _, r := range left {
			reasons = append(reasons, Reason{Name: "unmatched", Level: Warn, B: r.Facts.ID,
				Says: fmt.Sprintf("%s has a run with no counterpart in the baseline (%s)", candidate.Name, workloadOf(&r.Facts))})
		}
		if len(pairs) == 0 {
			pairs = []*pairing{{a: baseline.Runs, b: candidate.Runs}}
		}
	}
	for _, p := range pairs {
		reasons = append(reasons, p.check()...)
	}
	reasons = allowed(reasons, o)
	refused := slices.ContainsFunc(reasons, func(r Reason) bool { return r.Level == Refuse })
	for _, p := range pairs {
		p.refused = refused
	}
	return pairs, reasons
}

// allowed turns what the user meant into warnings.
func allowed(list []Reason, o *Options) []Reason {
	for i := range list {
		if list[i].Level == Refuse && slices.Contains(o.Allow, list[i].Name) {
			list[i].Level = Warn
		}
	}
	return list
}

// check compares the facts of all runs of a pairing.
func (p *pairing) check() []Reason {
	var list []Reason
	p.unlike = map[string]string{}
	first := &p.a[0].Facts
	see := func(r *Run) {
		list = append(list, reasons(first, &r.Facts)...)
		maps.Copy(p.unlike, unlike(first, &r.Facts))
	}
	for _, r := range p.a[1:] {
		see(r)
	}
	for _, r := range p.b {
		see(r)
	}
	return append(list, orderOf(p.a, p.b)...)
}

// alike groups runs that did the same work, in their order.
func alike(runs []*Run) [][]*Run {
	var groups [][]*Run
next:
	for _, r := range runs {
		for i := range groups {
			if sameWork(&groups[i][0].Facts, &r.Facts) {
				groups[i] = append(groups[i], r)
				continue next
			}
		}
		groups = append(groups, []*Run{r})
	}
	return groups
}

// sameWork reports whether nothing about the work of two runs refuses their
// comparison.
func sameWork(a, b *Facts) bool {
	return !slices.ContainsFunc(reasons(a, b), func(r Reason) bool { return r.Level == Refuse })
}

func byWorkload(groups [][]*Run, runs []*Run) (pairs []*pairing, left []*Run) {
	all := make([]*pairing, len(groups))
	for i, g := range groups {
		all[i] = &pairing{a: g, label: workloadOf(&g[0].Facts)}
	}
next:
	for _, r := range runs {
		for _, p := range all {
			if sameWork(&p.a[0].Facts, &r.Facts) {
				p.b = append(p.b, r)
				continue next
			}
		}
		left = append(left, r)
	}
	for _, p := range all {
		if len(p.b) > 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs, left
}

// workloadOf names a workload.
func workloadOf(f *Facts) string {
	var parts []string
	if in, ok := f.InputTokens.Mean.Get(); ok {
		parts = append(parts, tokensText(in)+" in")
	}
	if out, ok := f.OutputTokens.Mean.Get(); ok {
		parts = append(parts, tokensText(out)+" out")
	}
	if load := loadOf(f); load != "" {
		parts = append(parts, load)
	}
	return strings.Join(parts, ", ")
}
