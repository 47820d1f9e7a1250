package trend

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

type oracle struct {
	Hours float64
	Rows  []struct {
		AtH    float64 `json:"at_h"`
		Target string
		Probe  string
		Failed bool
		TTFT   timeline.Opt[float64] `json:"ttft_ms"`
		TPOT   timeline.Opt[float64] `json:"tpot_ms"`
	}
	Expected []struct {
		Target, Probe string
		N, Failed     int
		TTFT          Spread `json:"ttft_ms"`
		TPOT          Spread `json:"tpot_ms"`
	}
}

// Probes that were written to run folders over five days, and read again: their
// medians over 72 hours are those of numpy.
func TestMediansAreNumpys(t *testing.T) {
	data, err := os.ReadFile("testdata/medians.json")
	if err != nil {
		t.Fatal(err)
	}
	var o oracle
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	root, begin := t.TempDir(), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, target := range []string{"a", "b"} {
		w, err := run.Create(filepath.Join(root, target, "1"), run.Run{Name: target, Started: begin}, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range o.Rows {
			if r.Target != target {
				continue
			}
			if err := w.Append(asTimeline(int64(i), r.Probe, r.AtH, r.Failed, r.TTFT, r.TPOT)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Finish(run.Run{Name: target, Started: begin}); err != nil {
			t.Fatal(err)
		}
	}
	since := begin.Add(time.Duration((o.Hours - 72) * float64(time.Hour)))
	rows, notes, err := Read([]string{root}, since)
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	groups := Medians(rows)
	if len(groups) != len(o.Expected) {
		t.Fatalf("%d groups", len(groups))
	}
	for _, want := range o.Expected {
		for _, got := range groups {
			if got.Target != want.Target || got.Kind != want.Probe {
				continue
			}
			if got.N != want.N || got.Failed != want.Failed {
				t.Errorf("%s %s: %d, %d failed, want %d, %d", got.Target, got.Kind, got.N, got.Failed, want.N, want.Failed)
			}
			same(t, got.Metrics["ttft_ms"], want.TTFT)
			same(t, got.Metrics["tpot_ms"], want.TPOT)
		}
	}
}

// asTimeline is a request with a TTFT and a TPOT, in whole microseconds.
func asTimeline(n int64, kind string, atH float64, failed bool, ttft, tpot timeline.Opt[float64]) *timeline.Timeline {
	tl := timeline.New()
	tl.Request, tl.Class, tl.Phase, tl.Streamed = n, kind, timeline.Measure, true
	tl.DueUS = int64(math.Round(atH * 3600e6))
	tl.StartUS = tl.DueUS
	tl.Outcome = timeline.OK
	if failed {
		tl.Fail(timeline.HTTP5xx, "no")
		return tl
	}
	first := int64(math.Round(ttft.Or(1) * 1000))
	tl.Events.Append(timeline.Event{AtUS: first, Kind: timeline.Text, Bytes: 3, Read: 0})
	if gap, ok := tpot.Get(); ok { // one more token, so TPOT is the gap
		tl.Events.Append(timeline.Event{AtUS: first + int64(math.Round(gap*1000)), Kind: timeline.Text, Bytes: 3, Read: 1})
		tl.Usage.Output = timeline.Some[int64](2)
	} else {
		tl.Usage.Output = timeline.Some[int64](1)
	}
	return tl
}

func same(t *testing.T, got, want Spread) {
	t.Helper()
	if got.N != want.N {
		t.Errorf("n = %d, want %d", got.N, want.N)
	}
	for _, pair := range [][2]timeline.Opt[float64]{{got.P5, want.P5}, {got.P25, want.P25}, {got.P50, want.P50}, {got.P75, want.P75}, {got.P95, want.P95}} {
		if a, b := pair[0].Or(-1), pair[1].Or(-2); math.Abs(a-b) > 1e-9*b {
			t.Errorf("%v, numpy has %v", a, b)
		}
	}
}

// A cold start is the difference to the same request a moment later; where one of
// the two failed there is none.
func TestColdStarts(t *testing.T) {
	var rows []Row
	add := func(kind string, ttft float64, failed bool) {
		r := Row{At: time.Unix(int64(len(rows)), 0), Target: "x", Kind: kind, Failed: failed}
		if !failed {
			r.Values[TTFT] = timeline.Some(ttft)
		}
		rows = append(rows, r)
	}
	add("cold", 900, false)
	add("light", 1, false)
	add("cold-again", 100, false)
	add("cold", 0, true)
	add("cold-again", 100, false)
	add("cold", 1100, false)
	add("cold-again", 100, false)
	groups := Medians(rows)
	s := groups[0].Metrics[ColdStart]
	if groups[0].Kind != "cold" || s.N != 2 || s.P50.Or(0) != 900 {
		t.Errorf("%+v", s)
	}
	if _, ok := groups[1].Metrics[ColdStart]; ok {
		t.Error("a light probe has a cold start")
	}
}

// What was not measured is null, empty or –, and never 0.
func TestMediansForms(t *testing.T) {
	rows := []Row{{Target: "a|b\x1b[2J<script>", Kind: "light", Failed: true}}
	for form, want := range map[string]string{"table": "–", "json": `"p50": null`, "csv": ",1,1,,,,", "markdown": "–"} {
		var b bytes.Buffer
		if err := WriteMedians(&b, form, Window{}, Medians(rows), nil); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "NaN") {
			t.Errorf("%s: %s", form, b.String())
		}
	}
	var b bytes.Buffer
	if err := WriteMedians(&b, "json", Window{}, nil, nil); err != nil || !strings.Contains(b.String(), `"groups": []`) {
		t.Errorf("%s, %v", b.String(), err)
	}
}

// What a router published last stands beside the medians of each target; what it
// did not say is null.
func TestPublishedBeside(t *testing.T) {
	said := func(hour int, provider string, ms timeline.Opt[float64]) []run.Published {
		return []run.Published{{At: time.Date(2026, 11, 12, hour, 5, 0, 0, time.UTC), Provider: provider + "\x1b[2J", Tag: "t", TTFTP50: ms}}
	}
	rows := []Row{{Target: "b", Published: said(8, "Earlier", timeline.Some(1.0))}, {Target: "b"}, {Target: "a"},
		{Target: "b", Published: said(9, "new", timeline.Some(250.0))}, {Target: "c", Published: said(9, "none", timeline.Opt[float64]{})}}
	all := PublishedOf(rows)
	if len(all) != 2 || all[0].Target != "b" || all[0].TTFTP50.Or(0) != 250 || all[1].Target != "c" {
		t.Fatalf("%+v", all)
	}
	for form, want := range map[string][]string{"table": {"Published medians of half an hour", "12 Nov 09:05", "250", "–"},
		"json": {`"target": "b",`, `"at": "2026-11-12T09:05:00Z"`, `"ttft_ms_p50": 250,`, `"tps_p50": null`}, "markdown": {"| b |", "| 250 |"}, "csv": {"target,probe,"}} {
		var b bytes.Buffer
		if err := WriteMedians(&b, form, Window{}, Medians(rows), all); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) || strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "Earlier") {
				t.Errorf("%s: no %q in %s", form, w, b.String())
			}
		}
	}
}

// A folder counts once, however it is named; and what can't be read is said and
// keeps nothing else from being read.
func TestReadThroughLinks(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "all", "x")
	w, err := run.Create(dir, run.Run{Name: "x", Started: time.Now()}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(asTimeline(0, "light", 0, false, timeline.Some(100.0), timeline.Some(10.0))); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(run.Run{Name: "x", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(root, "all", "other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "run.json"), []byte(`{"schema":"another/v9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(root, "all"), link); err != nil {
		t.Skip(err)
	}
	rows, notes, err := Read([]string{link, dir, filepath.Join(root, "all")}, time.Time{})
	if err != nil || len(rows) != 1 || len(notes) == 0 {
		t.Errorf("%d rows, notes %q, %v", len(rows), notes, err)
	}
}

func TestReadNothing(t *testing.T) {
	if _, _, err := Read([]string{filepath.Join(t.TempDir(), "none")}, time.Time{}); err == nil || !strings.Contains(err.Error(), "no runs") {
		t.Error(err)
	}
	if rows, _, err := Read([]string{t.TempDir()}, time.Time{}); err == nil || len(rows) != 0 {
		t.Errorf("an empty folder: %v, %v", rows, err)
	}
}
