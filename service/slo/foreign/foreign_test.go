package foreign

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
)

// Of each file the objectives that can be expressed have the budget that the
// file's own tool gives them: 1 − target, over the same window.
func TestBudgets(t *testing.T) {
	const day = 24 * time.Hour
	type want struct {
		text   string // part of what it compiles to
		budget float64
		window time.Duration // 0: a calendar week
		alerts int           // -1: the default ones
	}
	for file, all := range map[string]map[string]want{
		"sloth": {
			"chat-requests-availability": {"did not fail", 0.001, 30 * day, -1},
			"chat-requests-latency":      {"e2e < 400ms", 0.01, 30 * day, 0},
		},
		"pyrra": {
			"ingress-errors": {"did not fail", 0.001, 28 * day, -1},
			"edge-latency":   {"e2e < 50ms", 0.1, 28 * day, 0},
			"first-token":    {"ttft < 500ms", 0.05, 14 * day, -1},
		},
		"openslo": {
			"web-availability": {"slices", 0.005, 0, 0},
			"latency-most":     {"e2e < 250ms", 0.005, 28 * day, 1},
			"latency-all":      {"e2e < 250ms", 0.0001, 28 * day, 1},
		},
	} {
		data, err := os.ReadFile("testdata/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		read, _, err := Read(file, data)
		if err != nil {
			t.Fatal(err)
		}
		text := File(file+".yaml", read)
		compiled, spec, err := slo.Load("imported.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if len(compiled) != len(all) {
			t.Errorf("%s: %d objectives, want %d\n%s", file, len(compiled), len(all), text)
		}
		for _, o := range compiled {
			w, ok := all[o.Name]
			if !ok {
				t.Errorf("%s: %s is not expected", file, o.Name)
				continue
			}
			if !strings.Contains(o.Compiled(), w.text) || math.Abs(1-o.Target-w.budget) > 1e-12 {
				t.Errorf("%s: %s, target %v, want %v and %v", o.Name, o.Compiled(), o.Target, w.text, 1-w.budget)
			}
			if w.window > 0 && !strings.Contains(o.Compiled(), "rolling "+slo.WindowName(w.window)) || w.window == 0 && !strings.Contains(o.Compiled(), "week") {
				t.Errorf("%s: %s, want %v", o.Name, o.Compiled(), w.window)
			}
			if w.alerts >= 0 && len(o.Alerts) != w.alerts {
				t.Errorf("%s: %d alerts, want %d", o.Name, len(o.Alerts), w.alerts)
			}
		}
		if file == "openslo" && spec.Timezone != "America/New_York" {
			t.Errorf("time zone %q", spec.Timezone)
		}
	}
}

// What has no counterpart is said, each in its place.
func TestLost(t *testing.T) {
	for file, parts := range map[string][]string{
		"sloth":   {"Left out: chat-by-plugin", "the plugin getting_started_availability, which is not run", "30d is sloth's default", `code=~"(5..|429)"`},
		"pyrra":   {"Left out: up", "a gauge of another system"},
		"openslo": {"Left out: averaged", "averaged ratios", "begins at 2022-01-01 12:00:00"},
	} {
		data, err := os.ReadFile("testdata/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		read, notes, err := Read(file, data)
		if err != nil {
			t.Fatal(err)
		}
		text := File(file, read) + strings.Join(notes, "\n")
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in\n%s", part, text)
			}
		}
		if file == "openslo" && !strings.Contains(text, "Service web is not taken over") {
			t.Errorf("%s", text)
		}
	}
}

func TestReadOthers(t *testing.T) {
	for _, text := range []string{"", "a: 1", "[1, 2]", "apiVersion: openslo/v2alpha\nkind: SLO", "version: prometheus/v2", "{", "apiVersion: v1\nkind: ConfigMap"} {
		if all, _, err := Read("x.yaml", []byte(text)); err == nil && len(all) > 0 {
			t.Errorf("%q: %+v", text, all)
		} else if err == nil && text != "" {
			t.Errorf("%q is taken", text)
		}
	}
}

// Whatever a file holds, what is made of it can be read, or nothing is.
func FuzzRead(f *testing.F) {
	for _, file := range []string{"sloth", "pyrra", "openslo"} {
		data, err := os.ReadFile("testdata/" + file + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, err := Read("x", data)
		if err != nil {
			return
		}
		some := false
		for _, o := range all {
			some = some || o.Objective != ""
		}
		if text := File("x", all); some {
			if _, _, err := slo.Load("x", []byte(text)); err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
		}
	})
}
