package run

import (
	"io"
	"testing"

	"tokenmeter/metric"
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

// Recording happens beside the measurement, so it must not feed the garbage
// collector.
func TestAppendAllocatesHardlyAnything(t *testing.T) {
	if raceDetector {
		t.Skip("pools forget under the race detector")
	}
	w := create(t, t.TempDir(), Options{})
	tl := streamed(0, 100)
	w.pending = make([]byte, 0, 1<<20)
	w.spare = make([]byte, 0, 1<<20)
	if n := testing.AllocsPerRun(100, func() { w.Append(tl) }); n > 4 { // a few a request, none a token
		t.Errorf("%v allocations a request", n)
	}
}
