//go:build !lean

package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// table is a Parquet file. Rows are read in blocks, of which the last few are
// kept: items are asked for nearly in order, by several workers.
type table struct {
	n     int64
	file  *parquet.File
	times map[string]func(n int64) time.Time // columns of moments, by name

	mu     sync.Mutex
	blocks map[int64][]Row
	order  []int64 // of the blocks, the oldest first
}

const (
	blockRows  = 256
	keptBlocks = 8
)

func openParquet(in io.ReaderAt, size int64) (t *table, err error) {
	defer recovered(&err)
	if err := checkFooter(in, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(in, size)
	if err != nil {
		return nil, err
	}
	for _, group := range f.Metadata().RowGroups {
		for i := range group.Columns {
			if group.Columns[i].MetaData.Codec == format.Lz4Raw { // its decoder takes any amount of memory that damaged bytes ask for
				return nil, errors.New("the Parquet file is compressed with LZ4, which is not read; write it with zstd or snappy")
			}
		}
	}
	if f.NumRows() == 0 {
		return nil, ErrEmpty
	}
	return &table{n: f.NumRows(), file: f, times: timesOf(f), blocks: map[int64][]Row{}}, nil
}

// checkFooter makes sure that the length of the footer fits into the file: the
// library takes so much memory before it looks.
func checkFooter(in io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return errors.New("it is too short for a Parquet file")
	}
	if _, err := in.ReadAt(end[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(end[:])); string(end[4:]) != "PAR1" || n > size-12 {
		return errors.New("the Parquet file is damaged: its end is missing")
	}
	return nil
}

// recovered turns a panic of the library on a damaged file into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the Parquet file is damaged: %v", r)
	}
}

func (t *table) count() (int64, error) { return t.n, nil }

func (t *table) last(k int64) (Row, int64, error) {
	if k > t.n {
		return nil, 0, io.EOF
	}
	return t.row(t.n - k)
}

func (t *table) row(i int64) (Row, int64, error) {
	if i < 0 || i >= t.n {
		return nil, 0, io.EOF
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := i / blockRows
	rows, known := t.blocks[b]
	if !known {
		var err error
		if rows, err = t.read(b * blockRows); err != nil {
			return nil, i + 1, err
		}
		t.blocks[b], t.order = rows, append(t.order, b)
		if len(t.order) > keptBlocks {
			delete(t.blocks, t.order[0])
			t.order = t.order[1:]
		}
	}
	if k := i % blockRows; k < int64(len(rows)) {
		return rows[k], i + 1, nil
	}
	return nil, i + 1, errors.New("the file has fewer rows than it says")
}

func (t *table) read(from int64) (rows []Row, err error) {
	defer recovered(&err)
	r := parquet.NewReader(t.file)
	defer r.Close()
	if err := r.SeekToRow(from); err != nil {
		return nil, err
	}
	for range min(blockRows, t.n-from) {
		var v any
		if err := r.Read(&v); err != nil {
			return nil, err
		}
		fields, ok := plain(v).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("a row is %T", v)
		}
		for name, at := range t.times {
			if n, ok := fields[name].(int64); ok {
				fields[name] = dated(at(n))
			}
		}
		rows = append(rows, &objectRow{fields: fields})
	}
	return rows, nil
}

// timesOf are the columns whose numbers are moments, in a unit that the file tells. A time of
// day is one of the first day.
func timesOf(f *parquet.File) map[string]func(n int64) time.Time {
	in := func(u format.TimeUnit) func(int64) time.Time {
		switch u.Value.(type) {
		case *format.MilliSeconds:
			return time.UnixMilli
		case *format.MicroSeconds:
			return time.UnixMicro
		}
		return func(ns int64) time.Time { return time.Unix(0, ns) }
	}
	times := map[string]func(int64) time.Time{}
	for _, column := range f.Schema().Fields() {
		if !column.Leaf() || column.Type().LogicalType() == nil {
			continue
		}
		switch is := column.Type().LogicalType().Value.(type) {
		case *format.TimestampType:
			times[column.Name()] = in(is.Unit)
		case *format.TimeType:
			times[column.Name()] = in(is.Unit)
		case *format.DateType:
			times[column.Name()] = func(days int64) time.Time { return time.Unix(days*24*60*60, 0) }
		}
	}
	return times
}

func dated(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// julian1970 is the Julian day of 1970-01-01.
const julian1970 = 2440588

// plain brings values to the types of Row.
func plain(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case float32:
		x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // 0.1 as it was written
		return x
	case *big.Float: // a decimal of many digits
		x, _ := v.Float64()
		return x
	case deprecated.Int96: // nanoseconds of a Julian day
		ns := int64(v[1])<<32 | int64(v[0])
		return dated(time.Unix((int64(v[2])-julian1970)*24*60*60, ns))
	case time.Time:
		return dated(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}
