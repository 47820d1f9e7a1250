package run

import (
	"io"
	"testing"

	"tokenmeter/record/metric"
)

func BenchmarkAppend(b *testing.B) {
	w, err := Create(b.TempDir(), Run{}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	tl := streamed(0, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(tl); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJournalRead(b *testing.B) {
	payload := encodeTimeline(nil, streamed(0, 100))
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if _, err := decodeTimeline(payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTableWrite(b *testing.B) {
	tl := streamed(0, 100)
	rec := metric.Of(tl)
	w := newTableWriter(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.write(&rec, tl); err != nil {
			b.Fatal(err)
		}
	}
}
