package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"tokenmeter/base/printable"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// Lines writes records as JSON lines, in the order of metric.Record. The text
// of a reply is left as it is (& and < are no code here), but for the
// characters that act on a terminal or that some programs take for the end of a
// line: they are written as escapes.
type Lines struct {
	out *bufio.Writer
	buf bytes.Buffer
	enc *json.Encoder
}

// NewLines returns a writer of JSON lines. Flush ends it.
func NewLines(w io.Writer) *Lines {
	l := &Lines{out: bufio.NewWriterSize(w, 1<<16)}
	l.enc = json.NewEncoder(&l.buf)
	l.enc.SetEscapeHTML(false)
	return l
}

// Write writes one line.
func (l *Lines) Write(rec *metric.Record) error {
	l.buf.Reset()
	if err := l.enc.Encode(rec); err != nil {
		return err
	}
	_, err := l.out.Write(printable.JSON(l.buf.Bytes()))
	return err
}

// Flush hands on what is buffered.
func (l *Lines) Flush() error { return l.out.Flush() }

func writeJSONL(w io.Writer, f *run.Folder) error {
	lines := NewLines(w)
	for rec, err := range f.Records() {
		if err != nil {
			return err
		}
		if err := lines.Write(&rec); err != nil {
			return err
		}
	}
	return lines.Flush()
}
