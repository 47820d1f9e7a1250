package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// roofedSweep is the sweep on hardware that allows 100 tokens/s a stream, for want of
// bandwidth, and for want of arithmetic no more than 3,200 in all.
func roofedSweep() *sweepView {
	s := madeSweep()
	s.Hardware = "7B/a100"
	for i := range s.Points {
		p := &s.Points[i]
		r := &metric.Roofline{Batch: timeline.Some(p.Value), Bound: "memory", MBU: timeline.Some(0.4), MFU: timeline.Some(p.Value / 100),
			MostOutputTPS: timeline.Some(min(100*p.Value, 3200))}
		if p.Value > 32 {
			r.Bound = "arithmetic"
		}
		p.Roofline = r
	}
	return newSweepView(s)
}

func factOf(v *sweepView, label string) (all []string) {
	for _, f := range v.facts {
		if f.Label == label {
			all = append(all, f.Text)
		}
	}
	return all
}

func TestSweepShowsTheRoofline(t *testing.T) {
	v := roofedSweep()
	if got := strings.Join(v.heads[:5], " "); got != "streams out tok/s at most MBU MFU" {
		t.Errorf("columns %s", got)
	}
	for i, want := range map[int]string{0: "1 40.0 100 40.0 % 1.0 %", 5: "32 1,280 3,200 40.0 % 32.0 %", 6: "64 1,280 3,200 40.0 % 64.0 %"} {
		if got := strings.Join(v.rows[i].cells[:5], " "); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
	want := "7B/a100: bound by memory at 1, 2, 4, 8, 16, 32 streams; bound by arithmetic at 64 streams; 40.0 % of the output that it allows"
	if got := factOf(v, "roofline"); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := factOf(v, "warning"); len(got) > 0 {
		t.Errorf("warned of %q", got)
	}
	// Its line bends where arithmetic ends it.
	if got := fmt.Sprint(v.roof()); got != "[[1 100] [2 200] [4 400] [8 800] [16 1600] [32 3200] [64 3200]]" {
		t.Errorf("roof %s", got)
	}
	var b bytes.Buffer
	if err := SweepCSV(&b, v.s); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{"roofline_output_tps": "3200", "mbu": "0.4", "mfu": "0.64"} {
		at := -1
		for i, name := range rows[0] {
			if name == column {
				at = i
			}
		}
		if at < 0 || rows[7][at] != want {
			t.Errorf("column %s: %q", column, rows[7])
		}
	}
	b.Reset()
	if err := SweepHTML(&b, v.s); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "dotted: the most that 7B/a100 allows") {
		t.Error("the chart does not say what is dotted")
	}
}

// Above 1 the first such point says what is likely counted wrong.
func TestSweepFasterThanItsHardware(t *testing.T) {
	v := roofedSweep()
	for i := 2; i < 5; i++ {
		v.s.Points[i].Roofline.MBU = timeline.Some(1.3)
	}
	got := factOf(newSweepView(v.s), "warning")
	if len(got) != 1 || !strings.HasPrefix(got[0], "At 4 streams MBU is 130.0 % and MFU 4.0 %: more was read than the memory can: the weights have fewer bits") {
		t.Errorf("%q", got)
	}
}

func TestSweepWithoutHardwareHasNoRoofline(t *testing.T) {
	v := newSweepView(madeSweep())
	if strings.Contains(strings.Join(v.heads, " "), "MBU") || factOf(v, "roofline") != nil || v.roof() != nil {
		t.Errorf("%q", v.heads)
	}
}
