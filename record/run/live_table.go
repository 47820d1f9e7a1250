//go:build !lean

package run

import (
	"io"
)

// A table of live requests has metadata of its own: it is no run's.
const (
	liveKey     = "tokenmeter.live"
	liveVersion = "v1"
)

// LiveTable writes a table of live requests, a row each, as Parquet. One goroutine uses it.
type LiveTable struct{ out *rowWriter[LiveRow] }

// NewLiveTable begins a table.
func NewLiveTable(w io.Writer) *LiveTable {
	return &LiveTable{newRowWriter[LiveRow](w, liveKey, liveVersion)}
}

// Write adds a row.
func (t *LiveTable) Write(r *LiveRow) error {
	t.out.row[0] = *r
	return t.out.write(len(r.EvUS))
}

// Close ends the table; the writer below stays open.
func (t *LiveTable) Close() error { return t.out.close() }
