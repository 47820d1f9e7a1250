package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

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
		"wire/scrape/watch.go":                regexp.MustCompile(`\bsay\("([a-z_]+)"`),
		"load/control/control.go":             regexp.MustCompile(`Name: "([a-z_]+)",`),
		"record/run/merge.go":                 regexp.MustCompile(`Name: "([a-z_]+)", Says`),
		"record/metric/advice.go":             regexp.MustCompile(`Name: "([a-z_]+)", Says`),
		"record/metric/network.go":            regexp.MustCompile(`Name: "([a-z_]+)", Value`),
		"record/metric/roofline.go":           regexp.MustCompile(`Name: "([a-z_]+)", Value`),
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
