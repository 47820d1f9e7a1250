package runs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Best is the best run of a group by a figure.
type Best struct {
	Group  string                `json:"group"`
	Figure string                `json:"figure"`
	Unit   string                `json:"unit"`
	Value  timeline.Opt[float64] `json:"value"`
	CI95   *[2]float64           `json:"ci95"` // null: none
	Of     int                   `json:"of"`   // so many runs were held against each other
	Run    *Line                 `json:"run"`  // null where none could be
	// Next is the second best; null: there is none.
	Next *Line `json:"next"`
	// Apart reports whether the intervals of both are apart: with less, the next
	// best may be as good. Null where one of them has no interval.
	Apart   *bool    `json:"apart"`
	LeftOut []string `json:"left_out"` // runs that could not be held against the others, with the reason
}

// GroupKinds are what runs can be grouped by, beside tag:NAME.
var GroupKinds = []string{"model", "load", "workload", "server", "name", "all"}

// Grouping returns what names a run's group by one kind, or by several with commas
// between: runs are in one group where all of them agree. The error says what can
// be chosen.
func Grouping(kinds string) (func(*run.Run) string, error) {
	var by []func(*run.Run) string
	for _, kind := range strings.Split(kinds, ",") {
		f, err := groupBy(strings.TrimSpace(kind))
		if err != nil {
			return nil, err
		}
		by = append(by, f)
	}
	return func(r *run.Run) string {
		var words []string
		for _, f := range by {
			if word := f(r); word != "" {
				words = append(words, word)
			}
		}
		return strings.Join(words, ", ")
	}, nil
}

var groupers = map[string]func(*run.Run) string{
	"model":  func(r *run.Run) string { return r.Target.Model },
	"server": func(r *run.Run) string { return r.Target.URL },
	"name":   func(r *run.Run) string { return r.Name },
	"load":   func(r *run.Run) string { return loadWords(&r.Load) },
	"workload": func(r *run.Run) string {
		words := workloadWords(&r.Workload)
		if users := r.Workload.Users; users != "" && users != "none" {
			words += " (" + users + ")"
		}
		return words
	},
	"all": func(*run.Run) string { return "" },
}

// loadWords are a load with what else makes its figures others: connections that were not
// kept and further attempts.
func loadWords(l *run.Load) string {
	words := l.Words()
	if l.NoKeepAlive || l.PerSession {
		words += ", " + l.Connections()
	}
	if tries := l.FurtherTries(); tries != "" && tries != run.NoFurtherTry {
		words += ", " + tries
	}
	return strings.TrimPrefix(words, ", ")
}

func groupBy(kind string) (func(*run.Run) string, error) {
	if tag, ok := strings.CutPrefix(kind, "tag:"); ok && tag != "" {
		return func(r *run.Run) string { return r.Tags[tag] }, nil
	}
	if f := groupers[kind]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%q groups no runs: choose %s or tag:NAME", kind, strings.Join(GroupKinds, ", "))
}

// FindBest finds the best run of each group, in order of the groups' names. Runs
// that were broken off, and those whose figure is not there or was measured
// invalidly, win nothing. Of copies of one run the first counts.
func FindBest(list []run.Run, f objective.Figure, group func(*run.Run) string) []Best {
	groups, known := map[string][]*run.Run{}, map[string]bool{}
	for i := range list {
		if id := list[i].ID; id != "" && known[id] {
			continue // a copy says nothing new, and would be its own next best
		} else {
			known[id] = true
		}
		g := group(&list[i])
		groups[g] = append(groups[g], &list[i])
	}
	out := []Best{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, bestOf(name, groups[name], f))
	}
	return out
}

func bestOf(group string, runs []*run.Run, f objective.Figure) Best {
	b := Best{Group: group, Figure: f.Text, Unit: f.Unit(), LeftOut: []string{}}
	type entry struct {
		r     *run.Run
		value float64
		ci    *[2]float64
	}
	var ranked []entry
	for _, r := range runs {
		v, ci := f.Of(&r.Summary)
		x, measured := v.Get()
		verdict := r.Validity.Of(f.Metric)
		switch {
		case !measured:
			b.LeftOut = append(b.LeftOut, r.Dir+": it has no "+f.Text)
		case r.Partial:
			b.LeftOut = append(b.LeftOut, r.Dir+": it was broken off")
		case verdict != validity.Valid && verdict != validity.Suspect:
			if verdict == "" {
				verdict = "unknown"
			}
			b.LeftOut = append(b.LeftOut, r.Dir+": its "+f.Text+" is "+verdict)
		default:
			ranked = append(ranked, entry{r, x, ci})
		}
	}
	b.Of = len(ranked)
	if b.Of == 0 {
		return b
	}
	sort.SliceStable(ranked, func(i, j int) bool {
		if f.Higher {
			i, j = j, i
		}
		return ranked[i].value < ranked[j].value
	})
	first := ranked[0]
	won := line(first.r, []objective.Figure{f})
	b.Run, b.Value, b.CI95 = &won, timeline.Some(first.value), first.ci
	if b.Of > 1 {
		second := ranked[1]
		next := line(second.r, []objective.Figure{f})
		b.Next = &next
		if first.ci != nil && second.ci != nil {
			apart := first.ci[1] < second.ci[0] || second.ci[1] < first.ci[0]
			b.Apart = &apart
		}
	}
	return b
}

// BestSchema names the JSON form of the best runs.
const BestSchema = "tokenmeter.best/v1"

// WriteBest writes the best runs as a table, Markdown, CSV or JSON.
func WriteBest(w io.Writer, form string, list []Best) error {
	if form == "json" {
		return typeset.JSON(w, struct {
			Schema string `json:"schema"`
			Best   []Best `json:"best"`
		}{BestSchema, list})
	}
	figure := "best"
	if len(list) > 0 { // all are by one
		figure += " " + titled(list[0].Figure, list[0].Unit)
	}
	s := typeset.Sheet{Columns: []string{"group", figure, "95% interval", "n", "of runs", "next best", "apart", "started", "load", "verdict", "run"}}
	number := typeset.Numbers(form)
	for i := range list {
		b := &list[i]
		if b.Run == nil {
			s.Rows = append(s.Rows, []string{b.Group, typeset.Missing, typeset.Missing, typeset.Missing, "0", typeset.Missing, typeset.Missing, typeset.Missing, typeset.Missing, typeset.Missing, typeset.Missing})
			continue
		}
		interval, next, apart := typeset.Missing, typeset.Missing, typeset.Missing
		if b.CI95 != nil {
			interval = "[" + shown(number, timeline.Some(b.CI95[0])) + ", " + shown(number, timeline.Some(b.CI95[1])) + "]"
		}
		if b.Next != nil {
			next = shown(number, b.Next.Figures[0].Value)
		}
		if b.Apart != nil {
			apart = map[bool]string{true: "yes", false: "no"}[*b.Apart]
		}
		s.Rows = append(s.Rows, []string{b.Group, shown(number, b.Value), interval, counted(b.Run.Figures[0].N), fmt.Sprint(b.Of), next, apart, at(b.Run.Started), b.Run.Load, b.Run.Verdict, b.Run.Run})
	}
	return s.Write(w, form)
}
