package dashboard

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tokenmeter/service/slo/rules"
	"tokenmeter/service/telemetry"
	"tokenmeter/service/telemetry/telemetrytest"

	"github.com/goccy/go-yaml"
)

// Every file is what its readers can parse.
func TestFiles(t *testing.T) {
	for name, make := range map[string]func(io.Writer) error{"grafana.json": Grafana, "datadog.json": Datadog, "keda.yaml": KEDA, "hpa.yaml": HPA} {
		var b bytes.Buffer
		if err := make(&b); err != nil {
			t.Fatal(err)
		}
		var any any
		var err error
		if strings.HasSuffix(name, "json") {
			err = json.Unmarshal(b.Bytes(), &any)
		} else {
			err = yaml.Unmarshal(b.Bytes(), &any)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever a dashboard asks for exists, with the labels that it asks by.
func TestEveryMetricExists(t *testing.T) {
	if budgetLeft != rules.BudgetRemaining {
		t.Error("the rules record the budget under another name")
	}
	n := 0
	for _, path := range []string{"grafana.json", "keda.yaml", "hpa.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "dashboards", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range metricsIn(string(text)) {
			n++
			if telemetrytest.ByName(name) == nil {
				t.Errorf("%s asks for %s, which does not exist", path, name)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "dashboards", "datadog.json"))
	if err != nil {
		t.Fatal(err)
	}
	dotted := map[string]bool{}
	for _, m := range telemetry.Table {
		dotted[m.Dotted()] = true
	}
	for _, m := range regexp.MustCompile(`(?:sum|max|p\d\d):(tokenmeter[a-z0-9_.]*)\{`).FindAllStringSubmatch(string(text), -1) {
		n++
		if !dotted[m[1]] {
			t.Errorf("datadog.json asks for %s, which does not exist", m[1])
		}
	}
	if n < 30 {
		t.Errorf("only %d metrics were found", n)
	}
	for _, r := range rows {
		for _, p := range r.panels {
			for _, m := range []*telemetry.Metric{p.metric, p.of} {
				for _, label := range p.by {
					if m != nil && !strings.Contains(" "+strings.Join(m.Labels, " ")+" ", " "+label+" ") {
						t.Errorf("%q is by %s, which %s has not", p.title, label, m.Name)
					}
				}
			}
		}
	}
}

var named = regexp.MustCompile(`(?:^|[^:\w])(tokenmeter_\w+)`) // not what rules record

// metricsIn lists the names of metrics in a text, without the endings of a
// histogram's series.
func metricsIn(text string) []string {
	var all []string
	for _, found := range named.FindAllStringSubmatch(text, -1) {
		name := found[1]
		for _, end := range []string{"_bucket", "_sum", "_count"} {
			if m := telemetrytest.ByName(strings.TrimSuffix(name, end)); m != nil && m.Kind == telemetry.Histogram {
				name = m.Name
			}
		}
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
