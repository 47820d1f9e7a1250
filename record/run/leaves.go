//go:build !lean

package run

import (
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// leaf reads one column that is no list of events into a field of an outline,
// row by row. Values come in the library's own form, a few at a time.
type leaf struct {
	pager
	many  bool // several values a row
	set   func(v parquet.Value)
	reset func() // before the values of a row; nil: not needed

	reader parquet.ValueReader
	buffer [128]parquet.Value
	values []parquet.Value // of buffer, not used yet
	alike  bool            // all rows of the page have one value, or none
	same   int64           // further rows that have what the field already holds
}

// leavesOf binds the columns of a table to the fields of an outline. It is not
// ok when a column is not as it is written here; a column that is missing leaves
// its field empty.
func leavesOf(file *parquet.File, o *outline) (leaves []*leaf, ok bool) {
	ours := parquet.SchemaOf(o)
	fields := fieldsOf(o)
	var keys serverKeys
	for _, path := range ours.Columns() {
		want, _ := ours.Lookup(path...)
		have, found := file.Schema().Lookup(path...)
		if !found {
			if len(path) > 1 {
				return nil, false
			}
			continue
		}
		if have.MaxDefinitionLevel != want.MaxDefinitionLevel || have.MaxRepetitionLevel != want.MaxRepetitionLevel ||
			have.Node.Type().Kind() != want.Node.Type().Kind() {
			return nil, false
		}
		l := &leaf{pager: pager{file: file, index: have.ColumnIndex}, many: want.MaxRepetitionLevel > 0}
		if !l.bind(path, o, fields, &keys) {
			return nil, false
		}
		leaves = append(leaves, l)
	}
	return leaves, true
}

// fieldsOf are pointers to the fields of an outline, by their names in files.
func fieldsOf(o *outline) map[string]any {
	all := map[string]any{}
	v := reflect.ValueOf(o).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("parquet"), ","); name != "" {
			all[name] = v.FieldByIndex(f.Index).Addr().Interface()
		}
	}
	return all
}

// bind makes the leaf fill the field that a path names. The values of optional
// fields live in cells that are used again for each row.
func (l *leaf) bind(path []string, o *outline, fields map[string]any, keys *serverKeys) bool {
	var text words
	switch strings.Join(path, ".") {
	case "error.class":
		cell := new(reason)
		l.set = func(v parquet.Value) {
			if o.Error = nil; !v.IsNull() {
				cell.Class = text.of(v)
				o.Error = cell
			}
		}
		return true
	case "error.message": // after its class
		l.set = func(v parquet.Value) {
			if o.Error != nil {
				o.Error.Message = text.of(v)
			}
		}
		return true
	case "server.key_value.key":
		l.reset = func() { o.Server, keys.of = nil, keys.of[:0] }
		l.set = func(v parquet.Value) {
			if !v.IsNull() {
				keys.of = append(keys.of, v.Clone().String())
			}
		}
		return true
	case "server.key_value.value": // after its key
		var i int
		l.reset = func() { i = 0 }
		l.set = func(v parquet.Value) {
			if v.IsNull() || i >= len(keys.of) {
				return
			}
			if o.Server == nil {
				o.Server = make(map[string]float64, len(keys.of))
			}
			o.Server[keys.of[i]] = v.Double()
			i++
		}
		return true
	case "noticed_flags.list.element":
		l.reset = func() { o.NoticedFlags = o.NoticedFlags[:0] }
		l.set = func(v parquet.Value) {
			if !v.IsNull() {
				o.NoticedFlags = append(o.NoticedFlags, text.of(v))
			}
		}
		return true
	}
	if len(path) != 1 {
		return false
	}
	switch p := fields[path[0]].(type) {
	case *int64:
		l.set = func(v parquet.Value) { *p = v.Int64() }
	case *bool:
		l.set = func(v parquet.Value) { *p = v.Boolean() }
	case *float64:
		l.set = func(v parquet.Value) { *p = v.Double() }
	case *string:
		l.set = func(v parquet.Value) { *p = text.of(v) }
	case **int64:
		l.set = optionalCell(p, parquet.Value.Int64)
	case **bool:
		l.set = optionalCell(p, parquet.Value.Boolean)
	case **float64:
		l.set = optionalCell(p, parquet.Value.Double)
	case **string:
		l.set = optionalCell(p, text.of)
	default:
		return false
	}
	return true
}

func optionalCell[T any](p **T, of func(parquet.Value) T) func(parquet.Value) {
	cell := new(T)
	return func(v parquet.Value) {
		if *p = nil; !v.IsNull() {
			*cell = of(v)
			*p = cell
		}
	}
}

// serverKeys are the names of a row's server figures, until their values are read.
type serverKeys struct{ of []string }

// words makes strings of values, the same one while it comes again.
type words struct{ last string }

func (w *words) of(v parquet.Value) string {
	if b := v.ByteArray(); string(b) != w.last {
		w.last = string(b)
	}
	return w.last
}

// begin turns to a row group.
func (l *leaf) begin(group int) error {
	l.release()
	l.same = 0
	return l.pager.begin(group)
}

// next sets the field to what the next row has.
func (l *leaf) next() error {
	if l.same > 0 {
		l.same--
		return nil
	}
	if len(l.values) == 0 {
		if err := l.load(); err != nil {
			return err // io.EOF too: a row is missing
		}
	}
	if !l.many {
		l.set(l.values[0])
		l.values = l.values[1:]
		if l.alike {
			l.same = l.page.NumValues() - 1
			l.release()
		}
		return nil
	}
	if l.reset != nil {
		l.reset()
	}
	for first := true; ; first = false {
		if len(l.values) == 0 {
			if err := l.load(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		if begins := l.values[0].RepetitionLevel() == 0; begins != first {
			if first {
				return errTable
			}
			return nil
		}
		l.set(l.values[0])
		l.values = l.values[1:]
	}
}

// load reads the next values.
func (l *leaf) load() error {
	for {
		if l.reader != nil {
			n, err := l.reader.ReadValues(l.buffer[:])
			if l.values = l.buffer[:n]; n > 0 {
				return nil
			}
			if err != nil && err != io.EOF {
				return err
			}
		}
		l.release()
		if l.pages == nil {
			return io.EOF
		}
		page, err := l.pages.ReadPage()
		if err != nil {
			return err
		}
		l.page, l.reader = page, page.Values()
		nulls, dict := page.NumNulls(), page.Dictionary()
		l.alike = !l.many && (nulls == page.NumValues() || nulls == 0 && dict != nil && dict.Len() == 1)
	}
}

func (l *leaf) release() {
	l.free()
	l.reader, l.values, l.alike = nil, nil, false
}

func (l *leaf) close() error {
	l.release()
	return l.end()
}
