package report

import (
	"strings"

	"tokenmeter/load/sweep/result"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
)

// methodView is what a published method says, in words and cells.
type methodView struct {
	Title, AsOf, Says string
	Rules, Why        []string
	Fields            [][]string // name, value with unit, note
	Heads             []string
	Rows              [][]string
}

func newMethodView(m *result.Method) *methodView {
	if m == nil {
		return nil
	}
	v := &methodView{Title: typeset.Clean(m.Title), AsOf: typeset.Clean(m.AsOf), Says: view.Sentence(typeset.Clean(m.Says)), Rules: m.Rules, Why: m.Why, Heads: m.Heads}
	for _, f := range m.Fields {
		value := typeset.Missing
		if x, ok := f.Value.Get(); ok {
			value = strings.TrimSpace(typeset.Digits{}.Value(x) + " " + typeset.Clean(f.Unit))
		}
		v.Fields = append(v.Fields, []string{typeset.Clean(f.Name), value, typeset.Clean(f.Note)})
	}
	for _, r := range m.Rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = typeset.Clean(c.Text)
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

// followed is the answer of a method.
func (v *sweepView) followed(m *result.Method) {
	v.says = typeset.Clean(m.Title) + "."
	if m.Verdict != "" {
		v.says = typeset.Clean(m.Title) + ": " + typeset.Clean(m.Verdict) + "."
	}
	if strings.HasPrefix(m.Verdict, "INVALID") {
		v.state = "bad"
	}
	v.more = append(v.more, view.Sentence(typeset.Clean(m.Says)))
}

func (t *terminal) method(v *methodView) {
	if v == nil {
		return
	}
	for _, w := range v.Why {
		t.paragraph("- " + typeset.Clean(w))
	}
	if len(v.Fields) > 0 {
		t.line("")
		t.columns(nil, v.Fields, 0)
	}
	if len(v.Rows) > 0 {
		t.line("")
		t.columns(v.Heads, v.Rows, 1)
	}
}

// columns prints cells below each other, names to the left and numbers to the
// right; what does not fit on the screen is cut from the right; a file takes it whole.
func (t *terminal) columns(heads []string, rows [][]string, right int) {
	all := rows
	if heads != nil {
		all = append([][]string{heads}, rows...)
	}
	widths := t.widths(all)
	for _, r := range all {
		var b strings.Builder
		used := 0
		for i, c := range r {
			c = t.text(c)
			if i > 0 {
				b.WriteString("  ")
				used += 2
			}
			if !t.o.Whole && used+typeset.Width(c) > t.width {
				if c, _ = typeset.Cut(c, max(t.width-used, 0)); typeset.Width(c) < 3 {
					break
				}
			}
			switch {
			case i == len(r)-1 && right == 0:
				b.WriteString(c)
			case i < right || right == 0:
				b.WriteString(pad(c, widths[i]))
			default:
				b.WriteString(padLeft(c, widths[i]))
			}
			used += widths[i]
		}
		t.line(strings.TrimRight(b.String(), " "))
	}
}

func (m *markdown) method(v *methodView) {
	if v == nil {
		return
	}
	for _, w := range v.Why {
		m.printf("- %s\n", md(w))
	}
	if len(v.Why) > 0 {
		m.printf("\n")
	}
	m.cells([]string{"figure", "value", "note"}, v.Fields)
	m.cells(v.Heads, v.Rows)
}

func (m *markdown) cells(heads []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	m.row(heads...)
	m.printf("|%s\n", strings.Repeat("---|", len(heads)))
	for _, r := range rows {
		m.row(r...)
	}
	m.printf("\n")
}
