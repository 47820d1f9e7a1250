//go:build !lean

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
	"tokenmeter/service/slo/history/sqlite"
)

// A daemon that is away leaves an objective that nobody can tell: not held, unless
// what there is shall be judged. As of a moment nothing later is seen.
func TestSLOCheckIsClosed(t *testing.T) {
	dir := t.TempDir()
	config, database := filepath.Join(dir, "slo.yaml"), filepath.Join(dir, "history.db")
	text := "objectives: [{name: up, objective: availability >= 99%}]\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	objectives, _, err := slo.Load(config, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin := time.Now().Add(-3 * time.Hour).Truncate(time.Hour)
	r, err := history.NewRecorder(t.Context(), db, objectives, begin, slo.Live)
	if err != nil {
		t.Fatal(err)
	}
	k := slo.Key{Hash: objectives[0].Hash, Source: slo.Live}
	for minute := range 60 { // good for half an hour, and bad for another
		at := begin.Add(time.Duration(minute) * time.Minute)
		c := slo.Counts{Good: 100, Valid: 100}
		if minute >= 30 {
			c.Good = 0
		}
		r.Count(slo.Increment{Key: k, At: at, Counts: c})
		for s := range 6 {
			if err := r.Flush(t.Context(), at.Add(time.Duration(10*s)*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := r.Flush(t.Context(), begin.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := db.Compact(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	at := func(minute int) string {
		return "--at " + begin.Add(time.Duration(minute)*time.Minute).Format(time.RFC3339)
	}
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"check", 1, "stale", "up, live: not held: stale"},
		{"check --allow-stale", 1, "-4900 %", ""},
		{"check " + at(30), 0, "3,000  3,000", ""},
		{"check " + at(31), 1, "3,000  3,100", ""},
		{"check " + at(0), 0, "There were no requests", "nothing was decided"},
		{"check " + at(90), 1, "stale", "not held: stale"},
		{"report", 0, "stale", ""},
	} {
		var out, errs bytes.Buffer
		args := append(append([]string{"slo"}, strings.Fields(c.args)...), "-c", config, "--store", database)
		code := Main(args, &out, &errs, func(string) (string, bool) { return "", false })
		if code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) {
			t.Errorf("slo %s: exit code %d, want %d\n%s%s", c.args, code, c.code, out.String(), errs.String())
		}
	}
}

// Live data comes from the daemon's history; --min-budget gates a release.
func TestSLOOfLiveData(t *testing.T) {
	dir := t.TempDir()
	config, database := filepath.Join(dir, "tokenmeter.yaml"), filepath.Join(dir, "history.db")
	text := "listen: 127.0.0.1:8088\nslo:\n  objectives:\n    - {name: chat-tpot, objective: p99 tpot < 120ms, sources: [live, probe]}\nlog: {level: info}\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	objectives, _, err := slo.Load(config, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin := time.Now().Add(-time.Minute).Truncate(time.Second)
	r, err := history.NewRecorder(t.Context(), db, objectives, begin, slo.Live, slo.Probe)
	if err != nil {
		t.Fatal(err)
	}
	r.Count(slo.Increment{Key: slo.Key{Hash: objectives[0].Hash, Source: slo.Live}, At: begin.Add(time.Second), Counts: slo.Counts{Good: 997, Valid: 1000}})
	r.Count(slo.Increment{Key: slo.Key{Hash: objectives[0].Hash, Source: slo.Probe}, At: begin.Add(time.Second), Counts: slo.Counts{Good: 95, Valid: 100}})
	for at := begin; at.Before(time.Now()); at = at.Add(10 * time.Second) {
		if err := r.Flush(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"report", 0, "chat-tpot  live", ""},
		{"report --format json", 0, `"budget_remaining": 0.7`, ""},
		{"check", 1, "overspent by 4 budgets", ""}, // the probes missed it, and live traffic did not
		{"check --min-budget chat-tpot=80%", 1, "", "70 % of the live budget is left"},
		{"report --at 2020-01-01T00:00:00Z", 0, "There were no requests to judge", ""},
	} {
		var out, errs bytes.Buffer
		args := append([]string{"slo"}, strings.Fields(c.args)...)
		args = append(args, "-c", config, "--store", database)
		code := Main(args, &out, &errs, func(string) (string, bool) { return "", false })
		if code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) {
			t.Errorf("slo %s: exit code %d, want %d\n%s%s", c.args, code, c.code, out.String(), errs.String())
		}
	}
}

// A history that goes on behind this machine's time was written by another clock: what is
// not seen for that is told.
func TestSLOOfAnotherClock(t *testing.T) {
	dir := t.TempDir()
	config, database := filepath.Join(dir, "slo.yaml"), filepath.Join(dir, "history.db")
	text := "objectives: [{name: up, objective: availability >= 99%}]\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	objectives, _, err := slo.Load(config, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin := time.Now().Add(-time.Minute).Truncate(time.Second)
	r, err := history.NewRecorder(t.Context(), db, objectives, begin, slo.Live)
	if err != nil {
		t.Fatal(err)
	}
	check := func() (errs string) {
		var out, words bytes.Buffer
		Main([]string{"slo", "check", "-c", config, "--store", database}, &out, &words, func(string) (string, bool) { return "", false })
		return words.String()
	}
	for at := begin; at.Before(begin.Add(30 * time.Minute)); at = at.Add(10 * time.Second) {
		if err := r.Flush(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		if at.Equal(begin.Add(time.Minute)) && strings.Contains(check(), "clock") {
			t.Error("a history up to now is said to be ahead")
		}
	}
	if got := check(); !strings.Contains(got, "the history goes on for") {
		t.Errorf("a history of half an hour to come: %q", got)
	}
}
