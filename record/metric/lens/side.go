package lens

import (
	"math"
	"slices"
	"sort"
	"strings"

	"tokenmeter/record/timeline"
)

// Figure is one figure of a run as ours and as all tools that have it state it.
type Figure struct {
	Ours   string // our name: ttft_ms, system_output_tps, …
	States []State
}

// State is what one tool says.
type State struct {
	Lens string
	Name string // as the tool prints it
	Stat string // p50, mean; empty for what has none
	// Theirs and Ours are in our unit; null where unknown.
	Theirs, Ours timeline.Opt[float64]
	Why          string // why they differ, or why theirs is unknown
	// Change is how far theirs lies from ours, as a share of ours; null where one
	// of the two is unknown, or ours alone is 0.
	Change timeline.Opt[float64]
}

// Beside puts tables of several tools beside each other, a figure of ours at a
// time, in the order in which the tools name them: of each tool the median, or the
// mean where it has none. The largest differences come first; a figure that no tool
// can tell is left out.
func Beside(tables []Table) []Figure {
	var figures []Figure
	for _, t := range tables {
		chosen := map[string][]State{}
		var order []string
		for _, r := range t.Rows {
			if r.Ours == "" {
				continue
			}
			name, stat, _ := strings.Cut(r.Ours, ".")
			if strings.HasPrefix(r.Ours, "goodput.") || strings.HasPrefix(r.Ours, "requests.") {
				name, stat = r.Ours, ""
			}
			before, seen := chosen[name]
			if !seen {
				order = append(order, name)
			} else if at, best := preference(stat), preference(before[0].Stat); at > best {
				continue
			} else if at < best {
				before = nil
			}
			unit := scale(r.Ours, r.Unit)
			s := State{Lens: t.Lens, Name: r.Name, Stat: stat, Theirs: over(r.Value, unit), Ours: over(r.OurValue, unit), Why: r.Why}
			s.Change = change(s)
			chosen[name] = append(before, s) // a tool may have two names for one figure
		}
		for _, name := range order {
			i := slices.IndexFunc(figures, func(f Figure) bool { return f.Ours == name })
			if i < 0 {
				i = len(figures)
				figures = append(figures, Figure{Ours: name})
			}
			figures[i].States = append(figures[i].States, chosen[name]...)
		}
	}
	figures = slices.DeleteFunc(figures, func(f Figure) bool {
		return !slices.ContainsFunc(f.States, func(s State) bool { return s.Theirs.OK() })
	})
	for _, f := range figures {
		sort.SliceStable(f.States, func(i, j int) bool {
			x, known := f.States[i].Change.Get()
			y, alsoKnown := f.States[j].Change.Get()
			if known != alsoKnown {
				return known
			}
			return math.Abs(x) > math.Abs(y)
		})
	}
	return figures
}

// preferred are statistics, the one first that says most of a figure.
var preferred = []string{"", "p50", "mean"}

func preference(stat string) int {
	if i := slices.Index(preferred, stat); i >= 0 {
		return i
	}
	return len(preferred)
}

func over(v opt, unit float64) opt {
	return timeline.Map(v, func(x float64) float64 { return x / unit })
}

func change(s State) timeline.Opt[float64] {
	theirs, known := s.Theirs.Get()
	ours, alsoKnown := s.Ours.Get()
	switch {
	case !known || !alsoKnown:
		return timeline.Opt[float64]{}
	case theirs == ours:
		return timeline.Some(0.0)
	case ours == 0:
		return timeline.Opt[float64]{}
	}
	return timeline.Some(theirs/ours - 1)
}
