package metric

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/base/spelling"
	"tokenmeter/record/timeline"
)

// Lookup finds the definition of a name, in the forms that people type:
// "ttft_ms", "TTFT", "time to first token", "p99 ttft". The error for an
// unknown name proposes the nearest.
func Lookup(name string) (Definition, error) {
	for _, form := range forms(name) {
		for _, d := range Catalogue {
			if matches(d, form) || d.Name == "server" && strings.HasPrefix(form, serverPrefix) {
				return d, nil
			}
		}
	}
	return Definition{}, unknownName(name, nearest(plain(name), names()))
}

// serverPrefix begins the names of what servers report, in a run's metrics.
const serverPrefix = "server_"

func unknownName(name, near string) error {
	if near == "" {
		return fmt.Errorf("no metric is called %q; `tokenmeter explain` lists them all", name)
	}
	return fmt.Errorf("no metric is called %q; did you mean %s?", name, near)
}

func matches(d Definition, form string) bool {
	return form == d.Name || form == WithoutUnit(d.Name) ||
		slices.ContainsFunc(d.Aliases, func(alias string) bool { return plain(alias) == form })
}

var statistic = pattern.Lazy(`^(p\d+(\.\d+)?|mean|median|avg|average|max|min)_`)

// forms are the spellings to try, most literal first.
func forms(name string) []string {
	p := plain(name)
	bare := statistic().ReplaceAllString(p, "")
	return []string{p, WithoutUnit(p), bare, WithoutUnit(bare)}
}

// plain is a name in lower case with underscores.
func plain(name string) string {
	return strings.Trim(strings.NewReplacer(" ", "_", "-", "_", "/", "_").Replace(
		strings.ToLower(strings.TrimSpace(name))), "_")
}

// WithoutUnit is a metric's name as objectives write it: tpot for tpot_ms.
// Rates in tokens or requests a second keep theirs, as they are part of the name.
func WithoutUnit(name string) string {
	for _, unit := range []string{"_ms", "_s", "_usd"} {
		if short, ok := strings.CutSuffix(name, unit); ok && !strings.HasSuffix(short, "_per") {
			return short
		}
	}
	return name
}

func names() []string {
	var all []string
	for _, d := range Catalogue {
		all = append(all, d.Name)
	}
	return all
}

// nearest is the name with the fewest edits; empty when none is near.
func nearest(name string, all []string) string {
	best, limit := "", len(name)/3+1
	for _, candidate := range all {
		short := WithoutUnit(candidate)
		if d := min(spelling.Distance(name, candidate), spelling.Distance(WithoutUnit(name), short)); d <= limit {
			best, limit = candidate, d-1
		}
	}
	return best
}

// AdviceOn returns what to say about an outcome.
func AdviceOn(o timeline.Outcome) Advice {
	for _, a := range OutcomeAdvice {
		if a.Outcome == o {
			return a
		}
	}
	return Advice{Outcome: o, Means: "an outcome this version does not know", Cause: "the record was written by a newer version", Next: "read it with that version"}
}
