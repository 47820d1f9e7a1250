//go:build !lean

package run

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// tables: a finished run becomes requests.parquet; see lean.go.
const tables = true

// A row group is what a writer holds in memory: it ends after so many rows or
// events, whichever comes first.
const (
	groupRows   = 50_000
	groupEvents = 500_000
)

// parquetVersion is kept in the file's metadata under parquetKey.
const (
	parquetKey     = "tokenmeter.requests"
	parquetVersion = "v1"
)

// rowWriter writes rows as Parquet. One goroutine uses it.
type rowWriter[T any] struct {
	buf    *bufio.Writer
	out    *parquet.GenericWriter[T]
	row    []T // one, to be filled before write
	rows   int
	events int
}

// newRowWriter returns one whose metadata has a key with the version, and further keys,
// each followed by its value.
func newRowWriter[T any](w io.Writer, key, version string, more ...string) *rowWriter[T] {
	buf := bufio.NewWriterSize(w, 1<<18)
	table := &rowWriter[T]{buf: buf, row: make([]T, 1), out: parquet.NewGenericWriter[T](buf,
		parquet.Compression(new(zstd.Codec)), // not the shared one: see outside.go
		parquet.DictionaryMaxBytes(1<<20),    // beyond it plain values are smaller
		parquet.CreatedBy("tokenmeter", version, ""),
		parquet.KeyValueMetadata(key, version))}
	for i := 0; i+1 < len(more); i += 2 {
		table.out.SetKeyValueMetadata(more[i], more[i+1])
	}
	return table
}

// write adds the row, which has so many events.
func (w *rowWriter[T]) write(events int) error {
	if _, err := w.out.Write(w.row); err != nil {
		return err
	}
	w.rows++
	w.events += events
	if w.rows < groupRows && w.events < groupEvents {
		return nil
	}
	w.rows, w.events = 0, 0
	return w.out.Flush()
}

// close ends the table; the writer below stays open.
func (w *rowWriter[T]) close() error {
	if err := w.out.Close(); err != nil {
		return err
	}
	return w.buf.Flush()
}

// tableWriter writes requests.parquet, one row a request, reused with its lists.
type tableWriter struct{ *rowWriter[row] }

func newTableWriter(w io.Writer, more ...string) *tableWriter {
	return &tableWriter{newRowWriter[row](w, parquetKey, parquetVersion, more...)}
}

func (w *tableWriter) write(rec *metric.Record, tl *timeline.Timeline) error {
	w.row[0].fill(rec, tl)
	return w.rowWriter.write(tl.Events.Len())
}

// table is an open requests.parquet.
type table struct {
	file *parquet.File
}

// openTable checks that src is a whole table of ours.
func openTable(src io.ReaderAt, size int64) (*table, error) {
	var file *parquet.File
	err := outside(func() (err error) {
		file, err = OpenParquet(src, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	version, ok := file.Lookup(parquetKey)
	switch {
	case !ok:
		return nil, errors.New("not a table of requests written by tokenmeter")
	case version != parquetVersion:
		return nil, fmt.Errorf("table of version %q, this program reads %s: use a newer tokenmeter", version, parquetVersion)
	}
	return &table{file}, nil
}

// OpenParquet opens a file that may come from anybody: one whose footer says more than
// there is, or whose decoder (LZ4) takes any amount of memory that damaged bytes ask for,
// is refused before the library believes it. The library may panic all the same.
func OpenParquet(src io.ReaderAt, size int64, options ...parquet.FileOption) (*parquet.File, error) {
	if err := checkEnds(src, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(src, size, options...)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Metadata().RowGroups {
		for i := range group.Columns {
			if group.Columns[i].MetaData.Codec == format.Lz4Raw {
				return nil, errors.New("it is compressed with LZ4, which is not read; write it with zstd or snappy")
			}
		}
	}
	return file, nil
}

// checkEnds looks at both ends of a table before the library does: it would
// take as much memory for the footer as a damaged length says.
func checkEnds(src io.ReaderAt, size int64) error {
	const magic, least = "PAR1", 12
	if size < least {
		return errors.New("it is cut short; copy it again from where it was measured")
	}
	var head [4]byte
	var tail [8]byte
	if _, err := src.ReadAt(head[:], 0); err != nil {
		return err
	}
	if _, err := src.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return err
	}
	switch {
	case string(head[:]) != magic:
		return errors.New("it does not start like one; copy it again from where it was measured")
	case string(tail[4:]) != magic:
		return errors.New("its end is missing; copy it again from where it was measured")
	case int64(binary.LittleEndian.Uint32(tail[:4])) > size-least:
		return errors.New("its footer would be longer than the file; copy it again from where it was measured")
	}
	return nil
}

func (t *table) count() int64 { return t.file.NumRows() }

// each yields the timelines in the file's order.
func (t *table) each(yield func(*timeline.Timeline, error) bool) {
	stopped := false
	err := t.read(func(tl *timeline.Timeline, err error) bool {
		stopped = !yield(tl, err)
		return !stopped
	})
	if err != nil && !stopped {
		yield(nil, err)
	}
}

// read yields until the end or the first damage.
func (t *table) read(yield func(*timeline.Timeline, error) bool) error {
	if r := t.columns(t.inOrder()); r != nil {
		return r.readColumns(yield)
	}
	return t.readRows(yield)
}

// readRows reads a table whose lists of events another program wrote in its own
// way: the library then finds the values, row by row.
func (t *table) readRows(yield func(*timeline.Timeline, error) bool) error {
	var reader *parquet.GenericReader[fact]
	if err := outside(func() error { reader = parquet.NewGenericReader[fact](t.file); return nil }); err != nil {
		return err
	}
	defer func() { _ = outside(reader.Close) }()
	facts := make([]fact, 32)
	for {
		var n int
		var end error
		err := outside(func() error { n, end = reader.Read(facts); return nil })
		if err != nil {
			return err
		}
		for i := range facts[:n] {
			tl, err := facts[i].timeline()
			if !yield(tl, err) {
				return nil
			}
			facts[i] = fact{eventLists: facts[i].emptied()}
			facts[i].EvTokens = nil // the counts would be written through the old pointers
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return fmt.Errorf("%w: %w", errTable, end)
		}
		if n == 0 {
			return errTable
		}
	}
}
