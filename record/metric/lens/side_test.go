package lens

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// TTFT 1 s and 100 tokens at 10 ms: beside each other GuideLLM's TPOT is 1.99
// times ours and the glossaries' 1 % below it, in our unit whatever theirs is.
func TestBeside(t *testing.T) {
	tl := newReply().events(timeline.Text, 100, 1000, 10).usage(10, 100).tl
	s := &metric.Summary{Metrics: map[string]metric.Dist{
		"ttft_ms": {N: 1, P50: timeline.Some(1000.0), Mean: timeline.Some(1000.0)},
		"tpot_ms": {N: 1, P50: timeline.Some(10.0), Mean: timeline.Some(10.0)},
	}}
	s.Requests.OK = 1
	tables, err := Apply([]string{"all"}, slices.Values([]*timeline.Timeline{tl}), Facts{Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	figures := Beside(tables)
	find := func(ours, lens, name string) State {
		for _, f := range figures {
			for _, s := range f.States {
				if f.Ours == ours && s.Lens == lens && strings.Contains(s.Name, name) {
					return s
				}
			}
		}
		t.Fatalf("%s says nothing of %s", lens, ours)
		return State{}
	}
	for lens, want := range map[string]float64{"guidellm time_per": 0.99, "guidellm inter": 0, "glossary": -0.01, "vllm": 0, "inference-perf norm": 0.99, "inference-perf .time_per": 0, "mlperf": 0} {
		lens, name, _ := strings.Cut(lens, " ")
		if s := find("tpot_ms", lens, name); math.Abs(s.Change.Or(9)-want) > 1e-9 || s.Ours.Or(0) != 10 || math.Abs(s.Theirs.Or(0)-10*(1+want)) > 1e-9 {
			t.Errorf("%s: %+v", lens, s)
		}
	}
	if s := find("ttft_ms", "otel", ""); s.Stat != "mean" || s.Change.Or(9) != 0 {
		t.Errorf("of a tool with means only: %+v", s)
	}
	for _, f := range figures {
		seen := map[string]bool{}
		for i, s := range f.States {
			if seen[s.Lens+s.Name] {
				t.Errorf("%s states %s twice", s.Lens, s.Name)
			}
			seen[s.Lens+s.Name] = true
			if i > 0 && s.Change.OK() && math.Abs(s.Change.Or(0)) > math.Abs(f.States[i-1].Change.Or(math.Inf(1))) {
				t.Errorf("%s: the larger difference comes later", f.Ours)
			}
		}
		if f.Ours == "goodput.fraction" {
			t.Error("a figure that nobody can tell is shown")
		}
	}
	if f := Beside(nil); len(f) != 0 {
		t.Errorf("of no tool: %+v", f)
	}
}
