//go:build !lean

package trend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Users' requests come from the daemon's tables; probes in them, and what was not
// measured or called off, do not count; a damaged table is told of.
func TestLiveRows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "date=2026-11-12")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "live-1.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	table := run.NewLiveTable(f)
	at := time.Date(2026, 11, 12, 10, 0, 0, 0, time.UTC)
	add := func(source string, outcome timeline.Outcome, unmeasured *string, after time.Duration) {
		tl := asTimeline(0, "", 0, false, timeline.Some(300.0), timeline.Some(20.0))
		if outcome != timeline.OK {
			tl.Fail(outcome, "so it ended")
		}
		rec := metric.ScalarsOf(tl)
		row := run.NewLiveRow(&rec, tl, true)
		row.At, row.Source, row.Upstream, row.ModelLabel, row.Unmeasured = at.Add(after), source, "gpu-a", "m", unmeasured
		if err := table.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	unknown := "unknown_api"
	add("live", timeline.OK, nil, 0)
	add("live", timeline.HTTP5xx, nil, time.Second)
	add("probe", timeline.OK, nil, 2*time.Second)
	add("live", timeline.OK, &unknown, 3*time.Second)
	add("live", timeline.CancelledUser, nil, 4*time.Second)
	add("live", timeline.OK, nil, -time.Hour)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(dir, "live-2.parquet"), []byte("PAR1 no"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, notes, err := Read([]string{filepath.Dir(dir)}, at)
	if err != nil || len(rows) != 2 || len(notes) != 1 || !strings.Contains(notes[0], "live-2.parquet") {
		t.Fatalf("%+v, %q, %v", rows, notes, err)
	}
	if r := rows[0]; !r.At.Equal(at) || r.Target != "m gpu-a" || r.Kind != "live" || r.Values[TTFT].Or(0) != 300 || r.Values[TPOT].Or(0) != 20 || r.Failed {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; !r.Failed || r.Values[TTFT].OK() || r.Values[Errors].Or(0) != 1 {
		t.Errorf("%+v", r)
	}
}
