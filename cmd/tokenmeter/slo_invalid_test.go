//go:build !lean

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Runs that are invalid measurements are counted, and said to be invalid.
func TestSLOOfInvalidRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	m := run.Run{Started: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Target: run.Target{API: "openai-chat", Model: "m"},
		Load: run.Load{Kind: "closed", Concurrency: timeline.Some(int64(1))}}
	m.Client.CPUBusy = timeline.Some(0.99)
	w, err := run.Create(dir, m, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl := timeline.New()
	tl.API, tl.Outcome, tl.CloseUS = "openai-chat", timeline.OK, timeline.Some(int64(5000))
	if err := w.Append(tl); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(m); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "report"} {
		var out, errs bytes.Buffer
		code := Main([]string{"slo", command, dir, "--objective", "p50 e2e < 1s"}, &out, &errs, func(string) (string, bool) { return "", false })
		if code != 0 || !strings.Contains(errs.String(), "is an INVALID measurement and says nothing about its objectives: cpu_busy: ") {
			t.Errorf("slo %s: exit code %d, %q", command, code, errs.String())
		}
	}
}
