package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"tokenmeter/record/timeline"
)

// match pairs runs of the baseline with runs of the candidate that did the
// same work. Several workloads on both sides (prompts of 1k and of 64k, say)
// are compared one by one; a single one is compared or refused.
func match(baseline, candidate Group, o *Options) ([]*pairing, []Reason) {
	var reasons []Reason
	reasons = append(reasons, state("the baseline", baseline)...)
	reasons = append(reasons, likewise(reasons, state(candidate.Name, candidate))...)
	groups := alike(baseline.Runs)
	var pairs []*pairing
	if len(groups) == 1 {
		pairs = []*pairing{{a: baseline.Runs, b: candidate.Runs}}
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
		reasons = append(reasons, p.severalTold()...)
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
	list = append(list, lengthReasons(pooledLengths(p.a), pooledLengths(p.b))...)
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
// comparison. Repeats of few requests differ in their mean lengths by chance;
// where the same was asked for, only what chance can't do makes two workloads.
func sameWork(a, b *Facts) bool {
	refuses := func(r Reason) bool { return r.Level == Refuse }
	if slices.ContainsFunc(reasons(a, b), refuses) {
		return false
	}
	asked := a.Workload.InputTokens != "" && a.Workload.InputTokens == b.Workload.InputTokens &&
		a.Workload.OutputTokens == b.Workload.OutputTokens
	if asked && nearLengths(a.InputTokens, b.InputTokens) && nearLengths(a.OutputTokens, b.OutputTokens) {
		return true
	}
	return !slices.ContainsFunc(lengthReasons(a, b), refuses)
}

// byChance is how far the mean lengths of repeats may lie apart.
const byChance = 0.3

func nearLengths(a, b Length) bool {
	ma, okA := a.Mean.Get()
	mb, okB := b.Mean.Get()
	return !okA || !okB || apart(ma, mb) <= byChance
}

// pooledLengths are the facts of the first run with the lengths of all.
func pooledLengths(runs []*Run) *Facts {
	f := runs[0].Facts
	pool := func(of func(*Facts) *Length) (l Length) {
		mean := func(get func(*Length) opt) opt {
			sum, n := 0.0, 0.0
			for _, r := range runs {
				if v, ok := get(of(&r.Facts)).Get(); ok {
					w := float64(max(r.Facts.Requests.OK, 1))
					sum, n = sum+w*v, n+w
				}
			}
			return timeline.Maybe(sum/n, n > 0)
		}
		return Length{Mean: mean(func(l *Length) opt { return l.Mean }), P90: mean(func(l *Length) opt { return l.P90 })}
	}
	f.InputTokens = pool(func(f *Facts) *Length { return &f.InputTokens })
	f.OutputTokens = pool(func(f *Facts) *Length { return &f.OutputTokens })
	return &f
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
	if load := f.Load.Words(); load != "" {
		parts = append(parts, load)
	}
	return strings.Join(parts, ", ")
}
