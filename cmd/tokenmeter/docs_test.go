package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"tokenmeter/physics/sim"
	"tokenmeter/record/metric"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
)

var update = flag.Bool("update", false, "write the generated parts of docs/ anew")

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
}

func TestDocs(t *testing.T) {
	files := map[string]string{}
	for _, g := range generated {
		if _, ok := files[g.file]; !ok {
			files[g.file] = document(t, g.file)
		}
		begin, end := "<!-- generated: "+g.name+" -->\n", "<!-- end: "+g.name+" -->"
		before, rest, ok := strings.Cut(files[g.file], begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("docs/%s has no part %q", g.file, g.name)
		}
		files[g.file] = before + begin + "\n" + g.body() + "\n" + end + after
	}
	for name, text := range files {
		if text == document(t, name) {
			continue
		}
		if !*update {
			t.Errorf("docs/%s is older than the code: go test ./cmd/tokenmeter -run TestDocs -update", name)
			continue
		}
		if err := os.WriteFile(documentPath(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func documentPath(name string) string { return filepath.Join("..", "..", "docs", name) }

func document(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(documentPath(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mostLetters is the longest line of prose in a document. Rows of tables can't
// be broken.
const mostLetters = 140

func TestDocsHaveShortLines(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.md", ".github/*/*.md", "docs/*.md", "docs/recipes/*.md", "benchmarks/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d documents", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if n := utf8.RuneCountInString(line); n > mostLetters && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d letters; break the line at %d", file, i+1, n, mostLetters)
			}
		}
	}
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

func mono(s string) string { return "`" + s + "`" }

func catalogueTable() string {
	var parts []string
	for _, g := range metric.Groups() {
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
	rows := [][]string{{"check", "figure", "runs", "suspect", "invalid"}}
	for _, r := range validity.Rules {
		runs := r.Applies
		if runs == "" {
			runs = "all"
		}
		rows = append(rows, []string{mono(r.Name), r.Figure, runs, r.Beyond(r.Suspect), r.Beyond(r.Invalid)})
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

// Every name of run.json stands in docs/run-folder.md, or is a metric.
func TestRunFolderNamesAllOfRunJSON(t *testing.T) {
	text := document(t, "run-folder.md")
	for _, v := range []any{run.Run{}, run.Environment{}, run.Target{}, run.Load{}, run.Workload{}, validity.Client{},
		validity.Validity{}, validity.Check{}, metric.Summary{}, metric.Warning{}, objective.Goodput{}, objective.ObjectiveResult{}} {
		for _, name := range keys(reflect.TypeOf(v)) {
			if !regexp.MustCompile("`([a-z_]+\\.)?" + name + "`").MatchString(text) {
				t.Errorf("%T has %q, which docs/run-folder.md does not name", v, name)
			}
		}
	}
}

// keys are the names of a struct in JSON.
func keys(t reflect.Type) (all []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, keys(f.Type)...)
		case name != "-":
			all = append(all, name)
		}
	}
	return all
}

// Every warning that the code can give is explained, and no other.
func TestEveryWarningIsExplained(t *testing.T) {
	given := map[string]bool{}
	for pattern, call := range map[string]*regexp.Regexp{
		"record/metric/collector_warnings.go": regexp.MustCompile(`w\.add\([^"]*"([a-z_0-9]+)"|\{"([a-z_]+)", "[%A-Z]`),
		"load/bench/*.go":                     regexp.MustCompile(`\.notice\("([a-z_]+)"`),
	} {
		paths, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range call.FindAllStringSubmatch(string(data), -1) {
				given[strings.Join(m[1:], "")] = true
			}
		}
	}
	explained := map[string]bool{}
	for _, w := range metric.WarningMeanings {
		explained[w.Name] = true
		if !given[w.Name] {
			t.Errorf("%s is explained and never given", w.Name)
		}
	}
	for name := range given {
		if !explained[name] {
			t.Errorf("%s is given and not explained", name)
		}
	}
}
