package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/timeline"
)

// outlined is what an outline has of a summary.
func outlined(m *Run) string {
	data, _ := json.Marshal([]any{m.Requests, m.Throughput, m.Metrics["itl_ms"], m.Metrics["icl_ms"], m.Tasks, m.Cost, m.Goodput, m.Validity})
	return string(data)
}

// Whatever was recorded, the summary is valid JSON, and the same from the
// journal as from the table. Its outline is that of the whole.
func TestSummaryOfAnything(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "run")
		if err != nil {
			t.Fatal(err)
		}
		tls := rapid.SliceOfN(rapid.Custom(anyTimeline), 0, 6).Draw(t, "timelines")
		for i, tl := range tls {
			tl.Request = int64(i)
		}
		m := Run{Objectives: []string{"p99 ttft < 1s", "mean itl < 1s", "error rate < 1%", "goodput > 99%"}, AllowLowN: true}
		w, err := Create(dir, m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range tls {
			if err := w.Append(tl); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := w.Finish(m) // summarises the journal
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		again, err := Summarise(f)
		if err != nil {
			t.Fatal(err)
		}
		a, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("journal: %s\ntable:   %s", a, b)
		}
		outline, err := Outline(f)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := outlined(&again), outlined(&outline); a != b {
			t.Fatalf("whole:   %s\noutline: %s", a, b)
		}
		file, err := os.ReadFile(filepath.Join(dir, manifestFile))
		if err != nil {
			t.Fatal(err)
		}
		var read Run
		if err := json.Unmarshal(file, &read); err != nil {
			t.Fatal(err)
		}
		for rec, err := range f.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := json.Marshal(&rec); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestGoodIsInTheRecords(t *testing.T) {
	dir := t.TempDir()
	m := Run{Objectives: []string{"p50 ttft < 1s"}}
	w := create(t, dir, Options{})
	slow, failed, late := streamed(1, 3), streamed(2, 3), streamed(3, 3)
	failed.Fail(timeline.HTTP5xx, "503")
	late.Events = timeline.Events{}
	late.Events.Append(timeline.Event{AtUS: 2_000_000, Kind: timeline.Text})
	appendAll(t, w, streamed(0, 3), slow, failed, late)
	sum, err := w.Finish(m)
	if err != nil {
		t.Fatal(err)
	}
	if g := sum.Goodput; g == nil || g.Good != 2 || g.Bad != 2 {
		t.Errorf("goodput %+v", g)
	}
	if sum.Validity.Verdict == "" {
		t.Error("no verdict on the measurement")
	}
	want := []bool{true, true, false, false}
	for rec, err := range open(t, dir).Records() {
		if err != nil {
			t.Fatal(err)
		}
		if good, ok := rec.Good.Get(); !ok || good != want[rec.Request] {
			t.Errorf("request %d: good %v, %v", rec.Request, good, ok)
		}
	}
}
