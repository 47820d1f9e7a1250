package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// Which answers are in ITL is said by reason, wherever ITL stands.
func TestLeftOut(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	add := func(n int, usage int64, gapUS int64, told bool, change func(*timeline.Timeline, int, *timeline.Event)) {
		for range n {
			tl := timeline.New()
			tl.Outcome, tl.Streamed, tl.Evidence = timeline.OK, true, timeline.Arrivals
			tl.Usage.Output = timeline.Some(usage)
			at := int64(100_000)
			for i := range 20 {
				ev := timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 4, Read: int64(i)}
				if told {
					ev.Tokens = timeline.Some[int64](1)
				}
				if change != nil {
					change(tl, i, &ev)
				}
				tl.Events.Append(ev)
				at += gapUS
			}
			tl.CloseUS, tl.Clock = timeline.Some(at), timeline.User
			c.Add(tl)
		}
	}
	add(5, 20, 10_000, false, nil) // one token each
	add(3, 50, 10_000, false, nil) // 50 tokens in 20 chunks
	add(2, 20, 100, false, nil)    // in 2 ms
	add(1, 20, 10_000, true, func(_ *timeline.Timeline, i int, ev *timeline.Event) { ev.Choice = i % 2 })
	add(1, 20, 10_000, true, func(_ *timeline.Timeline, i int, ev *timeline.Event) { ev.Read = int64(i / 2) })
	s := c.Summary()
	got := LeftOut(s.Requests.ITLLeftOut, s.Requests.OK)
	want := "7 of 12 answers left out (3: tokens per chunk not known, 2: came in one burst, 1: one read brought several chunks, 1: several choices in one stream)"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := LeftOut(nil, 12); got != "" {
		t.Errorf("nothing left out is %q", got)
	}
	if got := LeftOut(map[string]int64{"burst": 4}, 9); got != "4 of 9 answers left out (came in one burst)" {
		t.Errorf("%q", got)
	}
}
