//go:build !lean

package imports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// tableRow is a row of server_metrics_export.parquet with a label.
type tableRow struct {
	URL    string   `parquet:"endpoint_url,dict"`
	Name   string   `parquet:"metric_name,dict"`
	Kind   string   `parquet:"metric_type,dict"`
	AtNS   int64    `parquet:"timestamp_ns"`
	Value  *float64 `parquet:"value"`
	Sum    *float64 `parquet:"sum"`
	Count  *float64 `parquet:"count"`
	Le     string   `parquet:"bucket_le,dict"`
	Bucket *float64 `parquet:"bucket_count"`
	Label  string   `parquet:"label,dict"`
}

// A text stands in a table once, however many rows have it.
func TestTablesThatUnfold(t *testing.T) {
	const most = 1 << 20
	one := 1.0
	for _, c := range []struct {
		label int // bytes
		rows  int
		each  int64 // ns between rows
		want  string
	}{
		{1 << 20, 1, 0, "a text of 1024 KiB is longer than any name or label"},
		{1 << 10, 2000, 0, "as text the table is larger than the 1 MiB that are read"},
		{1 << 10, 2000, 1, "as text the table is larger than the 1 MiB that are read"},
		{0, 5000, 1, "as text the table is larger than the 1 MiB that are read"}, // pages with little on them
		{1 << 10, 500, 1, ""},
	} {
		var file bytes.Buffer
		w := parquet.NewGenericWriter[tableRow](&file)
		for i := range c.rows {
			_, _ = w.Write([]tableRow{{URL: "u", Name: "a", Kind: "gauge", AtNS: int64(i) * c.each, Value: &one, Label: strings.Repeat("x", c.label)}})
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		in, err := NewInput("f", &file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = readTable(in, most, func(*Reading) error { n++; return nil })
		if c.want == "" && (err != nil || n != c.rows) || c.want != "" && (n > 0 || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("%d rows with a label of %d bytes: %d readings, %v", c.rows, c.label, n, err)
		}
	}
}
