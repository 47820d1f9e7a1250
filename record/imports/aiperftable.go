//go:build !lean

package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go"

	"tokenmeter/record/run"
)

// Bounds of a table. A text stands in it once, however many rows have it.
const (
	mostTableRows    = 20 << 20
	mostTableColumns = 1 << 10
	mostTableText    = 16 << 10  // of a label
	mostTablePages   = MostBytes // of the pages that its rows are as text
)

// readServerTable reads server_metrics_export.parquet: a row a value, or a bucket, of a
// reading, ordered by metric. Source: AIPerf 0.13.0,
// aiperf/server_metrics/parquet_exporter.py.
func readServerTable(in *Input, take func(*Reading) error) error {
	return readTable(in, mostTablePages, take)
}

// readTable takes no more than so many bytes of pages.
func readTable(in *Input, most int, take func(*Reading) error) (err error) {
	defer func() { // the library is not made for files that lie
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%s: the table is damaged: %v", in.Name, broken)
		}
	}()
	file, err := run.OpenParquet(bytes.NewReader(in.data), int64(len(in.data)))
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
	if len(columns) > mostTableColumns {
		return fmt.Errorf("%s: the table has %d columns, over the %d that are read", in.Name, len(columns), mostTableColumns)
	}
	own := []int{url, name, kind, when, value, sum, count, le, bucket, at("unit"), at("description")}
	all := gathered{pages: map[moment]*page{}, left: most}
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
				for _, v := range row {
					if !v.IsNull() && v.Kind() == parquet.ByteArray && len(v.ByteArray()) > mostTableText {
						read.Close()
						return fmt.Errorf("%s: a text of %d KiB is longer than any name or label", in.Name, len(v.ByteArray())>>10)
					}
				}
				p := all.page(moment{textOf(row[url]), row[when].Int64()})
				before := p.Len()
				labels := map[string]string{}
				for i := range row {
					if !row[i].IsNull() && !slices.Contains(own, i) && row[i].Kind() == parquet.ByteArray {
						labels[columns[i][0]] = textOf(row[i])
					}
				}
				name, bound := textOf(row[name]), textOf(row[le])
				switch {
				case textOf(row[kind]) != "histogram":
					p.line(name, "", labels, "", number(row[value]))
				case bound == "+Inf":
					p.line(name, "_sum", labels, "", number(row[sum]))
					p.line(name, "_count", labels, "", number(row[count]))
					fallthrough
				default:
					p.line(name, "_bucket", labels, bound, number(row[bucket]))
				}
				if all.left -= p.Len() - before; all.left < 0 || p.full {
					read.Close()
					return fmt.Errorf("%s: as text the table is larger than the %d MiB that are read, or one of its readings than %d MiB; take server_metrics_export.jsonl", in.Name, most>>20, mostPage>>20)
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

// gathered are pages whose rows stand anywhere in a table.
type gathered struct {
	pages map[moment]*page
	order []moment
	left  int // room for more
}

// pageBytes is what a page takes besides its address and its text.
const pageBytes = 256

// page is the one of a moment.
func (g *gathered) page(of moment) *page {
	p := g.pages[of]
	if p == nil {
		p = &page{most: mostPage}
		g.pages[of] = p
		g.order = append(g.order, of)
		g.left -= len(of.url) + pageBytes
	}
	return p
}

// hand hands the pages on in the order of time.
func (g *gathered) hand(take func(*Reading) error) error {
	sort.SliceStable(g.order, func(i, j int) bool { return g.order[i].before(g.order[j]) })
	for _, m := range g.order {
		if err := take(&Reading{URL: m.url, AtNS: m.atNS, Page: g.pages[m].Bytes()}); err != nil {
			return err
		}
	}
	return nil
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
