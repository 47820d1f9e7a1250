package cmdline

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/printable"
)

// String is the flag or argument as a usage line shows it.
func (f *Flag) String() string {
	if !f.positional {
		return "--" + f.Name + f.valueName()
	}
	name := "<" + f.Name + ">"
	if f.several() {
		name += " ..."
	}
	if !f.Required {
		name = "[" + name + "]"
	}
	return name
}

// valueName is = and what stands for the value.
func (f *Flag) valueName() string {
	switch {
	case f.IsBool():
		return ""
	case f.several() && !f.whole:
		return "=" + f.Placeholder + ",..."
	case f.Placeholder == "":
		return "=" + strings.ToUpper(f.Name)
	}
	return "=" + f.Placeholder
}

// Usage is the help of the command, in lines of at most width letters where a word is
// no longer.
func (c *Command) Usage(width int) string {
	h := &help{width: width}
	h.line("Usage: " + c.program.Program + c.summary())
	text := c.Help
	if c.Parent == nil {
		text = c.program.Help
	}
	h.part(text)
	h.part(c.Detail)
	if len(c.Args) > 0 {
		h.line("\nArguments:")
		h.columns(c.Args, false)
	}
	h.flags(c)
	if len(c.commands) > 0 {
		h.line("\nCommands:")
		var rows [][2]string
		for _, below := range c.Leaves() {
			rows = append(rows, [2]string{below.Path(), below.Help})
		}
		h.rows(rows)
	}
	if c.Parent == nil {
		h.line(fmt.Sprintf("\nRun \"%s <command> %s\" for more information on a command.", c.program.Program, c.Flags[0].names()[0]))
	}
	return h.String()
}

// summary is the command with its arguments.
func (c *Command) summary() string {
	words := []string{"", c.Path()}
	if c.Parent == nil {
		words = words[:1]
	}
	var optional int
	for _, f := range c.all() {
		if f.Required {
			words = append(words, f.String())
		}
	}
	for _, a := range c.Args {
		word := a.String()
		if a.optional {
			optional++
			word = strings.TrimRight(word, "]")
		}
		words = append(words, word)
	}
	words[len(words)-1] += strings.Repeat("]", optional)
	if len(c.commands) > 0 {
		words = append(words, "<command>")
	}
	if slices.ContainsFunc(c.all(), func(f *Flag) bool { return !f.Required && !f.help }) {
		words = append(words, "[flags]")
	}
	return strings.Join(words, " ")
}

// help is a page of help as it is written.
type help struct {
	strings.Builder
	width int
}

func (h *help) line(text string) {
	for line := range strings.Lines(text + "\n") {
		h.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

// part writes paragraphs, each behind an empty line; what is indented stays as it is.
func (h *help) part(text string) {
	if text = strings.TrimSpace(text); text != "" {
		for block := range strings.SplitSeq(text, "\n\n") {
			if !strings.HasPrefix(block, " ") {
				block = printable.Wrap(block, h.width, "\n")
			}
			h.line("\n" + block)
		}
	}
}

// flags writes the flags by their groups: those of none first, the others in the order
// of the command's flags. Flags of the program stand apart from the command's.
func (h *help) flags(c *Command) {
	titles := []Group{{"", "Flags:"}}
	for _, f := range c.Visible() {
		if !slices.ContainsFunc(titles, func(g Group) bool { return g.Key == f.Group }) {
			titles = append(titles, c.program.group(f.Group))
		}
	}
	for _, g := range titles {
		h.line("\n" + g.Title)
		var flags []*Flag
		own := 0
		for _, f := range c.Visible() {
			if f.Group == g.Key {
				if flags = append(flags, f); f.help {
					own = len(flags)
				}
			}
		}
		if own > 0 && own < len(flags) {
			flags = slices.Insert(flags, own, nil)
		}
		h.columns(flags, slices.ContainsFunc(flags, func(f *Flag) bool { return f != nil && f.Short != "" }))
	}
}

func (p *Program) group(key string) Group {
	for _, g := range p.Groups {
		if g.Key == key {
			return g
		}
	}
	return Group{key, key}
}

// columns writes flags and what they are, nil for an empty line.
func (h *help) columns(flags []*Flag, short bool) {
	var rows [][2]string
	for _, f := range flags {
		if f == nil {
			rows = append(rows, [2]string{})
			continue
		}
		name := f.String()
		if f.Negatable {
			name = "--[no-]" + f.Name
		}
		switch {
		case f.Short != "":
			name = "-" + f.Short + ", " + name
		case short:
			name = "    " + name
		}
		rows = append(rows, [2]string{name, f.Help})
	}
	h.rows(rows)
}

const between = "    " // the columns

// rows writes two columns, the first one as wide as its widest text that is not too
// wide; a text that is has a line of its own.
func (h *help) rows(rows [][2]string) {
	width := h.width - 2 // behind the indent
	widest, most := 0, max(30, 375*width/1000)
	for _, row := range rows {
		if n := len(row[0]); n < most {
			widest = max(widest, n)
		}
	}
	under := strings.Repeat(" ", widest) + between
	for _, row := range rows {
		left := fmt.Sprintf("  %-*s", widest, row[0])
		lines := strings.Split(printable.Wrap(row[1], width-len(under), "\n"), "\n")
		if len(row[0]) < most {
			left += between + lines[0]
			lines = lines[1:]
		}
		h.line(left)
		for _, line := range lines {
			h.line("  " + under + line)
		}
	}
}
