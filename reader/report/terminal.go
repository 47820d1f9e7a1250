package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/pattern"
	"tokenmeter/reader/compare"
	"tokenmeter/reader/report/view"
	"tokenmeter/reader/typeset"
	"tokenmeter/record/run"
)

// Terminal writes the result table: verdict, what it means, the latencies with
// their intervals, what the server delivered, what failed, why the figures can
// be believed and what to do next.
func Terminal(w io.Writer, r *run.Run, o Options) error {
	b := bufio.NewWriter(w)
	if o.Dir == "" {
		o.Dir = r.Dir
	}
	newTerminal(b, o).show(view.New(r))
	return b.Flush()
}

type terminal struct {
	w     *bufio.Writer
	o     Options
	width int
}

func newTerminal(w *bufio.Writer, o Options) *terminal {
	width := o.Width
	if width <= 0 {
		width = 80
	}
	return &terminal{w: w, o: o, width: max(width, 40)}
}

func (t *terminal) show(v *view.View) {
	t.head(v)
	t.paragraph(strings.Join(v.Sentences, " "))
	for _, o := range v.Objectives {
		t.labelled(pad(o.Mark(), 7)+"  ", o.Text+": "+o.Says, 9, colours[o.State])
	}
	t.why()
	for _, c := range v.Checks {
		t.labelled(pad(strings.ToUpper(c.Verdict), 7)+"  ", c.Name+": "+c.Says, 9, colours[strings.ToUpper(c.Verdict)])
	}
	if len(v.Rows) > 0 {
		t.line("")
		t.table(v.Rows)
		for _, note := range v.Notes {
			t.paragraph(note)
		}
	}
	t.line("")
	t.facts(v)
}

func (t *terminal) why() {
	for _, line := range t.o.Why {
		t.labelled(pad("WHY", 7)+"  ", line, 9, "")
	}
}

// label is the width of the labels of the last block.
const label = 10

func (t *terminal) facts(v *view.View) {
	for _, f := range v.Facts {
		t.fact(f.Label, f.Text)
		if f.Label == "failed" && v.Failure != nil {
			t.fact("1st error", v.Failure.First)
			t.fact("advice", v.Failure.Advice)
		}
	}
	t.fact("trust", v.Trust)
	for _, w := range v.Warnings {
		t.fact("warning", w)
	}
	t.fact("run", v.What)
	t.fact("next", v.Next)
	if t.o.Dir != "" {
		t.saved(t.o.Dir)
	}
	t.fact("objective", v.Offer)
}

func (t *terminal) fact(name, text string) {
	if text != "" {
		t.labelled(pad(name, label), text, label, "")
	}
}

// saved is the last line of a run: where it lies, and how to see it again.
func (t *terminal) saved(dir string) {
	shown, command := t.text(dir), t.text("tokenmeter report "+typeset.Quote(dir))
	line := pad("saved", label)
	if t.o.Link != "" && !t.o.ASCII {
		shown = "\x1b]8;;file://" + escapePath(t.o.Link) + "\x1b\\" + shown + "\x1b]8;;\x1b\\"
	}
	if label+typeset.Width(dir)+len("    again: ")+typeset.Width(command) > t.width {
		t.line(line + shown)
		t.line(strings.Repeat(" ", label) + "again: " + command)
		return
	}
	t.line(line + shown + "    again: " + command)
}

// head is the first line: the verdict, the objectives, the size on the right.
func (t *terminal) head(v *view.View) {
	left := v.Verdict + ".  " + v.Judged
	right := v.Size
	gap := t.width - typeset.Width(left) - typeset.Width(right)
	text := t.colour(v.Verdict, colours[v.Verdict]) + t.text(left[len(v.Verdict):])
	if gap < 2 {
		if typeset.Width(left) > t.width {
			t.line(t.colour(v.Verdict, colours[v.Verdict]) + ".")
			t.paragraph(v.Judged)
		} else {
			t.line(text)
		}
		t.line(t.text(right))
		return
	}
	// At most as far as the table reaches, so that both are read together.
	t.line(text + strings.Repeat(" ", min(gap, max(2, 78-typeset.Width(left)-typeset.Width(right)))) + t.text(right))
}

