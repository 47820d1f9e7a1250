package main

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/physics/published"
	"tokenmeter/physics/sim"
	"tokenmeter/record/metric"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/service/telemetry"
	"tokenmeter/wire/api"
)

// generated are the tables of docs/ that are those of the code, by file and
// name. What stands outside their marks is written by hand.
var generated = []struct {
	file, name string
	body       func() string
}{
	{"metrics.md", "catalogue", catalogueTable},
	{"metrics.md", "flags", flagTable},
	{"metrics.md", "outcomes", outcomeTable},
	{"metrics.md", "tools", toolTable},
	{"validity.md", "checks", checkTable},
	{"validity.md", "warnings", warningTable},
	{"objectives.md", "metrics", subjectTable},
	{"run-folder.md", "columns", columnTable},
	{"run-folder.md", "kinds", kindList},
	{"simulator.md", "faults", faultTable},
	{"apis.md", "providers", providerTable},
	{"telemetry.md", "metrics", telemetryTable},
	{"reference-data.md", "tables", publishedTables},
	{"reference-data.md", "misconceptions", func() string { return claims(published.Misconceptions) }},
	{"reference-data.md", "techniques", func() string { return claims(published.Techniques) }},
	{"reference-data.md", "sources", func() string { return published.SourceTable().Markdown() }},
}

