package doctor

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode"

	"tokenmeter/base/printable"
)

// Form is how the table is to look.
type Form struct {
	Width int // columns; 0 means 80
	Color bool
	ASCII bool // only ASCII can be shown
}

const (
	nameColumn = 6 // behind the verdict
	textColumn = 26
)

// Table writes the report for people.
func (r *Report) Table(w io.Writer, f Form) error {
	b := bufio.NewWriter(w)
	if f.Width <= 0 {
		f.Width = 80
	}
	f.Width = max(f.Width, textColumn+24)
	f.fill(b, r.answer(), 0)
	b.WriteByte('\n')
	subject := Subject("")
	for _, c := range r.Checks {
		if c.Of != subject {
			if subject != "" {
				b.WriteByte('\n')
			}
			subject = c.Of
			b.WriteString(f.clean(r.title(subject)) + "\n")
		}
		f.check(b, c)
	}
	b.WriteByte('\n')
	f.fill(b, r.sum(), 0)
	return b.Flush()
}

func (r *Report) title(of Subject) string {
	if of == OfMachine || r.Target == nil {
		return "this machine"
	}
	if rest, unix := strings.CutPrefix(r.Target.URL, "http+unix://"); unix {
		socket, path, _ := strings.Cut(rest, "/")
		if file, err := url.PathUnescape(socket); err == nil {
			return "Unix socket " + file + ", path /" + path
		}
	}
	return r.Target.URL
}

// answer is the first line: whether measuring can begin, and what is against it.
func (r *Report) answer() string {
	var failed, look []string
	for _, c := range r.Checks {
		name := strings.ReplaceAll(c.Name, "_", " ")
		switch c.Verdict {
		case Fail:
			failed = append(failed, name+": "+c.Value)
		case Warn:
			look = append(look, name)
		}
	}
	switch {
	case len(failed) > 0:
		text := "NOT READY. " + strings.Join(failed, ". ")
		if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, ".") {
			text += "."
		}
		return text
	case len(look) > 0:
		return "READY, but look at: " + strings.Join(look, ", ") + "."
	}
	return "READY."
}

// sum is the last line: what was checked, and what was not.
func (r *Report) sum() string {
	counts := map[Verdict]int{}
	for _, c := range r.Checks {
		counts[c.Verdict]++
	}
	text := fmt.Sprintf("%d ok, %d to look at, %d failed", counts[OK], counts[Warn], counts[Fail])
	if n := counts[""]; n > 0 {
		text += fmt.Sprintf(", %d not known", n)
	}
	if r.Target != nil && !r.Target.Probed && r.Verdict != Fail {
		text += ". Only GETs were sent; --probe sends one short completion and looks at its stream"
	}
	return text + "."
}

// check writes one check; the fix stands below what was found.
func (f Form) check(b *bufio.Writer, c Check) {
	mark := cmp.Or(string(c.Verdict), "-")
	fmt.Fprintf(b, "%s%s", f.colour(c.Verdict, mark), strings.Repeat(" ", max(nameColumn-len(mark), 1)))
	fmt.Fprintf(b, "%-*s", textColumn-nameColumn, strings.ReplaceAll(c.Name, "_", " "))
	f.paragraph(b, c.Value)
	if c.Fix != "" {
		b.WriteString(strings.Repeat(" ", textColumn))
		f.paragraph(b, "> "+c.Fix)
	}
}

// paragraph writes text from the text column on, wrapped at spaces.
func (f Form) paragraph(b *bufio.Writer, text string) { f.fill(b, text, textColumn) }

// fill breaks a text that begins in a column at the width.
func (f Form) fill(b *bufio.Writer, text string, column int) {
	b.WriteString(printable.Wrap(f.clean(text), f.Width-column, "\n"+strings.Repeat(" ", column)) + "\n")
}

func (f Form) colour(v Verdict, text string) string {
	code, ok := map[Verdict]string{OK: "32", Warn: "33", Fail: "31"}[v]
	if !f.Color || !ok {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// clean makes text from elsewhere harmless on a terminal and in the log of a pipeline.
func (f Form) clean(s string) string {
	return printable.Text(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != ' ' || f.ASCII && r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?")))
}
