package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

func hundredTokens(b testing.TB) *timeline.Timeline {
	return stream(b, `
		t=5ms ROLE
		t=200ms x100 every 20ms C("word")
		t=2181ms FIN + U(256,100) + DONE + EOF`)
}

func TestScanAllocatesNothing(t *testing.T) {
	tl := hundredTokens(t)
	var sum float64
	icl := func(gap float64) { sum += gap }
	itl := func(gap float64, n int64) { sum += gap * float64(n) }
	if n := testing.AllocsPerRun(100, func() { Scan(tl, icl, itl) }); n > 0 {
		t.Errorf("Scan allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { ValuesOf(tl) }); n > 0 {
		t.Errorf("ValuesOf allocates %v times", n)
	}
}

func BenchmarkValues(b *testing.B) {
	tl := hundredTokens(b)
	b.ReportAllocs()
	for b.Loop() {
		ValuesOf(tl)
	}
}

func BenchmarkScan(b *testing.B) {
	tl := hundredTokens(b)
	var sum float64
	b.ReportAllocs()
	for b.Loop() {
		Scan(tl, func(gap float64) { sum += gap }, func(gap float64, n int64) { sum += gap * float64(n) })
	}
}

func BenchmarkOf(b *testing.B) {
	tl := hundredTokens(b)
	b.ReportAllocs()
	for b.Loop() {
		Of(tl)
	}
}
