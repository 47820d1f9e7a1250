//go:build lean

package run

import (
	"errors"
	"io"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// A lean build has no Parquet: a finished run stays a journal, which every
// command of a full build reads, and tables are refused.
const tables = false

var errLean = errors.New("this build has no Parquet (tag lean); build without the tag")

type table struct{}

func openTable(io.ReaderAt, int64) (*table, error) { return nil, errLean }

func (*table) count() int64 { return 0 }

func (*table) each(yield func(*timeline.Timeline, error) bool) { yield(nil, errLean) }

func (*table) sideBySide(func() gathered) (gathered, bool, error) { return gathered{}, false, errLean }

type tableWriter struct{}

func newTableWriter(io.Writer, ...string) *tableWriter { return nil }

func (*tableWriter) write(*metric.Record, *timeline.Timeline) error { return errLean }

func (*tableWriter) close() error { return errLean }

// ReadLive refuses.
func ReadLive(string, func(*LiveFigures) error) error { return errLean }

// LiveTable is refused like every table.
type LiveTable struct{}

// NewLiveTable returns a table that takes nothing.
func NewLiveTable(io.Writer) *LiveTable { return nil }

// Write refuses.
func (*LiveTable) Write(*LiveRow) error { return errLean }

// Close refuses.
func (*LiveTable) Close() error { return errLean }

// ServerSamples leaves out what has no place without Parquet.
func (*Writer) ServerSamples([]metric.ServerSample) error { return nil }

// ServerSamples finds none.
func (*Folder) ServerSamples() []metric.ServerSample { return nil }
