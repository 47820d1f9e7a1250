package report

import (
	"bytes"
	"testing"
)

// The page of a run of 10,000 requests with 100 tokens each.
func BenchmarkHTML(b *testing.B) {
	r, list := generated(10_000, 64, 100, 100)
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := HTML(&out, r, each(list)); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(out.Len()), "bytes/page")
	}
}
