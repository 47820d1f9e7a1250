package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// Markdown writes the result table as Markdown, for pull requests and wikis.
func Markdown(w io.Writer, r *run.Run) error {
	b := bufio.NewWriter(w)
	m := &markdown{b}
	m.show(view.New(r), r)
	return b.Flush()
}

type markdown struct{ w *bufio.Writer }

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m.w, format, args...) }

func (m *markdown) show(v *view.View, r *run.Run) {
	m.printf("**%s.** %s %s.\n\n", v.Verdict, md(v.Judged), md(v.Size))
	if len(v.Sentences) > 0 {
		m.printf("%s\n\n", md(strings.Join(v.Sentences, " ")))
	}
	m.objectives(v)
	for _, c := range v.Checks {
		m.printf("- **%s** %s: %s\n", strings.ToUpper(c.Verdict), md(c.Name), md(c.Says))
	}
	if len(v.Objectives)+len(v.Checks) > 0 {
		m.printf("\n")
	}
	m.table(v)
	m.facts(v)
	if len(r.Command) > 0 {
		m.printf("\n%s\n", fenced(typeset.CommandLine(r.Command)))
	}
}

func (m *markdown) objectives(v *view.View) {
	for _, o := range v.Objectives {
		m.printf("- **%s** %s: %s\n", o.Mark(), md(o.Text), md(o.Says))
	}
}

func (m *markdown) table(v *view.View) {
	if len(v.Rows) == 0 {
		return
	}
	m.printf("| |")
	for _, p := range view.Shown {
		m.printf(" %s [95 %% CI] |", view.Percentiles[p].Name)
	}
	m.printf(" n |\n|---|%s---:|\n", strings.Repeat("---:|", len(view.Shown)))
	for _, r := range v.Rows {
		m.printf("| %s %s |", r.Name, r.Unit)
		for _, c := range r.Cells {
			m.printf(" %s |", md(c.Text()))
		}
		m.printf(" %s |\n", r.N)
	}
	m.printf("\n")
	for _, note := range v.Notes {
		m.printf("%s\n\n", md(note))
	}
}

func (m *markdown) facts(v *view.View) {
	m.printf("| | |\n|---|---|\n")
	add := func(label, text string) {
		if text != "" {
			m.printf("| %s | %s |\n", label, md(text))
		}
	}
	for _, f := range v.Facts {
		add(f.Label, f.Text)
		if f.Label == "failed" && v.Failure != nil {
			add("first error", v.Failure.First)
			add("advice", v.Failure.Advice)
		}
	}
	add("trust", v.Trust)
	for _, w := range v.Warnings {
		add("warning", w)
	}
	add("run", v.What)
	add("next", v.Next)
	add("objective", v.Offer)
}

// row writes a line of a table.
func (m *markdown) row(cells ...string) { m.printf("| %s |\n", strings.Join(escaped(cells), " | ")) }

// md makes text stay text in Markdown and in the HTML made from it.
func md(s string) string {
	s = typeset.Clean(s)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("\\`*_{}[]()#|~!$", c) >= 0 && escapes(s, i):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escapes reports whether the mark at i could be read as markup: brackets and
// parentheses only where they could form a link or an image.
func escapes(s string, i int) bool {
	switch s[i] {
	case '(', ')', '{', '}':
		return false
	case '[', ']':
		return strings.Contains(s, "](") || strings.Contains(s, "][") || strings.Contains(s, "]:")
	case '#', '!':
		return i == 0 || s[i] == '!' && i+1 < len(s) && s[i+1] == '['
	case '_':
		return i == 0 || i+1 == len(s) || s[i-1] == ' ' || s[i+1] == ' ' || s[i-1] == '_' || s[i+1] == '_'
	}
	return true
}

// fenced is a code block whose fence is longer than any run of backticks in it.
func fenced(s string) string {
	s = strings.ReplaceAll(typeset.Clean(s), "\n", " ")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "sh\n" + s + "\n" + fence
}
