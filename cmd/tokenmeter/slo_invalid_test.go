//go:build !lean

package main

import (
	"bytes"
	"encoding/json"
	"os"
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

// A run that is named twice counts once in the words about a target that answered
// nothing, too.
func TestSLOCountsUnansweredOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	m := run.Run{Started: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Target: run.Target{API: "openai-chat", Model: "m"}, Load: run.Load{Kind: "closed"}}
	w, err := run.Create(dir, m, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(4) {
		tl := timeline.New()
		tl.Request, tl.API, tl.Outcome, tl.Attempts = i, "openai-chat", timeline.HTTP5xx, 1
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(m); err != nil {
		t.Fatal(err)
	}
	copied := dir + "-copy"
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := Main([]string{"slo", "check", dir, copied, "--objective", "p50 e2e < 1h"}, &out, &errs, func(string) (string, bool) { return "", false })
	if code != 3 || !strings.Contains(errs.String(), "all 4 requests failed") {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// A run whose process was ended has no verdict in its run.json. It is judged by its
// requests, and where they show nothing invalid nobody knows: what other checks need was
// never written. Readers of JSON are told too.
func TestSLOOfBrokenOffRun(t *testing.T) {
	for name, c := range map[string]struct {
		lateUS int64 // how late requests left
		says   string
	}{
		"nothing wrong": {0, "nobody knows whether it is valid: end: "},
		"suspect":       {20_000, "nobody knows whether it is valid: end: "},
		"late":          {900_000, "is an INVALID measurement"},
	} {
		dir := filepath.Join(t.TempDir(), "r")
		m := run.Run{Started: time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC), Target: run.Target{API: "openai-chat", Model: "m"},
			Load: run.Load{Kind: "open", RatePerS: timeline.Some(100.0)}}
		w, err := run.Create(dir, m, run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(200) {
			tl := timeline.New()
			tl.Request, tl.API, tl.Outcome = i, "openai-chat", timeline.OK
			tl.DueUS, tl.StartUS, tl.SentUS = i*10_000, i*10_000+c.lateUS, timeline.Some(c.lateUS)
			tl.CloseUS = timeline.Some(c.lateUS + 5000)
			if err := w.Append(tl); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil { // without Finish, as kill -9 leaves it
			t.Fatal(err)
		}
		for flag, want := range map[string]int{"--no-strict": 0, "--strict": 4} {
			var out, errs bytes.Buffer
			code := Main([]string{"slo", "check", dir, "--objective", "p50 e2e < 1h", flag}, &out, &errs, func(string) (string, bool) { return "", false })
			if code != want || !strings.Contains(errs.String(), c.says) {
				t.Errorf("%s, %s: exit code %d, %q", name, flag, code, errs.String())
			}
			out.Reset()
			Main([]string{"slo", "check", dir, "--objective", "p50 e2e < 1h", flag, "--format", "json"}, &out, &errs, func(string) (string, bool) { return "", false })
			var doc struct{ Objectives []struct{ Notes []string } }
			if err := json.Unmarshal(out.Bytes(), &doc); err != nil || !strings.Contains(strings.ToLower(strings.Join(doc.Objectives[0].Notes, "\n")), strings.ToLower(c.says)) {
				t.Errorf("%s: %v, notes in JSON %q", name, err, doc.Objectives)
			}
		}
	}
}
