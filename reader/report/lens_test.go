package report

import (
	"bytes"
	"strings"
	"testing"

	"tokenmeter/reader/typeset"
	"tokenmeter/record/metric/lens"
	"tokenmeter/record/timeline"
)

func TestLens(t *testing.T) {
	tables := []lens.Table{{Lens: "toolx", Tool: "Tool X \x1b[31m", AsOf: "1.0",
		Rows: []lens.Row{
			{Name: "Mean TTFT (ms)", Unit: "ms", Value: timeline.Some(214.04), Ours: "ttft_ms.mean", OurValue: timeline.Some(219.5),
				Why: "the clock starts when the request is sent, ours when it was due, so that the wait for a slot is part of ours"},
			{Name: "Output token throughput", Unit: "tok/s", Value: timeline.Some(12873.26), Ours: "system_output_tps", OurValue: timeline.Some(12880.0)},
			{Name: "p99 ITL (ms)", Unit: "ms", Why: "tokens per event are not known"},
		}, Notes: []string{"2 requests left out: arrivals are not known"}}}
	var b bytes.Buffer
	if err := Lens(&b, tables, Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "lens.txt", b.Bytes())
	if strings.Contains(b.String(), "\x1b") {
		t.Error("control bytes")
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if typeset.Width(line) > 80 {
			t.Errorf("%d columns: %s", typeset.Width(line), line)
		}
	}
}

// Beside each other tools have one unit, the difference in size and a reason where
// there is one.
func TestLenses(t *testing.T) {
	row := func(name, unit string, value, ours float64, path, why string) lens.Row {
		return lens.Row{Name: name, Unit: unit, Value: timeline.Some(value), Ours: path, OurValue: timeline.Some(ours), Why: why}
	}
	tables := []lens.Table{
		{Lens: "toolx", Tool: "Tool X \x1b[31m", Rows: []lens.Row{
			row("mean_ttft", "s", 0.009, 0.05, "ttft_ms.mean", "counts the role chunk as first token"),
			row("median_ttft", "s", 0.009, 0.05, "ttft_ms.p50", "counts the role chunk as first token"),
			row("median_tpot", "s", 0.0199, 0.01, "tpot_ms.p50", "TTFT is inside"),
			row("completed", "requests", 20, 19, "requests.ok", "a cut stream counts as completed"),
		}, Notes: []string{"2 requests left out: arrivals are not known"}},
		{Lens: "tooly", Rows: []lens.Row{
			row("TTFT p50", "ms", 50, 50, "ttft_ms.p50", "never seen, as there is no difference"),
			{Name: "TPOT", Unit: "ms", Ours: "tpot_ms.mean", OurValue: timeline.Some(10.0), Why: "the tokens are not known"},
		}},
	}
	var b bytes.Buffer
	if err := Lenses(&b, tables, Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "lenses.txt", b.Bytes())
	for _, word := range []string{"−82.0 %", "+99.0 %", "the same", "role chunk", "tokens are not known", "arrivals are not known"} {
		if !strings.Contains(b.String(), word) {
			t.Errorf("it does not say %q", word)
		}
	}
	if strings.Contains(b.String(), "never seen") || strings.Contains(b.String(), "\x1b") {
		t.Error("it says too much")
	}
}
