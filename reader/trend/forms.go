package trend

import (
	"fmt"
	"io"
	"strings"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/timeline"
)

// MediansSchema names the JSON form of medians.
const MediansSchema = "tokenmeter.medians/v1"

// WriteMedians writes groups in a form: "table", "markdown", "csv" or "json", and
// in a table and JSON what routers published beside them. No groups are a table
// without rows. The errors are of the writer.
func WriteMedians(w io.Writer, form string, win Window, groups []Group, published []Published) error {
	if form == "json" {
		if groups == nil {
			groups = []Group{}
		}
		return typeset.JSON(w, struct {
			Schema string `json:"schema"`
			Window
			Groups    []Group     `json:"groups"`
			Published []Published `json:"published"` // null: nobody did
		}{MediansSchema, win, groups, published})
	}
	s := typeset.Sheet{Columns: []string{"target", "probe", "n", "failed", "wrong", "TTFT ms", "[p25, p75]", "TPOT ms", "[p25, p75]", "o200k tok/s", "[p25, p75]", "cold start ms"}}
	number := typeset.Numbers(form)
	for i := range groups {
		g := &groups[i]
		wrong := typeset.Missing
		if g.Checked > 0 {
			wrong = fmt.Sprintf("%d of %d", g.Wrong, g.Checked)
		}
		row := []string{g.Target, g.Kind, fmt.Sprint(g.N), fmt.Sprint(g.Failed), wrong}
		for _, m := range []int{TTFT, TPOT, NormTPS} {
			mid, band := g.Metrics[names[m]].words(number)
			row = append(row, mid, band)
		}
		start := typeset.Missing
		if c, ok := g.Metrics[ColdStart]; ok {
			start, _ = c.words(number)
		}
		s.Rows = append(s.Rows, append(row, start))
	}
	if form == "" || form == "table" {
		fmt.Fprintf(w, "Medians of what was asked from %s to %s (UTC)\n\n", win.From.UTC().Format("2 Jan 15:04"), win.To.UTC().Format("2 Jan 15:04"))
	}
	if err := s.Write(w, form); err != nil || len(published) == 0 || form == "csv" {
		return err
	}
	s = typeset.Sheet{Columns: []string{"target", "provider", "published", "TTFT ms", "p90", "tok/s", "p90"}}
	said := func(v timeline.Opt[float64]) string {
		x, ok := v.Get()
		if !ok {
			return typeset.Missing
		}
		return number(x)
	}
	for i := range published {
		p := &published[i]
		s.Rows = append(s.Rows, []string{p.Target, strings.TrimSpace(p.Provider + " " + p.Tag), p.At.UTC().Format("2 Jan 15:04"),
			said(p.TTFTP50), said(p.TTFTP90), said(p.TPSP50), said(p.TPSP90)})
	}
	fmt.Fprintf(w, "\nPublished medians of half an hour of other people's requests\n\n")
	return s.Write(w, form)
}

// words are the median and the middle half.
func (s Spread) words(number func(float64) string) (mid, band string) {
	x, ok := s.P50.Get()
	if !ok {
		return typeset.Missing, typeset.Missing
	}
	return number(x), "[" + number(s.P25.Or(0)) + ", " + number(s.P75.Or(0)) + "]"
}
