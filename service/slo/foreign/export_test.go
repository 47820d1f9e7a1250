package foreign

import (
	"bytes"
	"strings"
	"testing"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/rules"
)

// What is written as OpenSLO is read as OpenSLO: with the same targets and windows.
func TestOpenSLOThereAndBack(t *testing.T) {
	const file = `timezone: Europe/Berlin
objectives:
  - {name: fast, objective: p99 tpot < 120ms}
  - {name: up, objective: availability >= 99.95%, window: 36h, about: "say \"up\": it is"}
  - {name: monthly, objective: error rate < 1%, calendar: month}
  - {name: sliced, objective: system_output_tps >= 1000, slice: 1m, target: 99%, calendar: week}
`
	objectives, _, err := slo.Load("x.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := rules.OpenSLO(&b, objectives); err != nil {
		t.Fatal(err)
	}
	read, notes, err := Read("x", b.Bytes())
	if err != nil || len(read) != 4 || len(notes) != 0 {
		t.Fatalf("%v, %q, %+v\n%s", err, notes, read, b.String())
	}
	for i, want := range []struct{ name, window, calendar, zone string }{{"fast", "28d", "", ""}, {"up", "36h", "", ""}, {"monthly", "", "month", "Europe/Berlin"}, {"sliced", "", "week", "Europe/Berlin"}} {
		o := read[i]
		if o.Name != want.name || o.Window != want.window || o.Calendar != want.calendar || o.Timezone != want.zone || o.Target != objectives[i].Target {
			t.Errorf("%+v, want %+v", o, want)
		}
	}
	if text := b.String(); !strings.Contains(text, `tokenmeter_slo_bad_total{hash=\"`+objectives[0].Hash) {
		t.Errorf("%s", text)
	}
}
