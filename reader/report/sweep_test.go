package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// madeSweep is a server that delivers 40 tokens/s a stream up to 32 streams.
func madeSweep() *result.Sweep {
	s := &result.Sweep{Schema: result.Schema, Dir: "runs/sweep", Variable: "concurrency", Planned: 7, Objectives: []string{"p95 tpot < 40ms"},
		GPUs: timeline.Some[int64](2), Command: []string{"tokenmeter", "sweep", "http://h"}}
	s.Target.Model, s.Target.URL = "m", "http://h"
	for i, c := range []float64{1, 2, 4, 8, 16, 32, 64} {
		tps := math.Min(40*c, 1280)
		tpot := 1000 * c / tps
		one := func(v float64) metric.Dist {
			return metric.Dist{N: 600, P50: timeline.Some(v), P95: timeline.Some(1.2 * v), CI95: map[string][2]float64{"p95": {1.15 * v, 1.3 * v}}}
		}
		p := result.Point{Value: c, Text: fmt.Sprint(c), Repeat: 1, Run: fmt.Sprintf("%03d-concurrency-%v", i+1, c),
			Metrics:    map[string]metric.Dist{"ttft_ms": one(100 + c*c), "tpot_ms": one(tpot), "decode_tps": one(1000 / tpot)},
			OutputCI95: &[2]float64{0.98 * tps, 1.02 * tps}}
		p.Throughput.SystemOutputTPS = timeline.Some(tps)
		p.Requests.OK = 600
		p.Validity.Verdict = validity.Valid
		met, state := tpot*1.2 < 40, objective.Met
		if !met {
			state = objective.Missed
		}
		p.Goodput = &objective.Goodput{Fraction: timeline.Some(0.99), Objectives: []objective.ObjectiveResult{{Text: "p95 tpot < 40ms",
			Metric: "tpot", Limit: 40, Value: timeline.Some(1.2 * tpot), N: 600, Met: timeline.Some(met), State: state}}}
		s.Points = append(s.Points, p)
	}
	s.Points[6].Validity.Verdict = validity.Suspect
	s.Conclude()
	return s
}

func TestSweepTerminal(t *testing.T) {
	s := madeSweep()
	var b bytes.Buffer
	if err := SweepTerminal(&b, s, Options{Dir: s.Dir}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep/terminal.txt", b.Bytes())
	for _, line := range strings.Split(b.String(), "\n") {
		if typeset.Width(line) > 80 {
			t.Errorf("%d columns: %s", typeset.Width(line), line)
		}
	}
	for _, w := range []int{40, 60} {
		b.Reset()
		SweepTerminal(&b, s, Options{Width: w, ASCII: true})
		for _, line := range strings.Split(b.String(), "\n") {
			if typeset.Width(line) > w {
				t.Errorf("%d columns of %d: %s", typeset.Width(line), w, line)
			}
		}
	}
}

func TestSweepMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := SweepMarkdown(&b, madeSweep()); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep/markdown.md", b.Bytes())
}

