package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/typeset"
)

// Canary is what two servers that were measured at the same time were told apart by, as
// canary.json has it.
type Canary struct {
	Schema   string                 `json:"schema"`
	Baseline string                 `json:"baseline"`
	Canary   string                 `json:"canary"`
	Verdict  compare.CanaryState    `json:"verdict"`
	Validity SeveralValidity        `json:"validity"`
	Requests [2]int64               `json:"requests"`
	TookS    float64                `json:"took_s"`
	Figures  []compare.CanaryFigure `json:"figures"`
	// Silent: the canary answered nothing of what it was sent, which is worse
	// whatever the figures of answered requests leave open.
	Silent bool `json:"silent"`
	// SilentS is for how many seconds the side that is worse had answered nothing at the
	// end, where that decided; else 0.
	SilentS float64 `json:"silent_s"`
}

// JSON writes it as canary.json has it.
func (r *Canary) JSON(out io.Writer) error { return typeset.JSON(out, r) }

// CSV writes a line for each figure.
func (r *Canary) CSV(out io.Writer) error {
	c := newCSV(out)
	c.row("metric", "diff", "lo", "hi", "verdict", "n_a", "n_b")
	for i := range r.Figures {
		f := &r.Figures[i]
		diff, lo, hi, _ := canaryFigure(f)
		c.row(f.Metric, diff, lo, hi, string(f.State), fmt.Sprint(f.N[0]), fmt.Sprint(f.N[1]))
	}
	return c.end()
}

// Markdown writes a table.
func (r *Canary) Markdown(out io.Writer) error {
	b := bufio.NewWriter(out)
	m := &markdown{b}
	for _, says := range r.says() {
		m.printf("%s\n\n", md(says))
	}
	m.printf("| figure | difference | at any time 95 %% sure | verdict | n |\n|---|---:|---|---|---:|\n")
	for i := range r.Figures {
		m.row(canaryCells(&r.Figures[i])...)
	}
	return b.Flush()
}

// Terminal writes a table for people.
func (r *Canary) Terminal(out io.Writer) error {
	var b strings.Builder
	for _, says := range r.says() {
		fmt.Fprintf(&b, "%s\n\n", printable.Text(says))
	}
	for i := range r.Figures {
		c := canaryCells(&r.Figures[i])
		fmt.Fprintf(&b, "%-8s %10s  %-18s %-12s n %s\n", c[0], c[1], c[2], c[3], c[4])
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// says is what stands above the table: what is wrong with the measurement, and the verdict.
func (r *Canary) says() []string {
	if v := r.Validity; v.Verdict != "" && v.Verdict != "valid" {
		return []string{v.Says, r.sentence()}
	}
	return []string{r.sentence()}
}

// canaryFigure is a difference and its interval in unit; empty where they are not known.
func canaryFigure(f *compare.CanaryFigure) (diff, lo, hi, unit string) {
	scale, unit := 1.0, " %"
	if f.Metric == "good" { // in points of one
		scale, unit = 100, " pp"
	}
	if x, ok := f.Diff.Get(); ok {
		diff = fmt.Sprintf("%+.1f", scale*x)
	}
	if f.CI != nil {
		lo, hi = fmt.Sprintf("%+.1f", scale*f.CI[0]), fmt.Sprintf("%+.1f", scale*f.CI[1])
	}
	return diff, lo, hi, unit
}

func canaryCells(f *compare.CanaryFigure) []string {
	diff, lo, hi, unit := canaryFigure(f)
	if diff = diff + unit; diff == unit {
		diff = "–"
	}
	within := "–"
	if lo != "" {
		within = "[" + lo + ", " + hi + "]"
	}
	verdict := string(f.State)
	if f.State == compare.Continue {
		verdict = "not settled"
	}
	return []string{f.Metric, diff, within, verdict, fmt.Sprintf("%d + %d", f.N[0], f.N[1])}
}

func (r *Canary) sentence() string {
	after := fmt.Sprintf("after %d and %d requests, %.0f s", r.Requests[0], r.Requests[1], r.TookS)
	if r.SilentS > 0 {
		after += fmt.Sprintf(": that one answered nothing in the last %.0f s", r.SilentS)
		if r.Verdict == compare.CanaryWorse {
			after = strings.Replace(after, "that one", "it", 1)
		}
	}
	switch r.Verdict {
	case compare.CanaryWorse:
		if r.Silent {
			return fmt.Sprintf("The canary %s is WORSE than %s: it answered none of its requests.", r.Canary, r.Baseline)
		}
		return fmt.Sprintf("The canary %s is WORSE than %s, %s.", r.Canary, r.Baseline, after)
	case compare.CanaryBetter:
		return fmt.Sprintf("The canary %s is better than %s, %s.", r.Canary, r.Baseline, after)
	case compare.CanarySame:
		return fmt.Sprintf("The canary %s is the same as %s within the margin, %s.", r.Canary, r.Baseline, after)
	}
	return fmt.Sprintf("Not settled: %s could be better, worse or the same as %s, %s.%s", r.Canary, r.Baseline, after, r.tooFew())
}

// tooFew says which figures wanted more requests before they could be judged.
func (r *Canary) tooFew() string {
	var names []string
	needs := int64(0)
	for _, f := range r.Figures {
		if f.Needs > 0 {
			names, needs = append(names, f.Metric), max(needs, f.Needs)
		}
	}
	if needs == 0 {
		return ""
	}
	return fmt.Sprintf(" Before %d answered requests a side nothing can be said of %s.", needs, strings.Join(names, " and "))
}
