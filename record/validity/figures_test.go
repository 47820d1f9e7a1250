package validity

import (
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
)

// spoiled are the families with a verdict.
func spoiled(v *Validity, verdict string) (list []string) {
	for _, figure := range Figures {
		if v.Figures[figure] == verdict {
			list = append(list, figure)
		}
	}
	return list
}

// What is known of a check decides which figures it spoils.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		name             string
		change           func(*Facts)
		verdict          string
		suspect, invalid []string
	}{
		{"sound", func(*Facts) {}, Valid, nil, nil},
		{"a full machine, but the kernel stamps", func(f *Facts) { f.Client.CPUBusy = some(1) }, Suspect, []string{Throughput, Delay}, nil},
		{"a full machine, no stamps", func(f *Facts) { f.Client.CPUBusy, f.KernelShare, f.ChargedLagP99MS = some(1), some(0), opt{} }, Invalid, nil, Figures},
		{"a full machine that reads late", func(f *Facts) { f.Client.CPUBusy, f.ChargedLagP99MS = some(1), some(3) }, Invalid, nil, Figures},
		{"a full machine, joined arrivals", func(f *Facts) { f.Client.CPUBusy, f.CoalescedShare = some(0.8), some(0.1) }, Suspect, Figures, nil},
		{"late sends", func(f *Facts) { f.SendLateP99MS = some(80) }, Invalid, nil, []string{TTFT, E2E, Throughput, Delay}},
		{"a server that joins tokens", func(f *Facts) { f.CoalescedShare = some(0.5) }, Invalid, nil, []string{ITL}},
		{"a proxy that buffers", func(f *Facts) { f.BurstShare, f.CoalescedShare = some(0.9), some(0.8) }, Invalid, nil, []string{TTFT, TPOT, ITL}},
		{"another load", func(f *Facts) { f.AchievedOverOffered = some(0.9) }, Invalid, nil, load},
		{"TPOT drifts", func(f *Facts) {
			f.Drifts = []metric.Drift{{Tested: true, Metric: "ttft_ms", First: 100, Second: 101}, {Tested: true, Beyond: true, Metric: "tpot_ms", First: 20, Second: 23, Change: 0.15}}
		}, Suspect, []string{TPOT, ITL, E2E, Throughput}, nil},
	} {
		f := sound()
		c.change(&f)
		v := Judge(f)
		if got := spoiled(&v, Suspect); v.Verdict != c.verdict || !slices.Equal(got, c.suspect) || !slices.Equal(spoiled(&v, Invalid), c.invalid) {
			t.Errorf("%s: %s, suspect %v, invalid %v; want %s, %v, %v", c.name, v.Verdict, got, spoiled(&v, Invalid), c.verdict, c.suspect, c.invalid)
		}
	}
}

// The verdict on a run is never better than that on one of its figures, and nobody
// calls a figure safe that is not valid.
func TestFiguresAndTheWhole(t *testing.T) {
	f := sound()
	f.Client.CPUBusy = some(1)
	v := Judge(f)
	safe, _, _ := strings.Cut(v.Safe(), " are safe")
	for _, figure := range Figures {
		if worse(v.Verdict, v.Figures[figure]) != v.Verdict {
			t.Errorf("%s is %s, the run %s", figure, v.Figures[figure], v.Verdict)
		}
		if strings.Contains(safe, titles[figure]) != (v.Figures[figure] == Valid) {
			t.Errorf("%q of %s, which is %s", safe, figure, v.Figures[figure])
		}
	}
	v.Damaged("cut short")
	if v.Of("ttft") != Unknown || v.Safe() != "" {
		t.Errorf("damaged: %s, %q", v.Of("ttft"), v.Safe())
	}
}

// Every metric with a definition is of a family, or the verdict on the whole counts.
func TestFigureOf(t *testing.T) {
	for metric, want := range map[string]string{
		"ttft": TTFT, "ttft_ms": TTFT, "ttfo": TTFT, "tpot_adj_ms": TPOT, "decode_tps": TPOT, "itl": ITL, "icl_ms": ITL, "max_gap": ITL,
		"e2e": E2E, "e2e_tps": E2E, "task success": E2E, "error rate": Errors, "check pass": Errors, "system_output_tps": Throughput,
		"usd_per_1k_output": Throughput, "delay_ms": Delay, "goodput": "", "": "",
	} {
		if got := FigureOf(metric); got != want {
			t.Errorf("%q: %q, want %q", metric, got, want)
		}
	}
	// A run of before figures had verdicts.
	old := Validity{Verdict: Invalid, Checks: []Check{{Name: "cpu_busy", Verdict: Invalid}}}
	if old.Of("ttft") != Invalid || !old.Voids("ttft") {
		t.Errorf("%s, %v", old.Of("ttft"), old.Voids("ttft"))
	}
}
