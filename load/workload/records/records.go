// Package records reads files record by record, by number: lines of text, lines
// of JSON, a JSON array, CSV and Parquet. It holds an index of what it has
// passed, never the file, so that a file of many gigabytes is used at once.
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tokenmeter/base/pyjson"
)

// Form is how a file is cut into records.
type Form string

// The forms.
const (
	Text    Form = "text"    // a line is a record
	JSONL   Form = "jsonl"   // a line is a JSON object
	Array   Form = "array"   // a JSON array of objects
	Objects Form = "objects" // JSON objects over several lines each
	CSV     Form = "csv"     // the first line names the columns
	Parquet Form = "parquet" // rows
)

// Row is one record. Values are string, json.Number, int64, float64, bool, nil,
// []any and map[string]any.
type Row interface {
	// Get returns a column's value; a name with points goes into objects.
	Get(name string) (value any, ok bool)
	// Names lists the columns.
	Names() []string
	// String is the record as it stands in the file, as far as it is text.
	String() string
}

// File is an open file. Safe for concurrent use.
type File struct {
	Name string
	Form Form
	rows rows
	in   io.Closer
}

// rows is what the forms have in common.
type rows interface {
	// row returns row i; io.EOF behind the last.
	row(i int64) (Row, int64, error)
	// fromEnd returns the number of the row that is k rows in front of the end
	// (1: the last); the rows may have to be counted for it.
	count() (int64, error)
	last(k int64) (Row, int64, error)
}

// Source is what a file is read from.
type Source interface {
	io.ReaderAt
	io.Closer
}

// Open tells the form of a file by its name and first bytes, unless it is given.
func Open(name string, in Source, size int64, form Form) (*File, error) {
	f := &File{Name: name, Form: form, in: in}
	if form != "" && form != Parquet {
		head := make([]byte, min(size, 4))
		n, _ := in.ReadAt(head, 0)
		if why := Encoding(head[:n]); why != "" {
			return nil, fmt.Errorf("%s: %s", name, why)
		}
	}
	if form == "" {
		guessed, err := guess(name, in, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Form = guessed
	}
	var err error
	switch f.Form {
	case Parquet:
		f.rows, err = openParquet(in, size)
	case CSV:
		f.rows, err = openCSV(in, size)
	case JSONL, Text, Array, Objects:
		f.rows = &cut{in: in, size: size, form: f.Form}
	default:
		err = fmt.Errorf("unknown form %q", f.Form)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Close closes what the file was read from.
func (f *File) Close() error { return f.in.Close() }

// ErrEmpty is a file without a record.
var ErrEmpty = errors.New("there is no record in the file")

func guess(name string, in io.ReaderAt, size int64) (Form, error) {
	head := make([]byte, min(size, 64<<10))
	if n, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return "", err
	} else {
		head = head[:n]
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return Parquet, nil
	}
	if why := Encoding(head); why != "" {
		return "", errors.New(why)
	}
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/")) {
		return "", errors.New("this is Git LFS's pointer to the file: fetch it with git lfs pull")
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	kind := strings.ToLower(filepath.Ext(name))
	switch kind {
	case ".parquet":
		return Parquet, nil
	case ".tsv":
		return "", errors.New("its columns are parted by tabs: write them with commas, as CSV")
	case ".csv":
		return CSV, nil
	case ".jsonl", ".ndjson":
		return JSONL, nil
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	first = bytes.TrimSpace(first)
	switch {
	case len(text) == 0:
		return "", ErrEmpty
	case text[0] == '[':
		if rest := bytes.TrimLeft(text[1:], " \t\r\n"); kind == ".json" || len(rest) > 0 && (rest[0] == '{' || rest[0] == '[' || rest[0] == ']') {
			return Array, nil
		}
	case text[0] == '{' && validStart(text):
		return JSONL, nil
	case text[0] == '{' && (kind == ".json" || len(first) == 1 && bytes.HasPrefix(bytes.TrimSpace(text[1:]), []byte(`"`))):
		return Objects, nil
	case kind != ".json":
	case validStart(text):
		return JSONL, nil
	default:
		return "", fmt.Errorf("the name says JSON, but it begins with %.40q", first)
	}
	return Text, nil
}

// Encoding says what is wrong with a file of texts in an encoding of two or four bytes a
// letter, by its mark or by the zeros between ASCII letters; empty: it is none of them.
func Encoding(head []byte) string {
	var name string
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		name = "UTF-32"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), len(head) >= 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		name = "UTF-16LE"
	case bytes.HasPrefix(head, []byte("\xfe\xff")), len(head) >= 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		name = "UTF-16BE"
	default:
		return ""
	}
	return fmt.Sprintf("the file is in %s, not UTF-8: convert it with iconv -f %s -t UTF-8", name, name)
}

// badText says what is wrong with a record that is no UTF-8: bytes above 127 that
// form no letters are mostly a file in Latin-1 or Windows-1252.
func badText(data []byte) error {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("byte %d of the record, 0x%02X, is no UTF-8; is the file in Latin-1 (iconv -f LATIN1 -t UTF-8) or Windows-1252?", i+1, data[i])
		}
		i += n
	}
	return nil
}

var bom = []byte("\xef\xbb\xbf")

// validStart reports whether the first line, as far as it is there, is JSON.
func validStart(text []byte) bool {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	return !whole && len(line) > 1000 || json.Valid(pyjson.Finite(bytes.TrimSpace(line)))
}

// Row returns record i, from 0, and its line (or row) number, from 1; io.EOF
// behind the last. Errors name the file and the line.
func (f *File) Row(i int64) (Row, int64, error) {
	row, line, err := f.rows.row(i)
	return row, line, f.wrap(line, err)
}

// Last returns the k-th record from the end, from 1. io.EOF when there are not
// so many.
func (f *File) Last(k int64) (Row, int64, error) {
	row, line, err := f.rows.last(k)
	return row, line, f.wrap(line, err)
}

// Count returns how many records there are; it may have to read to the end.
func (f *File) Count() (int64, error) {
	n, err := f.rows.count()
	return n, f.wrap(0, err)
}

func (f *File) wrap(line int64, err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case line > 0:
		return fmt.Errorf("%s:%d: %w", f.Name, line, err)
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}
