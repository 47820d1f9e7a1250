package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// SweepTerminal writes a sweep: the answer in a sentence, a line a point, and
// where the curve bends.
func SweepTerminal(w io.Writer, s *result.Sweep, o Options) error {
	b := bufio.NewWriter(w)
	newTerminal(b, o).sweep(newSweepView(s))
	return b.Flush()
}

// Command is what shows what a folder holds, as it can be typed.
func Command(dir string) string { return typeset.CommandLine([]string{"tokenmeter", "report", dir}) }

func (t *terminal) sweep(v *sweepView) {
	t.paragraph(v.says + "  " + strings.Join(v.more, " "))
	t.method(v.method)
	if len(v.rows) > 0 {
		t.line("")
		t.sweepTable(v)
		t.line("")
	}
	for _, f := range v.facts {
		t.fact(f.Label, f.Text)
	}
	if t.o.Dir != "" {
		t.saved(t.o.Dir)
	}
}

// fitting are the columns that a screen of this width has room for: they are dropped
// from the right, but for the first and, where requests failed, the last; those that
// can be spared go before.
func (v *sweepView) fitting(widths []int, room int) (shown []int, left []string) {
	used, last := 3, len(widths)-1
	for i, w := range widths {
		used, shown = used+w+2, append(shown, i)
	}
	order := slices.Clone(v.spare)
	for i := last; i > 0; i-- {
		if !slices.Contains(v.spare, i) && !(i == last && v.anyFailed) {
			order = append(order, i)
		}
	}
	for _, i := range order {
		if used <= room {
			break
		}
		used -= widths[i] + 2
		left = append(left, v.name(i))
		shown = slices.DeleteFunc(shown, func(c int) bool { return c == i })
	}
	return shown, left
}

// name is what a column shows, also where its head stands under another one.
func (v *sweepView) name(i int) string {
	head := v.heads[i]
	for _, l := range words.latencies {
		for back := 1; back <= 2 && i-back >= 0 && strings.HasPrefix(head, "p9"); back++ {
			if v.heads[i-back] == l.name+" p50" {
				return l.name + " " + strings.TrimSuffix(head, " ms")
			}
		}
	}
	return head
}

// sweepTable drops columns where the screen is too narrow, but never the sign.
func (t *terminal) sweepTable(v *sweepView) {
	widths := make([]int, len(v.heads))
	for i, h := range v.heads {
		widths[i] = typeset.Width(h)
		for _, r := range v.rows {
			widths[i] = max(widths[i], typeset.Width(r.cells[i]))
		}
	}
	columns, left := v.fitting(widths, t.width)
	line := func(cells []string, sign, colour string) {
		var b strings.Builder
		for n, i := range columns {
			if n > 0 {
				b.WriteString("  ")
			}
			b.WriteString(padLeft(t.text(cells[i]), widths[i]))
		}
		t.line(b.String() + "  " + t.colour(t.text(sign), colour))
	}
	line(v.heads, "", "")
	// A star at every point would single out none.
	star := len(v.rows) > 2 && slices.ContainsFunc(v.rows, func(r sweepRow) bool { return !r.pareto })
	var marks string
	for _, r := range v.rows {
		mark := r.mark(star)
		marks += mark
		line(r.cells, mark, colours[r.sign])
	}
	var key []string
	for _, of := range []string{"● valid", "▲ suspect", "■ invalid", "○ not measured", "✗ an objective was missed", "* Pareto: no other point is better in every figure"} {
		if sign, _, _ := strings.Cut(of, " "); strings.Contains(marks, sign) {
			key = append(key, of)
		}
	}
	t.paragraph(strings.Join(key, " · "))
	if len(left) > 0 {
		t.paragraph("Left out at this width: " + strings.Join(left, ", ") + ".")
	}
	for _, n := range v.notes {
		t.paragraph(n)
	}
}

