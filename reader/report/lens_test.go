package report

import (
	"bytes"
	"strings"
	"testing"

	"tokenmeter/reader/report/typeset"
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
