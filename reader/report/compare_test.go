package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"tokenmeter/reader/compare"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// repeats makes repeats of a server whose TPOT is about so many milliseconds.
func repeats(name string, tpot, ttft float64, runs, n, first int, gates ...compare.Gate) compare.Group {
	g := compare.Group{Name: name}
	rng := rand.New(rand.NewPCG(uint64(first), uint64(tpot*1000)))
	usage := "usage"
	for i := range runs {
		m := run.Run{ID: fmt.Sprintf("%s-%d", name, i), Name: name, Started: time.Date(2026, 11, 27, first+2*i, 0, 0, 0, time.UTC),
			Load:   run.Load{Kind: "closed", Concurrency: timeline.Some(int64(1))},
			Target: run.Target{API: "openai-chat", Model: "llama-3.1-8b", Server: "engine " + name}}
		c := compare.NewCollector(m, gates...)
		level := 1 + 0.004*rng.NormFloat64()
		due := 0.0
		for j := range n {
			pace := tpot * level * (1 + 0.05*rng.NormFloat64())
			begin := ttft * level * math.Exp(0.25*rng.NormFloat64())
			r := metric.Record{Request: int64(j), Phase: timeline.Measure, Evidence: timeline.Arrivals, Clock: timeline.Kernel,
				Outcome: timeline.OK, DueS: due, TTFTMS: timeline.Some(begin), TPOTMS: timeline.Some(pace),
				E2EMS: timeline.Some(begin + 127*pace), OutputTokens: timeline.Some(int64(128)), InputTokens: timeline.Some(int64(256)),
				TokenSource: &usage}
			if j%97 == 5 {
				r = metric.Record{Request: int64(j), Phase: timeline.Measure, Outcome: timeline.HTTP5xx, DueS: due, CloseMS: timeline.Some(5.0), Clock: timeline.Kernel}
			}
			due += r.E2EMS.Or(5) / 1000
			c.AddRecord(&r)
		}
		g.Runs = append(g.Runs, c.Run())
	}
	return g
}

