//go:build !lean

package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// mostTableRows is how many rows of server_metrics_export.parquet are taken.
const mostTableRows = 20 << 20

// readServerTable reads server_metrics_export.parquet: a row a value, or a bucket, of a
// reading, ordered by metric. Source: AIPerf 0.13.0,
// aiperf/server_metrics/parquet_exporter.py.
func readServerTable(in *Input, take func(*Reading) error) (err error) {
	defer func() { // the library is not made for files that lie
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%s: the table is damaged: %v", in.Name, broken)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(in.data), int64(len(in.data)))
	if err != nil {
		return fmt.Errorf("%s: this is no table in Parquet's form: %w", in.Name, err)
	}
	columns := file.Schema().Columns()
	at := func(name string) int {
		return slices.IndexFunc(columns, func(path []string) bool { return len(path) == 1 && path[0] == name })
	}
	url, name, kind, when := at("endpoint_url"), at("metric_name"), at("metric_type"), at("timestamp_ns")
	value, sum, count, le, bucket := at("value"), at("sum"), at("count"), at("bucket_le"), at("bucket_count")
	if min(url, name, kind, when, value, sum, count, le, bucket) < 0 {
		return fmt.Errorf("%s: the table has not the columns of AIPerf's server_metrics_export.parquet", in.Name)
	}
	if file.NumRows() > mostTableRows {
		return fmt.Errorf("%s: the table has %d rows, over the %d that are read", in.Name, file.NumRows(), mostTableRows)
	}
	own := []int{url, name, kind, when, value, sum, count, le, bucket, at("unit"), at("description")}
	all := newGathered()
	rows := make([]parquet.Row, 256)
	for _, group := range file.RowGroups() {
		read := group.Rows()
		for {
			n, err := read.ReadRows(rows)
			for _, row := range rows[:n] {
				if len(row) != len(columns) {
					read.Close()
					return fmt.Errorf("%s: a row has %d columns, not %d", in.Name, len(row), len(columns))
				}
				if row[when].Kind() != parquet.Int64 || row[when].Int64() < 0 {
					read.Close()
					return fmt.Errorf("%s: %w", in.Name, errNoMoment)
				}
				p := all.page(moment{textOf(row[url]), row[when].Int64()})
				labels := map[string]string{}
				for i := range row {
					if !row[i].IsNull() && !slices.Contains(own, i) && row[i].Kind() == parquet.ByteArray {
						labels[columns[i][0]] = textOf(row[i])
					}
				}
				name := textOf(row[name])
				if textOf(row[kind]) != "histogram" {
					p.line(name, "", labels, "", number(row[value]))
					continue
				}
				bound := textOf(row[le])
				p.line(name, "_bucket", labels, bound, number(row[bucket]))
				if bound == "+Inf" {
					p.line(name, "_sum", labels, "", number(row[sum]))
					p.line(name, "_count", labels, "", number(row[count]))
				}
			}
			if err == io.EOF || err == nil && n == 0 {
				break
			}
			if err != nil {
				read.Close()
				return fmt.Errorf("%s: %w", in.Name, err)
			}
		}
		if err := read.Close(); err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
	}
	if len(all.order) == 0 {
		return fmt.Errorf("%s: %w", in.Name, errors.New("the table has no row"))
	}
	return all.hand(take)
}

func textOf(v parquet.Value) string {
	if v.IsNull() || v.Kind() != parquet.ByteArray {
		return ""
	}
	return string(v.ByteArray())
}

func number(v parquet.Value) *float64 {
	if v.IsNull() || v.Kind() != parquet.Double {
		return nil
	}
	x := v.Double()
	return &x
}
