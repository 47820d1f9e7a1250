package runs

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Schema names the JSON form of a list.
const Schema = "tokenmeter.runs/v1"

// Columns are the figures that a list shows without others asked for.
var Columns = sync.OnceValue(func() []objective.Figure { return figures("p50 ttft", "p95 ttft", "p50 tpot", "output tps") })

func figures(texts ...string) (list []objective.Figure) {
	for _, text := range texts {
		f, err := objective.ParseFigure(text)
		if err != nil {
			panic(err)
		}
		list = append(list, f)
	}
	return list
}

// Line is a run in a list.
type Line struct {
	Run      string              `json:"run"` // its folder
	ID       string              `json:"id"`
	Name     string              `json:"name"`
	Started  time.Time           `json:"started"`
	Partial  bool                `json:"partial"`
	Version  string              `json:"version"`
	URL      string              `json:"url"`
	Model    string              `json:"model"`
	Server   string              `json:"server"`
	Load     string              `json:"load"`
	Requests timeline.Opt[int64] `json:"requests"` // null, also below: another tool did not tell it
	Failed   timeline.Opt[int64] `json:"failed"`
	Verdict  string              `json:"verdict"`
	Tags     map[string]string   `json:"tags"`
	Figures  []Value             `json:"figures"`
}

// Value is a figure of a run.
type Value struct {
	Figure string                `json:"figure"`
	Unit   string                `json:"unit"`
	Value  timeline.Opt[float64] `json:"value"` // null: not measured
	N      timeline.Opt[int64]   `json:"n"`     // how many were measured; null: the figure is one of the whole run
	CI95   *[2]float64           `json:"ci95"`  // null: none
}

func line(r *run.Run, figures []objective.Figure) Line {
	l := Line{
		Run: r.Dir, ID: r.ID, Name: r.Name, Started: r.Started, Partial: r.Partial, Version: r.Version,
		URL: r.Target.URL, Model: r.Target.Model, Server: r.Target.Server, Load: r.Load.Words(),
		Requests: r.Requests.Ended(), Verdict: r.Validity.Verdict, Tags: r.Tags,
	}
	_, _, l.Failed = r.Requests.Counts()
	if l.Verdict == "" {
		l.Verdict = "unknown"
	}
	for _, f := range figures {
		v, ci := f.Of(&r.Summary)
		l.Figures = append(l.Figures, Value{f.Text, f.Unit(), v, f.N(&r.Summary), ci})
	}
	return l
}

// WriteList writes runs, a line each, as a table, Markdown, CSV or JSON.
func WriteList(w io.Writer, form string, list []run.Run, figures []objective.Figure) error {
	lines := make([]Line, len(list))
	for i := range list {
		lines[i] = line(&list[i], figures)
	}
	if form == "json" {
		return typeset.JSON(w, struct {
			Schema string `json:"schema"`
			Runs   []Line `json:"runs"`
		}{Schema, lines})
	}
	s := typeset.Sheet{Columns: []string{"started", "name", "model", "load", "n", "failed", "verdict"}}
	for _, f := range figures {
		s.Columns = append(s.Columns, titled(f.Text, f.Unit()))
	}
	s.Columns = append(s.Columns, "tags", "run")
	number, whole := typeset.Numbers(form), func(x float64) string { return fmt.Sprintf("%.0f", x) }
	for i := range lines {
		l := &lines[i]
		verdict := l.Verdict
		if l.Partial {
			verdict += ", partial"
		}
		row := []string{at(l.Started), l.Name, l.Model, l.Load, shown(whole, timeline.Float(l.Requests)), shown(whole, timeline.Float(l.Failed)), verdict}
		for _, v := range l.Figures {
			row = append(row, shown(number, v.Value))
		}
		s.Rows = append(s.Rows, append(row, tagWords(l.Tags), l.Run))
	}
	return s.Write(w, form)
}

func at(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func titled(figure, unit string) string { return strings.TrimSpace(figure + " " + unit) }

func counted(n timeline.Opt[int64]) string {
	if x, ok := n.Get(); ok {
		return fmt.Sprint(x)
	}
	return typeset.Missing
}

func shown(number func(float64) string, v timeline.Opt[float64]) string {
	x, ok := v.Get()
	if !ok {
		return typeset.Missing
	}
	return number(x)
}