func TestSweepOfASearch(t *testing.T) {
	s := madeSweep()
	s.Variable, s.Knee, s.Peak = "rate", nil, nil
	for _, c := range []struct {
		found result.Found
		want  string
	}{
		{result.Found{Holds: timeline.Some(11.2), Fails: timeline.Some(11.6), Settled: true}, "Holds at 11.2 requests/s, fails at 11.6."},
		{result.Found{Holds: timeline.Some(64.0)}, "No limit found up to 64 requests/s."},
		{result.Found{Fails: timeline.Some(3.4), Steps: []result.Step{{Load: 2, Says: "holds"}, {Load: 4, Says: "fails"}, {Load: 3.4, Says: "fails"}}},
			"Fails at 3.4 requests/s; no load was shown to hold."},
		{result.Found{Fails: timeline.Some(0.5), Steps: []result.Step{{Load: 0.5, Says: "fails", Worst: "p95 ttft < 500ms"}}}, "Even 0.5 requests/s fails p95 ttft < 500ms."},
		{result.Found{Why: "the time was up (10m0s)"}, "No load was shown to hold or to fail."},
		{result.Found{Holds: timeline.Some(4.0), Unknown: "It held twice for 2m30s; what happens less often than once in 1m40s is not excluded."},
			"It held twice for 2m30s; what happens less often than once in 1m40s is not excluded."},
		{result.Found{Holds: timeline.Some(4.0), Why: "the time was up (3m0s)", Next: "Give more --max-time."}, "The time was up (3m0s). Give more --max-time."},
	} {
		c.found.Variable, c.found.Confidence, c.found.Probes, c.found.Requests = "rate", 0.95, 14, 9800
		s.Found = &c.found
		for form, show := range map[string]func(*bytes.Buffer) error{
			"terminal": func(b *bytes.Buffer) error { return SweepTerminal(b, s, Options{Width: 200}) },
			"markdown": func(b *bytes.Buffer) error { return SweepMarkdown(b, s) },
			"html":     func(b *bytes.Buffer) error { return SweepHTML(b, s) },
		} {
			var b bytes.Buffer
			if err := show(&b); err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer("&lt;", "<", `\`, "", "\u00a0", " ", "\n", " ").Replace(b.String())
			got = strings.Join(strings.Fields(got), " ")
			if !strings.Contains(got, c.want) || !strings.Contains(got, "14 probes, 9,800 requests.") {
				t.Errorf("%s lacks %q:\n%.600s", form, c.want, got)
			}
			known := c.found.Holds.OK() || c.found.Fails.OK()
			if strings.Contains(got, "95 % sure") != known {
				t.Errorf("%s: how sure is what, where an end is known: %v\n%.600s", form, known, got)
			}
		}
	}
}

// A search that was broken off does not read as one that ended.
func TestSweepOfABrokenSearch(t *testing.T) {
	for why, want := range map[string]string{"": "The search was broken off.", "broken off: interrupted": "Broken off: interrupted."} {
		s := madeSweep()
		s.Partial, s.Planned = true, len(s.Points)
		s.Found = &result.Found{Holds: timeline.Some(16.0), Fails: timeline.Some(32.0), Variable: "concurrency", Why: why}
		if v := newSweepView(s); v.state != "suspect" || !strings.Contains(strings.Join(v.more, " "), want) {
			t.Errorf("%q: %s, %q", why, v.state, v.more)
		}
		var csv bytes.Buffer
		if err := SweepCSV(&csv, s); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(csv.String(), ",true\n"); n != len(s.Points) {
			t.Errorf("%d of %d lines say that it is partial", n, len(s.Points))
		}
	}
}

// Of a server that was never reached nothing is known, not even that no request failed.
func TestSweepOfAServerThatNobodyReached(t *testing.T) {
	s := &result.Sweep{Variable: "url", Points: []result.Point{{Text: "http://dead", Value: 1, Repeat: 2, Error: "refused", TargetFailed: true}}}
	var csv, table bytes.Buffer
	if err := errors.Join(SweepCSV(&csv, s), SweepTerminal(&table, s, Options{Width: 120})); err != nil {
		t.Fatal(err)
	}
	if got := csv.String(); !strings.Contains(got, "http://dead,2,,,,,,") || !strings.HasSuffix(got, ",refused,false\n") {
		t.Errorf("%s", got)
	}
	if got := table.String(); !strings.Contains(got, "The target failed at 1 point,") || strings.Contains(got, " 0  ○") {
		t.Errorf("%s", got)
	}
}

// A second look is named by what the load was seen to do before.
func TestSecondLooks(t *testing.T) {
	s := madeSweep()
	s.Found = &result.Found{Steps: []result.Step{{Load: 2, Says: "holds", Firm: true}, {Load: 4, Says: "fails", Firm: true},
		{Load: 4, Says: "fails", Repeat: true}, {Load: 2, Says: "holds", Repeat: true}}}
	steps := newSweepView(s).steps()
	for i, want := range map[int]string{2: "the load that failed, once more", 3: "the load that held, once more"} {
		if got := steps[i][4]; got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// invalidate makes points invalid by a check.
func invalidate(points []result.Point) {
	for i := range points {
		points[i].Validity = validity.Validity{Verdict: validity.Invalid, Checks: []validity.Check{{Name: "cpu_busy", Verdict: validity.Invalid}}}
	}
}

// Whatever is swept, invalid points are counted and the check named, and nothing is
// said of what they show.
func TestSweepSaysWhyPointsAreInvalid(t *testing.T) {
	const all = "7 of 7 points are invalid, the first by cpu_busy."
	for name, c := range map[string]struct {
		change      func(s *result.Sweep)
		invalid     int
		state, want string
	}{
		"load":    {func(*result.Sweep) {}, 7, "bad", "No knee can be told. " + all},
		"lengths": {func(s *result.Sweep) { s.Variable = "input_tokens" }, 7, "bad", "From 1 input tokens to 64 input tokens. " + all},
		"names":   {func(s *result.Sweep) { s.Variable = "arrival" }, 7, "bad", all},
		"method":  {func(s *result.Sweep) { s.Method = &result.Method{Title: "A tool", Says: "not its result"} }, 7, "bad", "Not its result. " + all},
		"some":    {func(s *result.Sweep) { s.Variable = "arrival" }, 2, "ok", "2 of 7 points are invalid, the first by cpu_busy; 1 suspect, by its checks; 4 valid."},
		"one":     {func(s *result.Sweep) { s.Variable = "arrival" }, 1, "ok", "1 of 7 points is invalid, by cpu_busy; 1 suspect, by its checks; 5 valid."},
		// What is safe at a suspect point is not safe at the invalid ones, of which the sentence before speaks.
		"suspect": {func(s *result.Sweep) {
			s.Variable = "arrival"
			s.Points[6].Validity = validity.Validity{Verdict: validity.Suspect, Checks: []validity.Check{{Name: "cpu_busy", Verdict: validity.Suspect}},
				Figures: map[string]string{validity.TTFT: validity.Valid, validity.Throughput: validity.Suspect}}
		}, 1, "ok", "1 of 7 points is invalid, by cpu_busy; 1 suspect, by cpu_busy; 5 valid. At the suspect point TTFT is safe; throughput is suspect."},
		"search":      {func(s *result.Sweep) { s.Found = &result.Found{Holds: timeline.Some(2.0)} }, 7, "ok", all},
		"grid":        {twoCurves, 7, "bad", "No point is valid. " + all},
		"grid curves": {twoCurves, 7, "bad", "input_tokens 128: not told, no valid point"},
		"grid, some":  {twoCurves, 5, "ok", "input_tokens 4096: not told, 1 of the 3 loads that it takes"},
	} {
		s := madeSweep()
		invalidate(s.Points[:c.invalid])
		c.change(s)
		s.Conclude()
		v := newSweepView(s)
		got := v.says + " " + strings.Join(v.more, " ")
		for _, f := range v.facts {
			got += "\n" + f.Text
		}
		if v.state != c.state || !strings.Contains(got, c.want) || strings.Contains(got, "still rises") {
			t.Errorf("%s: %s, lacks %q:\n%s", name, v.state, c.want, got)
		}
	}
}

// twoCurves makes two curves of a sweep's points.
func twoCurves(s *result.Sweep) {
	s.Axes = []string{"concurrency", "input_tokens"}
	for i := range s.Points {
		s.Points[i].Settings = []result.Setting{{Name: "concurrency", Value: "x"}, {Name: "input_tokens", Value: []string{"128", "4096"}[i%2]}}
	}
}

// A knee that is not there has its reason.
func TestSweepWithoutAKnee(t *testing.T) {
	for want, points := range map[string][]result.Point{
		"No knee can be told: that takes 3 loads.":                                   madeSweep().Points[:2],
		"No plateau was reached: throughput still follows the load at 8 streams.":    madeSweep().Points[:4],
		"No knee was found: throughput does not follow the load even at 32 streams.": append(madeSweep().Points[5:], func() result.Point { p := madeSweep().Points[6]; p.Value = 128; return p }()),
	} {
		s := madeSweep()
		s.Points = points
		s.Conclude()
		if v := newSweepView(s); v.says != want {
			t.Errorf("%q, want %q", v.says, want)
		}
	}
}

// The points of a search have the share that the search judged by, and no throughput
// where they were too short for one.
func TestProbesInTheTable(t *testing.T) {
	s := madeSweep()
	s.Variable, s.Found = "rate", &result.Found{Variable: "rate"}
	for i := range s.Points {
		p := &s.Points[i]
		p.Throughput.RequestsPerS, p.Throughput.WindowS = timeline.Some(p.Value), timeline.Some(30.0)
		p.Metrics["e2e_ms"] = metric.Dist{P50: timeline.Some(1000.0)}
		s.Found.Steps = append(s.Found.Steps, result.Step{Run: p.Run, Says: "holds", Share: timeline.Some(0.667)})
	}
	s.Points[1].Throughput.WindowS = timeline.Some(3.0)
	s.Conclude()
	v := newSweepView(s)
	at := func(row int, head string) string { return v.rows[row].cells[slices.Index(v.heads, head)] }
	if at(0, "done /s") == typeset.Missing || at(1, "done /s") != typeset.Missing || at(1, "out tok/s") != typeset.Missing || at(1, "good") != "66.7 %" {
		t.Errorf("%q\n%q\n%q", v.heads, v.rows[0].cells, v.rows[1].cells)
	}
	for form, show := range map[string]func(*bytes.Buffer) error{
		"terminal": func(b *bytes.Buffer) error { return SweepTerminal(b, s, Options{Width: 200}) },
		"markdown": func(b *bytes.Buffer) error { return SweepMarkdown(b, s) },
		"html":     func(b *bytes.Buffer) error { return SweepHTML(b, s) },
	} {
		var b bytes.Buffer
		if err := show(&b); err != nil || !strings.Contains(b.String(), "too short for it") || !strings.Contains(b.String(), "that the search judged") {
			t.Errorf("%s: %v, no note on the columns", form, err)
		}
	}
	if steps := newSweepView(s).steps(); steps[0][1] != "leans to hold (weak)" {
		t.Errorf("%q", steps[0])
	}
}

// Every form stands whatever was measured, and hostile names stay text.
func TestSweepFormsOfLittle(t *testing.T) {
	hostile := `</script><script>alert(1)</script>` + "\x1b[31m"
	for name, s := range map[string]*result.Sweep{
		"nothing": {Variable: "rate"},
		"one":     {Variable: "input_tokens", Points: []result.Point{{Value: 100, Run: "001"}}},
		"partial": {Variable: "concurrency", Partial: true, Planned: 4, Points: []result.Point{{Value: 1}, {Value: 2}}},
		"hostile": {Variable: hostile, Name: hostile, Objectives: []string{hostile}, Command: []string{hostile}, Points: madeSweep().Points},
	} {
		s.Target.Model = hostile
		s.Conclude()
		var terminal, page, json_, csv bytes.Buffer
		for _, err := range []error{SweepTerminal(&terminal, s, Options{}), SweepMarkdown(&terminal, s), SweepHTML(&page, s),
			SweepJSON(&json_, s), SweepCSV(&csv, s)} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if strings.Contains(page.String(), "<script>") || strings.Contains(terminal.String()+page.String(), "\x1b") {
			t.Errorf("%s: hostile text got through", name)
		}
		if !json.Valid(json_.Bytes()) || strings.Count(csv.String(), "\n") != len(s.Points)+1 {
			t.Errorf("%s: JSON or CSV is broken\n%s", name, csv.String())
		}
	}
}

func TestSweepPage(t *testing.T) {
	var b bytes.Buffer
	if err := SweepHTML(&b, madeSweep()); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"Throughput levels off", "p95 tpot &lt; 40ms by load", "Speed for one reader", "Content-Security-Policy", "class=\"bracket\""} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"http://www", "https://", " style=", "NaN", "onload"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
}

// Where requests failed that stands in the narrowest table, and what is left out is named.
func TestNarrowSweepTable(t *testing.T) {
	s := madeSweep()
	for _, c := range []struct {
		failed int64
		want   []string
	}{{0, []string{"out tok/s"}}, {17, []string{"failed", "17 of "}}} {
		s.Points[0].Requests.Failed = c.failed
		var b bytes.Buffer
		if err := SweepTerminal(&b, s, Options{Width: 40}); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(c.want, "Left out at this width: ") {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%d failed: no %q\n%s", c.failed, want, b.String())
			}
		}
		for line := range strings.Lines(b.String()) {
			if n := typeset.Width(strings.TrimSuffix(line, "\n")); n > 40 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// A sweep that was killed at its first point tells where that point's records are, and
// names no target that was never found.
func TestSweepKilledAtItsFirstPoint(t *testing.T) {
	s := &result.Sweep{Dir: "runs/X", Variable: "concurrency", Partial: true, Planned: 3, Begun: []string{"001-concurrency-1"}}
	var b bytes.Buffer
	if err := SweepTerminal(&b, s, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.Contains(got, "tokenmeter report runs/X/001-concurrency-1") || strings.Contains(got, "Nothing was measured") || strings.Contains(got, "target") {
		t.Errorf("%s", got)
	}
}

// The line above a curve explains what is drawn, and nothing else.
func TestShadesAreExplainedWhereTheyAre(t *testing.T) {
	for found, want := range map[*result.Found]bool{
		nil: false,
		{Variable: "concurrency", Holds: timeline.Some(16.0), Fails: timeline.Some(32.0)}: true,
	} {
		s := madeSweep()
		s.Found = found
		v := newSweepView(s)
		for _, o := range v.limits() {
			if sub := v.limited(&o).sub; strings.Contains(sub, "darker: the bracket") != want {
				t.Errorf("%v: %s", want, sub)
			}
		}
	}
}