// table is a Markdown table; the first row is its head.
func table(rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		for j, text := range row {
			row[j] = strings.ReplaceAll(text, "|", "\\|")
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

func providerTable() string {
	rows := [][]string{{"provider", "URL to type", "`--api`", "key's variable", "what is read", "note"}}
	for _, p := range api.Providers {
		name, keys := "", make([]string, len(p.Keys))
		if p.API != "" {
			name = mono(p.API)
		}
		for i, key := range p.Keys {
			keys[i] = mono(key)
		}
		rows = append(rows, []string{p.Name, mono(p.URL), name, strings.Join(keys, ", "), p.Reads, p.Note})
	}
	return table(rows...)
}

func publishedTables() string {
	var parts []string
	for _, t := range published.Tables() {
		parts = append(parts, fmt.Sprintf("### %s (`%s`)\n\n%s", strings.ToUpper(t.Title[:1])+t.Title[1:], t.Name, t.Markdown()))
	}
	return strings.Join(parts, "\n")
}

// claims are claims with what their commands print.
func claims(all []published.Claim) string {
	var parts []string
	for _, c := range all {
		text, err := c.Markdown()
		if err != nil {
			panic(err) // the claims are part of the program
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

func mono(s string) string { return "`" + s + "`" }

func catalogueTable() string {
	var parts []string
	var groups []metric.Group
	for _, d := range metric.Catalogue {
		if !slices.Contains(groups, d.Group) {
			groups = append(groups, d.Group)
		}
	}
	for _, g := range groups {
		rows := [][]string{{"name", "meaning", "null when", "other tools"}}
		for _, d := range metric.Catalogue {
			if d.Group == g {
				rows = append(rows, []string{nameCell(d), meaning(d), d.Null, d.Elsewhere})
			}
		}
		parts = append(parts, fmt.Sprintf("### %s\n\n%s", g, table(rows...)))
	}
	return strings.Join(parts, "\n")
}

func nameCell(d metric.Definition) string {
	var more []string
	if d.Unit != "" {
		more = append(more, d.Unit)
	}
	if d.Better != "" {
		more = append(more, string(d.Better)+" is better")
	}
	if len(more) == 0 {
		return mono(d.Name)
	}
	return mono(d.Name) + "<br>" + strings.Join(more, ", ")
}

func meaning(d metric.Definition) string {
	s := "**" + d.Title + "**"
	if d.Formula != "" {
		s += ". " + d.Formula
	}
	if len(d.Aliases) > 0 {
		s += "<br>Also: " + strings.Join(d.Aliases, ", ")
	}
	return s
}

func flagTable() string {
	rows := [][]string{{"flag", "set when", "what it means"}}
	for _, f := range metric.FlagMeanings {
		rows = append(rows, []string{mono(f.Name), f.When, f.Says})
	}
	return table(rows...)
}

func outcomeTable() string {
	rows := [][]string{{"outcome", "what happened", "likely cause", "next step"}}
	for _, a := range metric.OutcomeAdvice {
		rows = append(rows, []string{mono(string(a.Outcome)), a.Means, a.Cause, a.Next})
	}
	return table(rows...)
}

func toolTable() string {
	rows := [][]string{{"tool (`--lens`)", "first token", "clock starts", "TPOT", "ITL", "tokens", "E2E ends", "failures"}}
	for _, l := range lens.Tools() {
		d := l.Differs
		rows = append(rows, []string{fmt.Sprintf("%s (`%s`)<br>%s", l.Title, l.Name, l.AsOf),
			d.FirstToken, d.Clock, d.TPOT, d.ITL, d.Tokens, d.End, d.Failures})
	}
	return table(rows...)
}

func checkTable() string {
	rows := [][]string{{"check", "figure", "runs", "suspect", "invalid", "bears on"}}
	for _, r := range validity.Rules {
		runs := r.Applies
		if runs == "" {
			runs = "all"
		}
		rows = append(rows, []string{mono(r.Name), r.Figure, runs, r.Beyond(r.Suspect), r.Beyond(r.Invalid), r.BearsOn()})
	}
	return table(rows...)
}

func warningTable() string {
	rows := [][]string{{"warning", "given when", "what to do"}}
	for _, w := range metric.WarningMeanings {
		rows = append(rows, []string{mono(w.Name), w.When, w.Do})
	}
	return table(rows...)
}

// subjectTable has a row for the metrics of one kind and unit.
func subjectTable() string {
	rows := [][]string{{"of", "limit in", "metrics"}}
	row := map[[2]string]int{}
	for _, d := range objective.Describe() {
		kind := [2]string{d.Of, d.Units}
		i, ok := row[kind]
		if !ok {
			row[kind] = len(rows)
			rows = append(rows, []string{d.Of, d.Units, mono(d.Name)})
			continue
		}
		rows[i][2] += ", " + mono(d.Name)
	}
	return table(rows...)
}

func columnTable() string {
	rows := [][]string{{"column", "type", "holds"}}
	for _, c := range run.Columns() {
		rows = append(rows, []string{mono(c.Name), c.Type, c.Says})
	}
	return table(rows...)
}

func kindList() string {
	var bear, other []string
	for k := timeline.Role; k <= timeline.ErrorEvent; k++ {
		if k.Bears() {
			bear = append(bear, mono(k.String()))
		} else {
			other = append(other, mono(k.String()))
		}
	}
	return fmt.Sprintf("Kinds of events that carry tokens: %s.\nOthers: %s.\n", strings.Join(bear, ", "), strings.Join(other, ", "))
}

func faultTable() string {
	rows := [][]string{{"kind", "what happens", "`:for`"}}
	for _, k := range sim.Faults {
		long := ""
		if k.For > 0 {
			long = k.For.String()
		}
		rows = append(rows, []string{mono(k.Name), k.Does, long})
	}
	return table(rows...)
}

// telemetryTable lists every metric with its type, labels,
// unit and meaning, and its names elsewhere.
func telemetryTable() string {
	var b strings.Builder
	part := func(title string, has func(*telemetry.Metric) bool) {
		fmt.Fprintf(&b, "### %s\n\n| Prometheus | type | labels | unit | meaning | OTLP | Datadog |\n|---|---|---|---|---|---|---|\n", title)
		for _, m := range telemetry.Table {
			if !has(m) {
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` | `%s` |\n", m.Name, m.Kind, shownLabels(m), strings.ReplaceAll(m.Unit, "_", " "),
				strings.ReplaceAll(m.Help, "|", `\|`), m.OTel(), m.Dotted())
		}
		b.WriteByte('\n')
	}
	part("Counters of finished requests", func(m *telemetry.Metric) bool { return m.OfRequests() && m.Kind == telemetry.Counter })
	part("Distributions of finished requests", func(m *telemetry.Metric) bool { return m.OfRequests() && m.Kind == telemetry.Histogram })
	part("Objectives, and the daemon itself", func(m *telemetry.Metric) bool { return !m.OfRequests() })
	return strings.TrimSuffix(b.String(), "\n")
}

// shownLabels are the labels, those of requests in short.
func shownLabels(m *telemetry.Metric) string {
	all := m.Labels
	var shown []string
	if len(all) >= len(telemetry.RequestLabels) && all[0] == telemetry.RequestLabels[0] && all[1] == telemetry.RequestLabels[1] {
		shown, all = append(shown, "*request*"), all[len(telemetry.RequestLabels):]
	}
	for _, l := range all {
		shown = append(shown, "`"+l+"`")
	}
	if shown == nil {
		return "–"
	}
	return strings.Join(shown, ", ")
}
