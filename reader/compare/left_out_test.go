package compare

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Where one side's gaps between tokens are of some answers only, its rows say so.
func TestLeftOutOfITL(t *testing.T) {
	side := func(name string, joined int) Group {
		c := NewCollector(manifest(name, 0))
		for i := range 40 {
			tl := timeline.New()
			tl.Request, tl.DueUS, tl.StartUS = int64(i), int64(i)*1_000_000, int64(i)*1_000_000
			tl.Outcome, tl.Streamed, tl.Evidence, tl.Clock = timeline.OK, true, timeline.Arrivals, timeline.User
			tl.Usage.Output = timeline.Some[int64](20)
			for k := range 20 {
				read := int64(k)
				if i < joined {
					read = int64(k / 2)
				}
				tl.Events.Append(timeline.Event{AtUS: int64(50+10*k) * 1000, Kind: timeline.Text, Bytes: 4, Read: read})
			}
			c.Add(tl)
		}
		return Group{Name: name, Runs: []*Run{c.Run()}}
	}
	for _, c := range []struct {
		a, b int
		want string
	}{
		{0, 0, ""},
		{0, 10, "baseline: none left out; candidate: 10 of 40 answers left out (one read brought several chunks)"},
		{40, 10, "baseline: 40 of 40 answers left out"},
	} {
		r, err := Compare(side("a", c.a), []Group{side("b", c.b)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		for _, row := range r.Rows {
			switch {
			case row.measure.kind == ofGaps:
				if said++; !strings.HasPrefix(row.LeftOut, c.want) || (c.want == "") != (row.LeftOut == "") {
					t.Errorf("%s: %q, want %q", row.Metric, row.LeftOut, c.want)
				}
			case row.LeftOut != "":
				t.Errorf("%s says %q", row.Metric, row.LeftOut)
			}
		}
		if said == 0 {
			t.Error("there is no row of gaps")
		}
	}
}
