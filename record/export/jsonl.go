package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
)

// Lines writes records as JSON lines, in the order of metric.Record. The text
// of a reply is left as it is (& and < are no code here), but for the
// characters that some programs take for the end of a line.
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

// The encoder escapes U+2028 and U+2029 by itself, and leaves U+0085.
var nextLine, nextLineEscaped = []byte("\u0085"), []byte(`\u0085`)

// Write writes one line.
func (l *Lines) Write(rec *metric.Record) error {
	l.buf.Reset()
	if err := l.enc.Encode(rec); err != nil {
		return err
	}
	line := l.buf.Bytes()
	if bytes.Contains(line, nextLine) {
		line = bytes.ReplaceAll(line, nextLine, nextLineEscaped)
	}
	_, err := l.out.Write(line)
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
