package rules

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Every source of an objective has a budget of its own, and names are unique, as the
// specification wants them within a kind.
func TestOpenSLOHasEverySource(t *testing.T) {
	objectives := load(t, examples)
	var b bytes.Buffer
	if err := OpenSLO(&b, objectives); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{} // the name, and what its total is of
	for text := range strings.SplitSeq(b.String(), "---\n") {
		var doc struct {
			Metadata struct{ Name string }
			Spec     struct {
				Indicator struct {
					Metadata struct{ Name string }
					Spec     struct {
						RatioMetric struct {
							Total struct {
								MetricSource struct{ Spec struct{ Query string } }
							}
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(strings.ReplaceAll(text, "ratioMetric", "ratiometric"), "metricSource", "metricsource")), &doc); err != nil {
			t.Fatal(err)
		}
		name := doc.Metadata.Name
		if got[name] != "" || doc.Spec.Indicator.Metadata.Name != name {
			t.Errorf("%s: a second one, or its indicator is called %s", name, doc.Spec.Indicator.Metadata.Name)
		}
		got[name] = doc.Spec.Indicator.Spec.RatioMetric.Total.MetricSource.Spec.Query
	}
	want := map[string]string{"chat-tpot": "live", "up-live": "live", "up-probe": "probe", "models": "live", "month": "live", "busy": "live"}
	for name, source := range want {
		if !strings.Contains(got[name], `source="`+source+`"`) {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d documents: %v", len(got), got)
	}
}

// A name that ends like a source's is no other objective's part: the specification wants
// names unique, and tools that read two documents of one name keep the last.
func TestOpenSLORefusesTwoOfOneName(t *testing.T) {
	for text, want := range map[string]*NameError{
		"{name: up, objective: error rate < 1%, sources: [live, probe]}, {name: up-live, objective: error rate < 2%}":  {"up-live", [2]string{"up", "up-live"}},
		"{name: up-probe, objective: error rate < 2%}, {name: up, objective: error rate < 1%, sources: [live, probe]}": {"up-probe", [2]string{"up-probe", "up"}},
		"{name: up, objective: error rate < 1%, sources: [live, probe]}, {name: up-run, objective: error rate < 2%}":   nil,
		"{name: up, objective: error rate < 1%, sources: [live]}, {name: up-live, objective: error rate < 2%}":         nil,
	} {
		var b bytes.Buffer
		err := OpenSLO(&b, load(t, "objectives: ["+text+"]"))
		if got, _ := err.(*NameError); (err == nil) != (want == nil) || want != nil && (*got != *want || b.Len() > 0) {
			t.Errorf("%s: %v, and wrote %d bytes", text, err, b.Len())
		}
	}
}
