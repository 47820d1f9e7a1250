//go:build !lean

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// A step in a run folder is told on the terminal, in JSON, and to a receiver: once,
// however often it is asked for.
func TestTrend(t *testing.T) {
	root := t.TempDir()
	began := time.Now().UTC().Truncate(time.Hour).Add(-10 * 24 * time.Hour)
	w, err := run.Create(filepath.Join(root, "x"), run.Run{Name: "x", Started: began}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 9 * 24 * 6 {
		tl := timeline.New()
		tl.Request, tl.Class, tl.Phase, tl.Outcome, tl.Streamed = int64(i), "light", timeline.Measure, timeline.OK, true
		tl.DueUS = int64(i) * 600e6
		tl.StartUS = tl.DueUS
		us := 500e3 * math.Exp(0.05*rng.NormFloat64())
		if i > 6*24*6 {
			us *= 1.3
		}
		tl.Events.Append(timeline.Event{AtUS: int64(us), Kind: timeline.Text, Bytes: 1})
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(run.Run{Name: "x", Started: began}); err != nil {
		t.Fatal(err)
	}
	var told atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if s := string(body); !strings.Contains(s, "TTFT of x rose") || !strings.Contains(s, "beside it: ") || !strings.Contains(s, "a deploy") {
			t.Errorf("%s", body)
		}
		told.Add(1)
	}))
	defer receiver.Close()
	file, events := filepath.Join(t.TempDir(), "slo.yaml"), filepath.Join(t.TempDir(), "events.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "objectives: [{name: up, objective: availability >= 99%}]\nnotify: [{webhook: \""+receiver.URL+"\"}]\n")
	write(events, "events: [{at: "+began.Add(6*24*time.Hour).Format(time.RFC3339)+", text: \"a deploy\x1b[2J\"}]\n")
	for range 2 {
		var out, errs bytes.Buffer
		if code := Main([]string{"trend", root, "--notify", file, "--events", events}, &out, &errs, os.LookupEnv); code != exitOK {
			t.Fatalf("%d: %s", code, errs.String())
		}
		if s := out.String(); !strings.Contains(s, "TTFT of x rose ") || strings.Contains(s, "\x1b") {
			t.Errorf("%s", s)
		}
	}
	if told.Load() != 1 {
		t.Errorf("the receiver was told %d times", told.Load())
	}
	var out, errs bytes.Buffer
	if code := Main([]string{"trend", root, "--format", "json"}, &out, &errs, os.LookupEnv); code != exitOK {
		t.Fatalf("%d: %s", code, errs.String())
	}
	var doc struct {
		Schema  string
		Changes []struct {
			Metric string
			Change float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc.Schema != "tokenmeter.trend/v1" || len(doc.Changes) != 1 ||
		doc.Changes[0].Metric != "ttft_ms" || math.Abs(doc.Changes[0].Change-0.3) > 0.05 {
		t.Errorf("%+v, %v", doc, err)
	}
	empty := t.TempDir() // a watch over it must not look like one that finds nothing
	for _, args := range [][]string{{"trend", empty}, {"probe", "--out", empty}, {"trend", root + "/none"}, {"trend", root, "--events", root + "/none"}, {"trend", root, "--notify", events}} {
		if code := Main(args, io.Discard, io.Discard, os.LookupEnv); code != exitUsage {
			t.Errorf("%v: %d", args, code)
		}
	}
}
