package metric

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// capped returns a copy of a timeline that kept the first most events only.
func capped(full *timeline.Timeline, most int) *timeline.Timeline {
	cut := *full
	cut.Events = timeline.Events{}
	KeepFirst(&cut, most)
	for ev := range full.Events.All() {
		cut.Events.Append(ev)
	}
	cut.Events.Seal()
	if cut.Events.Rest() != nil {
		cut.Flags |= timeline.ArrivalsCapped
	}
	return &cut
}

// What is not kept is in every figure all the same.
func TestFiguresOfAReplyThatIsNotKeptWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := timeline.New()
		full.Streamed, full.Outcome = true, timeline.OK
		full.Clock = rapid.SampledFrom([]timeline.Clock{timeline.Kernel, timeline.User}).Draw(t, "clock")
		choices := rapid.IntRange(1, 3).Draw(t, "choices")
		tells := rapid.SampledFrom([]string{"never", "always", "mostly"}).Draw(t, "tells")
		kinds := []timeline.Kind{timeline.Text, timeline.Text, timeline.Text, timeline.Text, timeline.Reasoning, timeline.Tool, timeline.Ping, timeline.Media}
		at, read, told, n := int64(0), int64(0), int64(0), int64(0)
		for i := range rapid.IntRange(0, 1500).Draw(t, "events") {
			// One draw an event, taken apart: many draws are slow.
			d := rapid.Uint32().Draw(t, "event")
			at += []int64{0, 1, 999, 1000, 20_000, 31_234, 250_000, 5_000_000_000}[d&7] + int64(d>>3&0xff)*int64(d>>11&1)
			if d>>12&3 > 0 {
				read++
			}
			ev := timeline.Event{AtUS: at, Kind: kinds[d>>14&7], Choice: i % choices, Bytes: int64(d >> 17 & 15), Read: read}
			if tells == "always" || tells == "mostly" && d>>21&31 > 0 {
				k := int64(d >> 26 & 3)
				ev.Tokens = timeline.Some(k)
				if ev.Kind.Bears() {
					told += k
				}
			}
			if ev.Kind.Bears() {
				n++
			}
			full.Events.Append(ev)
		}
		switch rapid.IntRange(0, 2).Draw(t, "usage") {
		case 0:
			full.Usage.Output = timeline.Some(told)
		case 1:
			full.Usage.Output = timeline.Some(n)
		}
		cut := capped(full, rapid.IntRange(1, 400).Draw(t, "most"))

		var sums [2][2]float64
		var counts [2][2]int64
		var all [2]Values
		for i, tl := range []*timeline.Timeline{full, cut} {
			all[i] = Scan(tl, func(gap float64) { sums[i][0] += gap; counts[i][0]++ },
				func(gap float64, times int64) { sums[i][1] += gap * float64(times); counts[i][1] += times })
		}
		if counts[0] != counts[1] {
			t.Errorf("gaps and gaps between tokens: %v, want %v", counts[1], counts[0])
		}
		for k := range 2 {
			if math.Abs(sums[0][k]-sums[1][k]) > 1e-9*sums[0][k]+1e-6 {
				t.Errorf("their sums: %v, want %v", sums[1], sums[0])
			}
		}
		all[1].Flags &^= timeline.ArrivalsCapped
		// Stalls are counted by bins: only gaps in the bin of the limit may differ.
		all[1].Stalls = all[0].Stalls
		if all[0] != all[1] {
			t.Errorf("figures\n%+v, want\n%+v", all[1], all[0])
		}
		var by, total int64
		when := rapid.Int64Range(0, at+1).Draw(t, "when")
		for ev := range full.Events.Generation() {
			if total++; ev.AtUS <= when {
				by++
			}
		}
		if gotBy, gotTotal := EventsBy(cut, when); gotTotal != total || gotBy > by || gotBy < by-total/512 {
			t.Errorf("%d of %d events by then, want %d of %d", gotBy, gotTotal, by, total)
		}
	})
}

// A body that is no stream has no pace: what is kept of it is what there is.
func TestEventsOfABodyThatIsNotKeptWhole(t *testing.T) {
	tl := timeline.New()
	KeepFirst(tl, 4096)
	for range 5000 {
		tl.Events.Append(timeline.Event{AtUS: 1000, Kind: timeline.Text, Bytes: 1})
	}
	tl.Events.Seal()
	if tl.Events.Rest() == nil {
		t.Fatal("all are kept")
	}
	if by, all := EventsBy(tl, 999); by != 0 || all == 0 {
		t.Errorf("%d of %d before they came", by, all)
	}
	if by, all := EventsBy(tl, 1000); by != all || all == 0 {
		t.Errorf("%d of %d when they had come", by, all)
	}
}

// A stall is told from the median of all gaps, and quantiles are right to a
// 64th.
func TestStallsAndQuantilesBeyondWhatIsKept(t *testing.T) {
	full := timeline.New()
	full.Streamed, full.Outcome = true, timeline.OK
	at := int64(0)
	for i := range 100_000 {
		at += 20_000 + int64(i%1000)*7
		if i%1000 == 999 {
			at += 400_000
		}
		full.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 4, Read: int64(i)})
	}
	cut := capped(full, 4096)
	want, got := Of(full), Of(cut)
	if got.Stalls.Or(-1) != 100 || want.Stalls.Or(-1) != 100 {
		t.Errorf("%d stalls, want %d", got.Stalls.Or(-1), want.Stalls.Or(-1))
	}
	if len(got.ICLMS) != len(want.ICLMS) || len(got.ITLMS) != len(want.ITLMS) {
		t.Fatalf("%d and %d gaps, want %d and %d", len(got.ICLMS), len(got.ITLMS), len(want.ICLMS), len(want.ITLMS))
	}
	slices.Sort(got.ITLMS)
	slices.Sort(want.ITLMS)
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
		i := int(q * float64(len(want.ITLMS)-1))
		if w, g := want.ITLMS[i], got.ITLMS[i]; math.Abs(g-w) > w/64 {
			t.Errorf("quantile %v is %v, want %v", q, g, w)
		}
	}
}

// A reply without end needs no more memory than a long one.
func TestMemoryOfAReplyWithoutEnd(t *testing.T) {
	spent := func(events int) uint64 {
		var before, after runtime.MemStats
		tl := timeline.New()
		tl.Streamed = true
		KeepFirst(tl, 4096)
		runtime.ReadMemStats(&before)
		for i := range events {
			tl.Events.Append(timeline.Event{AtUS: int64(i) * 15_000, Kind: timeline.Text, Bytes: 4, Read: int64(i)})
		}
		tl.Events.Seal()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(tl)
		return after.TotalAlloc - before.TotalAlloc
	}
	long, longer := spent(100_000), spent(1_000_000)
	if long > 600_000 || longer > long+20_000 {
		t.Errorf("%d bytes for 100,000 events, %d for 1,000,000", long, longer)
	}
}
