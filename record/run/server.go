//go:build !lean

package run

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"tokenmeter/base/limitio"
	"tokenmeter/record/metric"
)

// The columns of server_metrics.parquet, in their order.
const (
	serverAt = iota
	serverName
	serverSource
	serverValue
)

var serverSchema = sync.OnceValue(func() *parquet.Schema {
	return parquet.NewSchema("server_metrics", parquet.Group{"at_us": parquet.Int(64), "name": parquet.Encoded(parquet.String(), &parquet.RLEDictionary),
		"source": parquet.Int(32), "value": parquet.Leaf(parquet.DoubleType)})
})

// ServerSamples writes what a server told of itself; without samples nothing. It
// is called before Finish.
func (w *Writer) ServerSamples(samples []metric.ServerSample) error {
	if len(samples) == 0 {
		return nil
	}
	return ReplaceFile(filepath.Join(w.dir, serverFile), func(f *os.File) error {
		out := parquet.NewWriter(f, serverSchema(), parquet.Compression(new(zstd.Codec)), parquet.CreatedBy("tokenmeter", parquetVersion, ""))
		for _, s := range samples {
			row := parquet.Row{parquet.Int64Value(s.AtUS).Level(0, 0, serverAt), parquet.ByteArrayValue([]byte(s.Name)).Level(0, 0, serverName),
				parquet.Int32Value(int32(s.Source)).Level(0, 0, serverSource), parquet.DoubleValue(s.Value).Level(0, 0, serverValue)}
			if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
				return err
			}
		}
		return out.Close()
	})
}

// mostServerRows is how much of a file is read: as much as is ever written.
const mostServerRows = 2 << 20

// ServerSamples reads what the server told of itself, in the order of time; none
// where the run has no such file, or one that can't be read.
func (f *Folder) ServerSamples() (samples []metric.ServerSample) {
	file, err := limitio.Open(filepath.Join(f.dir, serverFile))
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	err = outside(func() error {
		table, err := OpenParquet(file, info.Size())
		if err != nil {
			return err
		}
		if !parquet.EqualNodes(table.Schema(), serverSchema()) {
			return errTable
		}
		rows := make([]parquet.Row, 256)
		for _, group := range table.RowGroups() {
			in := group.Rows()
			for {
				n, err := in.ReadRows(rows)
				for _, r := range rows[:n] {
					if len(r) != serverValue+1 || len(samples) == mostServerRows {
						in.Close()
						return errTable
					}
					samples = append(samples, metric.ServerSample{AtUS: r[serverAt].Int64(), Source: int(r[serverSource].Int32()),
						Name: string(r[serverName].ByteArray()), Value: r[serverValue].Double()})
				}
				if err != nil || n == 0 {
					in.Close()
					if err != nil && err != io.EOF {
						return err
					}
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		f.note("%s could not be read (%v) and was left out", serverFile, err)
		return nil
	}
	return samples
}
