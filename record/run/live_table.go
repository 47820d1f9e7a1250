//go:build !lean

package run

import (
	"bufio"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// A table of live requests has metadata of its own: it is no run's.
const (
	liveKey     = "tokenmeter.live"
	liveVersion = "v1"
)

// LiveTable writes a table of live requests, a row each, as Parquet. One goroutine uses it.
type LiveTable struct {
	buf    *bufio.Writer
	out    *parquet.GenericWriter[LiveRow]
	row    []LiveRow
	rows   int
	events int
}

// NewLiveTable begins a table.
func NewLiveTable(w io.Writer) *LiveTable {
	buf := bufio.NewWriterSize(w, 1<<18)
	return &LiveTable{buf: buf, row: make([]LiveRow, 1), out: parquet.NewGenericWriter[LiveRow](buf,
		parquet.Compression(new(zstd.Codec)),
		parquet.DictionaryMaxBytes(1<<20),
		parquet.CreatedBy("tokenmeter", liveVersion, ""),
		parquet.KeyValueMetadata(liveKey, liveVersion))}
}

// Write adds a row.
func (t *LiveTable) Write(r *LiveRow) error {
	t.row[0] = *r
	if _, err := t.out.Write(t.row); err != nil {
		return err
	}
	t.rows++
	t.events += len(r.EvUS)
	if t.rows < groupRows && t.events < groupEvents {
		return nil
	}
	t.rows, t.events = 0, 0
	return t.out.Flush()
}

// Close ends the table; the writer below stays open.
func (t *LiveTable) Close() error {
	if err := t.out.Close(); err != nil {
		return err
	}
	return t.buf.Flush()
}
