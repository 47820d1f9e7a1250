//go:build !lean

package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// table is a Parquet file. Rows are read in blocks, of which the last few are
// kept: items are asked for nearly in order, by several workers.
type table struct {
	n    int64
	file *parquet.File

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
	return &table{n: f.NumRows(), file: f, blocks: map[int64][]Row{}}, nil
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
		rows = append(rows, &objectRow{fields: fields})
	}
	return rows, nil
}

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
		return float64(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
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