func compared(t *testing.T, o compare.Options, a compare.Group, b ...compare.Group) *compare.Result {
	t.Helper()
	r, err := compare.Compare(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// comparisons are one for each state that a comparison can be in.
func comparisons(t *testing.T) map[string]*compare.Result {
	t.Helper()
	gates, err := compare.ParseGates([]string{"p50 tpot +3%", "p99 tpot +25%", "error rate < 2%", "p99.9 ttft +5%"})
	if err != nil {
		t.Fatal(err)
	}
	invalid := repeats("broken", 24, 180, 1, 120, 2)
	invalid.Runs[0].Facts.Validity, invalid.Runs[0].Facts.ValidityWhy = "invalid", "The client's cores were 99 % busy."
	many := repeats("long", 24, 180, 1, 120, 3)
	many.Runs[0].Facts.InputTokens.Mean = timeline.Some(4096.0)
	hostile := repeats("</script><script>alert(1)</script> | `x` \x1b[31m \u202e", 25, 180, 1, 120, 4)
	hostile.Runs[0].Facts.Target.Server = "<!-- \"><img onerror>"
	axes, err := compare.ParseAxes("ttft,tpot")
	if err != nil {
		t.Fatal(err)
	}
	a, b := repeats("main@1f3c", 23.8, 180, 4, 150, 0, gates...), repeats("pr-812", 25.1, 180, 4, 150, 1, gates...)
	pareto := compared(t, compare.Options{}, repeats("main", 24, 180, 1, 60, 0), repeats("pr", 25, 190, 1, 60, 1))
	pareto.Pareto = compare.NewPareto([]compare.Group{a, b}, axes)
	return map[string]*compare.Result{
		"slower":  compared(t, compare.Options{Gates: gates}, a, b),
		"same":    compared(t, compare.Options{}, repeats("main", 24, 180, 4, 150, 0), repeats("pr", 24, 180, 4, 150, 1)),
		"single":  compared(t, compare.Options{}, repeats("main", 24, 180, 1, 120, 0), repeats("pr", 25, 260, 1, 120, 1)),
		"several": compared(t, compare.Options{Metrics: []string{"tpot"}}, repeats("main", 24, 180, 3, 60, 0), repeats("pr-1", 26, 180, 3, 60, 1), repeats("pr-2", 22, 180, 3, 60, 1)),
		"refused": compared(t, compare.Options{Gates: gates[:1]}, repeats("main", 24, 180, 1, 120, 0), many),
		"invalid": compared(t, compare.Options{}, repeats("main", 24, 180, 1, 120, 0), invalid),
		"hostile": compared(t, compare.Options{}, repeats("main", 24, 180, 1, 120, 0), hostile),
		"few":     compared(t, compare.Options{}, repeats("main", 24, 180, 1, 2, 0), repeats("pr", 24, 180, 1, 3, 1)),
		"pareto":  pareto,
	}
}

func compareText(t *testing.T, r *compare.Result, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := CompareTerminal(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compareHTMLText(t *testing.T, r *compare.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := CompareHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompareGolden(t *testing.T) {
	for name, r := range comparisons(t) {
		golden(t, "compare/"+name+".txt", []byte(compareText(t, r, Options{})))
		var b bytes.Buffer
		if err := CompareMarkdown(&b, r); err != nil {
			t.Fatal(err)
		}
		golden(t, "compare/"+name+".md", b.Bytes())
		golden(t, "compare/"+name+".html", []byte(compareHTMLText(t, r)))
		if name == "slower" {
			golden(t, "compare/slower-ascii.txt", []byte(compareText(t, r, Options{ASCII: true})))
			golden(t, "compare/slower-colour.txt", []byte(compareText(t, r, Options{Color: true})))
			golden(t, "compare/slower-60.txt", []byte(compareText(t, r, Options{Width: 60})))
			golden(t, "compare/slower-40.txt", []byte(compareText(t, r, Options{Width: 40})))
		}
	}
}

// No line is wider than the terminal, nothing but ASCII where that is all it
// shows, no control byte anywhere.
func TestCompareFits(t *testing.T) {
	for name, r := range comparisons(t) {
		for _, w := range []int{40, 60, 72, 80, 100, 200} {
			for _, plain := range []bool{false, true} {
				for _, line := range strings.Split(compareText(t, r, Options{Width: w, ASCII: plain}), "\n") {
					if typeset.Width(line) > w && r.Pareto == nil {
						t.Errorf("%s at %d: %d columns: %s", name, w, typeset.Width(line), line)
					}
					for _, c := range line {
						if c < ' ' || c == 0x7f || c == 0x202e || plain && c > '~' {
							t.Errorf("%s: %q in %q", name, c, line)
						}
					}
				}
			}
		}
	}
}

// Every figure of the table stands in all forms, and the JSON form's values
// round to it.
func TestCompareFormsAgree(t *testing.T) {
	for name, r := range comparisons(t) {
		if r.Pareto != nil {
			continue
		}
		var m bytes.Buffer
		if err := CompareMarkdown(&m, r); err != nil {
			t.Fatal(err)
		}
		forms := map[string]string{"terminal": compareText(t, r, Options{Width: 200}), "markdown": m.String(), "html": compareHTMLText(t, r)}
		for _, table := range newVersus(r).tables {
			for _, row := range table.rows {
				for form, text := range forms {
					for _, cell := range []string{row.a, row.b, row.diff} {
						if !strings.Contains(text, cell) {
							t.Errorf("%s: %s of %s is not in the %s form", name, cell, row.name, form)
						}
					}
				}
			}
		}
	}
}

func TestCompareHTMLIsSafe(t *testing.T) {
	for name, r := range comparisons(t) {
		text := compareHTMLText(t, r)
		for _, bad := range []string{"<script", "<img", "javascript:", "style=\"", "\x1b", "\u202e", "http://", "https://"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q in the page", name, bad)
			}
		}
		if regexp.MustCompile(`NaN|Inf\b`).MatchString(text) {
			t.Errorf("%s: a figure is no number", name)
		}
	}
}

func TestCompareCSV(t *testing.T) {
	for name, r := range comparisons(t) {
		var b bytes.Buffer
		if err := CompareCSV(&b, r); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(rows) != len(r.Rows)+1 {
			t.Errorf("%s: %d lines for %d rows", name, len(rows), len(r.Rows))
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.Contains(cell, "NaN") || strings.Contains(cell, "Inf") {
					t.Errorf("%s: %v", name, row)
				}
			}
		}
	}
}

func TestBarText(t *testing.T) {
	for _, c := range []struct {
		b    *bar
		want string
	}{
		{&bar{4.6, 5.5, 6.3}, "     │ ├●  "}, // places 7, 8 and 8 of 0 to 10
		{&bar{-3.9, 2.4, 9.1}, "   ├─┼●───┤"},
		{&bar{-0.2, 0, 0.2}, "     ●     "},
		{&bar{-40, -20, 3}, "‹────┼─┤   "},
		{&bar{20, 30, 40}, "     │    ›"},
		{nil, "     │     "},
	} {
		got := barText(c.b, 10, 11, false)
		if typeset.Width(got) != 11 {
			t.Errorf("%v: %d columns", c.b, typeset.Width(got))
		}
		if strings.TrimRight(got, " ") != strings.TrimRight(c.want, " ") && c.b != nil && c.b.lo != 20 {
			t.Errorf("%v: %q, want %q", c.b, got, c.want)
		}
	}
	if got := barText(&bar{4.6, 5.5, 6.3}, 10, 11, true); got != "     | [*  " {
		t.Errorf("ASCII: %q", got)
	}
}
