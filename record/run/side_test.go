//go:build !lean

package run

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/timeline"
)

// groupsOf writes a table with a row group for so many rows each.
func groupsOf(t *rapid.T, tls []*timeline.Timeline, rows int) []byte {
	var out bytes.Buffer
	w := newTableWriter(&out)
	for i, tl := range tls {
		rec := metric.Of(tl)
		if err := w.write(&rec, tl); err != nil {
			t.Fatal(err)
		}
		if (i+1)%rows == 0 {
			if err := w.out.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The summary of row groups that are read side by side is that of the requests
// one by one, to the last bit.
func TestSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		tls := rapid.SliceOfN(rapid.Custom(anyTimeline), 2, 20).Draw(t, "timelines")
		for i, tl := range tls {
			tl.Request = int64(i)
		}
		content := groupsOf(t, tls, rapid.IntRange(1, 5).Draw(t, "rows"))
		m := Run{Schema: Schema, Objectives: []string{"p99 ttft < 1s", "error rate < 1%", "p50 itl < 1s", "goodput > 99%"}, AllowLowN: true}
		m.Workload.Readers = []float64{5, 50}
		m.Load.Kind = rapid.SampledFrom([]string{"open", "closed"}).Draw(t, "kind")
		if err := writeManifest(dir, &m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, tableFile), content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		source := f.source.(*table)
		if _, ok, err := source.sideBySide(func() gathered {
			return gathered{metric.NewCollector(metric.CollectorOpts{}), objective.NewJudge(nil, false)}
		}); len(source.file.RowGroups()) > 1 && (!ok || err != nil) {
			t.Fatal("not read side by side", err)
		}
		one, err := f.summarise(func(*timeline.Timeline) error { return nil }, false)
		if err != nil {
			t.Fatal(err)
		}
		side, err := Summarise(f)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(one)
		b, _ := json.Marshal(side)
		if !bytes.Equal(a, b) {
			t.Fatalf("one by one: %s\nside by side: %s", a, b)
		}
	})
}

// Of several damages the one that comes first in the file is told.
func TestFirstDamage(t *testing.T) {
	if first([]damaged{{3, errEvents}, {1, errTable}, {0, nil}}) != errTable || first(make([]damaged, 2)) != nil {
		t.Error("not the first")
	}
}
