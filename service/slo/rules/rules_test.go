package rules

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/service/slo"

	"github.com/goccy/go-yaml"
)

var update = flag.Bool("update", false, "write golden files anew")

const examples = `
objectives:
  - {name: chat-tpot, objective: p99 tpot < 120ms, about: "Users read along; call the {{platform}} team's phone."}
  - {name: up, objective: availability >= 99.9%, window: 30d, sources: [live, probe], alerts: [{share: 2%, long: 1h}, {budget_below: 10%, severity: ticket}, {exhausted_within: 1d}, {no_data_for: 15m}]}
  - {name: models, objective: p90 ttft < 1s, by: [model], window: 7d}
  - {name: month, objective: availability >= 99%, calendar: month}
  - {name: busy, objective: system_output_tps >= 1000, slice: 1m, target: 99%, window: 7d}
`

// faults are the objectives of testdata/faults.yaml.
const faults = `
objectives:
  - name: up
    objective: availability >= 99%
    alerts: &alerts
      - {share: 2%, long: 1h}
      - {share: 5%, long: 6h, short: 30m}
      - {share: 10%, long: 1d, short: 2h, severity: ticket}
      - {share: 10%, long: 3d, short: 6h, severity: ticket}
      - {budget_below: 25%, severity: ticket}
      - {exhausted_within: 2d}
      - {no_data_for: 15m, severity: ticket}
  - {name: tok, objective: p95 ttft < 1s, by: [model], alerts: *alerts}
`

func load(t testing.TB, text string) []*slo.Objective {
	t.Helper()
	objectives, _, err := slo.Load("slo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objectives
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		os.MkdirAll("testdata", 0o755)
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs (%v): go test ./service/slo/rules -update", path, err)
	}
}

func TestGolden(t *testing.T) {
	objectives := load(t, examples)
	few := []*slo.Objective{objectives[0], objectives[2]}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"rules.yaml":        func(b *bytes.Buffer) error { return Prometheus(b, objectives) },
		"rules_test.yaml":   func(b *bytes.Buffer) error { return PromtoolTests(b, "few.yaml", few) },
		"few.yaml":          func(b *bytes.Buffer) error { return Prometheus(b, few) },
		"kubernetes.yaml":   func(b *bytes.Buffer) error { return Kubernetes(b, few) },
		"faults-rules.yaml": func(b *bytes.Buffer) error { return Prometheus(b, load(t, faults)) },
		"monitors.json": func(b *bytes.Buffer) error {
			left, err := DatadogMonitors(b, objectives)
			if len(left) != 6 || !strings.Contains(left[0], "1 h to 48 h") {
				t.Errorf("left out: %q", left)
			}
			return err
		},
		"datadog.json": func(b *bytes.Buffer) error { return Datadog(b, objectives) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

func TestDatadog(t *testing.T) {
	var b bytes.Buffer
	if err := Datadog(&b, load(t, examples)); err != nil {
		t.Fatal(err)
	}
	var list []datadogSLO
	if err := json.Unmarshal(b.Bytes(), &list); err != nil || len(list) != 6 {
		t.Fatal(err, len(list))
	}
	if got := list[0].Thresholds[0]; got != (datadogThreshold{"30d", 99}) || !strings.Contains(list[0].Description, "takes 30d") {
		t.Errorf("28 days became %+v: %s", got, list[0].Description)
	}
	if got := list[1].Thresholds[0]; got != (datadogThreshold{"30d", 99.9}) || strings.Contains(list[1].Description, "Datadog") {
		t.Errorf("30 days became %+v: %s", got, list[1].Description)
	}
}

// promtool finds a program of Prometheus, or skips.
func program(t *testing.T, name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here; .ci/services installs it", name)
	}
	return path
}

// The real promtool accepts the rules, and its unit tests hold.
func TestPromtool(t *testing.T) {
	promtool := program(t, "promtool")
	dir := t.TempDir()
	for _, name := range []string{"rules.yaml", "few.yaml", "rules_test.yaml", "faults-rules.yaml", "faults.yaml", "faults-skip.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, name), data, 0o644)
	}
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"check", "rules", "faults-rules.yaml"}, {"test", "rules", "rules_test.yaml", "faults.yaml", "faults-skip.yaml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "duplicate") {
			t.Errorf("promtool %s: %s", strings.Join(args, " "), out)
		}
		if err != nil {
			if len(out) > 4000 {
				out = out[:4000]
			}
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// A label is a string, whatever YAML would take the name for: Kubernetes refuses
// others, and null would be no label at all.
func TestNamesThatYAMLTakesForOthers(t *testing.T) {
	names := []string{"0", "1e3", "0x1f", "true", "no", "null", "inf", "nan", "2026-01-01", "a.b_c-d", "1_000"}
	text := "objectives:\n"
	for _, name := range names {
		text += "  - {name: '" + name + "', objective: availability >= 99%, alerts: [{share: 2%, long: 1h, short: 5m, severity: page}, {no_data_for: 1h}]}\n"
	}
	all, _, err := slo.Load("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []func(io.Writer, []*slo.Objective) error{Prometheus, Kubernetes} {
		var b strings.Builder
		if err := write(&b, all); err != nil {
			t.Fatal(err)
		}
		type group struct {
			Rules []struct{ Labels map[string]any }
		}
		var doc struct {
			Groups []group
			Spec   struct{ Groups []group }
		}
		if err := yaml.Unmarshal([]byte(b.String()), &doc); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, g := range append(doc.Groups, doc.Spec.Groups...) {
			for _, r := range g.Rules {
				for label, v := range r.Labels {
					if s, is := v.(string); !is {
						t.Errorf("%s: %v is a %T", label, v, v)
					} else if label == "slo" {
						seen[s] = true
					}
				}
			}
		}
		for _, name := range names {
			if !seen[name] {
				t.Errorf("no rule has the name %s", name)
			}
		}
	}
}
