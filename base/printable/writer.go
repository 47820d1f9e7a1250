package printable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSON returns JSON in which no character acts on a terminal that shows it:
// those that encoders leave as they are become escapes, which say the same.
func JSON(data []byte) []byte {
	if !acts(data) {
		return data
	}
	out := make([]byte, 0, len(data)+16)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '#' && hashOrder(string(data[:min(longestName, len(data))])):
			out = append(out, `\u0023`...)
		case r == 0x7f || n > 1 && Text(string(r)) != string(r):
			if r > 0xffff {
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x`, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, data[:n]...)
		}
		data = data[n:]
	}
	return out
}

// acts reports whether something in data could need an escape.
func acts(data []byte) bool {
	for _, c := range data {
		if c == 0x7f || c == '#' || c == 0xc2 || c == 0xd8 || c == 0xe2 || c == 0xef || c == 0xf3 { // how such characters begin
			return true
		}
	}
	return false
}

// Writer hands on what is written to it in a form that does nothing to a
// terminal. A character that two writes share waits for its end.
type Writer struct {
	w    io.Writer
	form func([]byte) []byte
	held []byte
}

// JSONWriter returns a Writer of JSON.
func JSONWriter(w io.Writer) *Writer { return &Writer{w: w, form: JSON} }

// EncodeJSON writes v as JSON and ends the line. Markup in it stands as it is; without an
// indent it is one line.
func EncodeJSON(w io.Writer, indent string, v any) error {
	e := json.NewEncoder(JSONWriter(w))
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// LinesWriter returns a Writer of text of several lines.
func LinesWriter(w io.Writer) *Writer {
	return &Writer{w: w, form: func(p []byte) []byte { return []byte(Lines(string(p))) }}
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	if len(w.held) > 0 {
		p = append(w.held, p...)
	}
	end := len(p)
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if c := p[len(p)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-back:]) {
				end = len(p) - back
			}
			break
		}
	}
	rest := bytes.Clone(p[end:])
	if _, err := w.w.Write(w.form(p[:end])); err != nil {
		return 0, err
	}
	w.held = rest
	return n, nil
}