// SweepMarkdown writes a sweep for pull requests and wikis.
func SweepMarkdown(w io.Writer, s *result.Sweep) error {
	b := bufio.NewWriter(w)
	v := newSweepView(s)
	m := &markdown{b}
	m.printf("**%s** %s\n\n", md(v.says), md(strings.Join(v.more, " ")))
	m.method(v.method)
	if len(v.rows) > 0 {
		m.printf("| %s | trust |\n|%s---|\n", strings.Join(escaped(v.heads), " | "), strings.Repeat("---:|", len(v.heads)))
	}
	for _, r := range v.rows {
		m.printf("| %s | %s |\n", strings.Join(escaped(r.cells), " | "), r.mark(false))
	}
	m.printf("\n")
	for _, n := range v.notes {
		m.printf("%s\n\n", md(n))
	}
	for _, f := range v.facts {
		m.printf("- %s: %s\n", md(f.Label), md(f.Text))
	}
	return b.Flush()
}

func escaped(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = md(c)
	}
	return out
}

// SweepJSON writes what sweep.json says, without the checksum of the file.
func SweepJSON(w io.Writer, s *result.Sweep) error { return typeset.JSON(w, s) }

// SweepCSV writes a line a point, unrounded; what was not measured is empty. partial,
// the same in every line, says that the sweep or search was stopped before its end.
func SweepCSV(w io.Writer, s *result.Sweep) error {
	c := csv.NewWriter(w)
	head := []string{s.Variable}
	var others []string
	for _, name := range s.Axes {
		if name != s.Variable {
			others = append(others, name)
		}
	}
	head = append(head, others...)
	head = append(head, "repeat", "run", "verdict", "requests", "failed", "offered_per_s", "achieved_per_s", "requests_per_s",
		"system_output_tps", "output_tps_ci_lo", "output_tps_ci_hi", "tps_per_gpu", "tps_per_user",
		"ttft_ms_p50", "ttft_ms_p95", "ttft_ms_p99", "tpot_ms_p50", "tpot_ms_p95", "tpot_ms_p99", "e2e_ms_p50", "e2e_ms_p95", "e2e_ms_p99",
		"good_fraction", "usd_per_m_output", "roofline_output_tps", "mbu", "mfu", "error", "partial")
	c.Write(head)
	for _, p := range s.Points {
		first := unrounded(p.Value)
		if _, err := strconv.ParseFloat(p.Text, 64); err != nil && p.Text != "" {
			first = p.Text
		}
		row := []string{first}
		for _, name := range others {
			value := ""
			for _, x := range p.Settings {
				if x.Name == name {
					value = x.Value
				}
			}
			row = append(row, value)
		}
		requests, failed := fmt.Sprint(p.Requests.OK+p.Requests.Failed), fmt.Sprint(p.Requests.Failed)
		if p.Run == "" { // the server was never reached
			requests, failed = "", ""
		}
		row = append(row, strconv.Itoa(p.Repeat), p.Run, p.Validity.Verdict, requests, failed,
			unroundedOr(p.OfferedPerS), unroundedOr(p.AchievedPerS), unroundedOr(p.Throughput.RequestsPerS), unroundedOr(p.Throughput.SystemOutputTPS))
		lo, hi := "", ""
		if ci := p.OutputCI95; ci != nil {
			lo, hi = unrounded(ci[0]), unrounded(ci[1])
		}
		row = append(row, lo, hi, unroundedOr(p.TPSPerGPU), unroundedOr(p.TPSPerUser))
		for _, name := range []string{"ttft_ms", "tpot_ms", "e2e_ms"} {
			d := p.Metrics[name]
			row = append(row, unroundedOr(d.P50), unroundedOr(d.P95), unroundedOr(d.P99))
		}
		good, usd := "", ""
		if p.Goodput != nil {
			good = unroundedOr(p.Goodput.Fraction)
		}
		if p.Cost != nil {
			usd = unroundedOr(p.Cost.USDPerMOutput)
		}
		roof := p.Roofline
		if roof == nil {
			roof = &metric.Roofline{}
		}
		row = append(row, good, usd, unroundedOr(roof.MostOutputTPS), unroundedOr(roof.MBU), unroundedOr(roof.MFU), p.Error, strconv.FormatBool(s.Partial))
		c.Write(printable.Cells(row...))
	}
	c.Flush()
	return c.Error()
}

func unrounded(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func unroundedOr(x timeline.Opt[float64]) string {
	if v, ok := x.Get(); ok {
		return unrounded(v)
	}
	return ""
}
