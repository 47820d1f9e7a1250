package live

import (
	"testing"

	"tokenmeter/timeline"
)

func TestCapKeepsTheFirstArrivalsAndCountsTheOtherGaps(t *testing.T) {
	tl := timeline.New()
	for i := range 5000 {
		tl.Events.Append(timeline.Event{AtUS: int64(i) * 20_000, Kind: timeline.Text, Read: int64(i)})
	}
	cut, gaps := Cap(tl, MostArrivals)
	if n := cut.Events.Len(); n != MostArrivals || !cut.Flags.Has(timeline.ArrivalsCapped) {
		t.Errorf("%d events, flags %v", n, cut.Flags.Names())
	}
	// 16,384 µs ≤ 20,000 µs < 32,768 µs
	if gaps.N() != 5000-MostArrivals || gaps[14] != gaps.N() {
		t.Errorf("gaps %v", gaps)
	}
	if tl.Flags.Has(timeline.ArrivalsCapped) || tl.Events.Len() != 5000 {
		t.Error("the timeline itself was changed")
	}
	if same, none := Cap(tl, 5000); same != tl || none != nil {
		t.Error("a short timeline was changed")
	}
}
