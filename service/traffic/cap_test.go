package traffic

import (
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

func TestGapsBeyondTheFirstArrivalsAreCounted(t *testing.T) {
	tl := timeline.New()
	tl.Streamed = true
	metric.KeepFirst(tl, MostArrivals)
	at := int64(0)
	for i := range 5000 {
		at += []int64{20_000, 1, 0, 65_535, 65_536}[i%5]
		tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Read: int64(i)})
	}
	tl.Events.Seal()
	gaps := GapsBeyond(tl)
	// 904 gaps, from the one of 1 µs that ends in the event 4,096 on: 181 of each
	// kind, but 180 of 20 ms. 1 and 0 µs share a bin.
	want := Gaps{0: 181 + 181, 14: 180, 15: 181, 16: 181}
	if n := tl.Events.Len(); n != MostArrivals || gaps == nil || *gaps != want || gaps.N() != 5000-MostArrivals {
		t.Errorf("%d events, gaps %v, want %v", n, gaps, want)
	}
	short := timeline.New()
	metric.KeepFirst(short, MostArrivals)
	short.Events.Append(timeline.Event{Kind: timeline.Text})
	short.Events.Seal()
	if GapsBeyond(short) != nil {
		t.Error("a short reply has gaps beyond")
	}
}