// table writes the latencies; intervals go to a second line where one line is
// too narrow for them.
func (t *terminal) table(rows []view.Row) {
	g := newGrid(rows)
	if g.total() <= t.width {
		t.line(g.header())
		for _, r := range rows {
			t.line(t.text(g.line(r)))
		}
		return
	}
	g = newNarrowGrid(rows)
	if g.total() > t.width {
		t.list(rows)
		return
	}
	t.line(g.header())
	for _, r := range rows {
		t.line(t.text(g.line(r)))
		if second := g.second(r); strings.TrimSpace(second) != "" {
			t.line(t.text(second))
		}
	}
}

// list has a line for each percentile, for very narrow terminals.
func (t *terminal) list(rows []view.Row) {
	for _, r := range rows {
		t.line(fmt.Sprintf("%s %s, n %s", r.Name, r.Unit, r.N))
		for i, c := range r.Cells {
			t.line(t.text(fmt.Sprintf("  %s  %s", view.Percentiles[view.Shown[i]].Name, c.Text())))
		}
	}
}

// labelled writes a label and text that hangs behind it.
func (t *terminal) labelled(label, text string, indent int, colour string) {
	text = t.text(text)
	room := t.width - typeset.Width(label)
	lines := wrap(text, room, t.width-indent)
	for i, line := range lines {
		if i == 0 {
			t.line(t.colour(t.text(strings.TrimRight(label, " ")), colour) + label[len(strings.TrimRight(label, " ")):] + line)
			continue
		}
		t.line(strings.Repeat(" ", indent) + line)
	}
}

func (t *terminal) paragraph(text string) {
	for _, line := range wrap(t.text(text), min(t.width, 78), min(t.width, 78)) {
		t.line(line)
	}
}

func (t *terminal) line(s string) {
	t.w.WriteString(strings.TrimRight(s, " "))
	t.w.WriteByte('\n')
}

// text makes words fit to be sent to the terminal.
func (t *terminal) text(s string) string {
	s = typeset.Clean(s)
	if t.o.ASCII {
		s = typeset.ASCII(s)
	}
	return s
}

func (t *terminal) colour(s, code string) string {
	if !t.o.Color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// colours repeat what the word of a state, or the sign of a point, says already: green,
// yellow and red.
var colours = map[string]string{
	view.Valid: "32", view.Held: "32", string(compare.Better): "32",
	view.Suspect: "33", view.Unknown: "33", view.Open: "33", view.Voided: "33", string(compare.Warn): "33", "▲": "33",
	view.Invalid: "31", view.Missed: "31", string(compare.Worse): "31", string(compare.Refuse): "31", "■": "31",
}

// widths are those of columns, so that each cell has room.
func (t *terminal) widths(rows [][]string) (widths []int) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], typeset.Width(t.text(cell)))
		}
	}
	return widths
}

func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-typeset.Width(s)))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-typeset.Width(s))) + s
}

// glued are units that stay on the line of their number.
var glued = strings.NewReplacer(" %", "\u00a0%", " ms", "\u00a0ms", "± ", "±\u00a0")

// command is a command in running text, up to the first thing it is given.
var command = pattern.Lazy(`tokenmeter [a-z]+ ('[^']*'|[^\s']+)`)

// wrap breaks text at spaces, but none within a command that fits into a line;
// words longer than a line are cut.
func wrap(text string, first, rest int) []string {
	var lines []string
	line, room := "", max(first, 10)
	text = command().ReplaceAllStringFunc(glued.Replace(text), func(c string) string {
		if typeset.Width(c) >= max(rest, 10) { // a full stop may follow
			return c
		}
		return strings.ReplaceAll(c, " ", "\u00a0")
	})
	flush := func() {
		lines = append(lines, strings.ReplaceAll(line, "\u00a0", " "))
		line, room = "", max(rest, 10)
	}
	for _, word := range strings.Split(text, " ") {
		if line != "" && typeset.Width(line)+1+typeset.Width(word) > room {
			flush()
		}
		for {
			head, tail := typeset.Cut(word, room) // it looks no further: a word may have a million letters
			if tail == "" {
				break
			}
			line, word = head, tail
			flush()
		}
		if line != "" && word != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		flush()
	}
	return lines
}

// escapePath makes a path fit for a file URL.
func escapePath(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`%?#"\;`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
