package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"tokenmeter/reader/typeset"
)

// screen is what an output can show.
type screen struct {
	terminal bool
	width    int  // columns; 80 where it is not a terminal
	color    bool // colours are wanted and can be shown
	moves    bool // the cursor can be moved
	ascii    bool // only ASCII can be shown

	file *os.File // the terminal; nil where there is none
}

// resized reads the width anew and reports whether it is another.
func (s *screen) resized() bool {
	if s.file == nil {
		return false
	}
	width, ok := terminalWidth(s.file)
	if !ok || width <= 0 || width == s.width {
		return false
	}
	s.width = width
	return true
}

// screen finds out about an output.
func (a *app) screen(w io.Writer, noColor bool) screen {
	s := screen{width: 80}
	if o, ok := w.(output); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	if ok {
		if s.width, s.terminal = terminalWidth(f); s.terminal {
			s.file = f
		}
	}
	if s.width <= 0 {
		s.width = 80
	}
	term, _ := a.env("TERM")
	none, _ := a.env("NO_COLOR")
	s.moves = s.terminal && term != "dumb" && canMove(f)
	s.color = s.moves && !noColor && none == ""
	s.ascii = !a.utf8() || s.terminal && (term == "dumb" || term == "linux")
	return s
}

// print writes a text for people to stdout, in characters that it can show.
func (a *app) print(text string) error {
	if a.screen(a.stdout, true).ascii {
		text = typeset.ASCII(text)
	}
	_, err := io.WriteString(a.stdout, text)
	return err
}

// link is where a link to a folder leads: a relative path has no meaning in one. Empty
// where the output shows no links.
func (s screen) link(dir string) string {
	if !s.terminal || !s.color {
		return ""
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	return "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")
}

// utf8 reports whether the locale says that UTF-8 is understood: the first of
// the three variables that is set decides.
func (a *app) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, ok := a.env(name); ok && v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return utf8Console()
}
