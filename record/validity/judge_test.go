package validity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"

	"pgregory.net/rapid"
)

func some(v float64) opt { return timeline.Some(v) }

// sound is an open-loop run in which everything is known and in order.
func sound() Facts {
	return Facts{
		Facts: metric.Facts{
			OpenLoop: true, Requests: 1000,
			KernelShare: some(1), LagP99MS: some(0.3), ChargedLagP99MS: some(0), MedianGapMS: some(20),
			SendLateP99MS: some(0.1), OfferedPerS: some(10), AchievedOverOffered: some(1),
			CoalescedShare: some(0), BurstShare: some(0),
			Drifts:        []metric.Drift{{Tested: true, Metric: "ttft_ms", First: 100, Second: 104, Change: 0.04}},
			PromptsUnique: true, PromptsMade: true, PrefixHits: some(0), OSLShortfall: some(0), InputAsked: some(256), ISLError: some(0.01),
		},
		Client: Client{CPUBusy: some(0.2), Steal: some(0), Throttled: some(0)},
	}
}

func find(v Validity, name string) (Check, bool) {
	i := slices.IndexFunc(v.Checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		return Check{}, false
	}
	return v.Checks[i], true
}

func TestSoundRun(t *testing.T) {
	v := Judge(sound())
	if v.Verdict != Valid || len(v.Checks) != 11 {
		t.Errorf("%s with %d checks: %+v", v.Verdict, len(v.Checks), v.Checks)
	}
	for _, c := range v.Checks {
		if c.Verdict != Valid || !c.Value.OK() || !c.Limit.OK() || !strings.HasSuffix(c.Says, ".") {
			t.Errorf("%+v", c)
		}
	}
}

// Every limit of docs/validity.md, on either side of it.
func TestLimits(t *testing.T) {
	drifted := func(f *Facts, v float64) {
		f.Drifts = []metric.Drift{{Tested: true, Metric: "tpot_ms", First: 20, Second: 20 * (1 + v), Change: v, Beyond: true}}
	}
	for _, c := range []struct {
		name             string
		set              func(f *Facts, v float64)
		suspect, invalid float64
	}{
		{"client_lag", func(f *Facts, v float64) { f.ChargedLagP99MS = some(v * 20) }, 0.10, 0.50},
		{"send_late", func(f *Facts, v float64) { f.SendLateP99MS = some(v) }, 5, 50},
		{"achieved_over_offered", func(f *Facts, v float64) { f.AchievedOverOffered = some(v) }, 0.99, 0.95},
		{"coalesced", func(f *Facts, v float64) { f.CoalescedShare = some(v) }, 0.05, 0.25},
		{"coalesced", func(f *Facts, v float64) { f.BurstShare = some(v) }, 0.05, 0.25},
		{"cpu_busy", func(f *Facts, v float64) { f.Client.CPUBusy, f.KernelShare = some(v), some(0) }, 0.70, 0.90},
		{"steal", func(f *Facts, v float64) { f.Client.Steal = some(v) }, 0.02, 0.10},
		{"steal", func(f *Facts, v float64) { f.Client.Throttled = some(v) }, 0.02, 0.10},
		{"drift", drifted, 0.10, 0.30},
		{"drift", func(f *Facts, v float64) { drifted(f, -v) }, 0.10, 0.30},
		{"prefix_hits", func(f *Facts, v float64) { f.PrefixHits = some(v) }, 0.05, 0.25},
		{"osl_shortfall", func(f *Facts, v float64) { f.OSLShortfall = some(v) }, 0.05, 0.20},
		{"isl_error", func(f *Facts, v float64) { f.ISLError = some(v) }, 0.05, 0.20},
		{"errors", func(f *Facts, v float64) { f.Requests, f.Failed = 10_000, int64(math.Round(v*10_000)) }, 0.01, 0.50},
		{"client_errors", func(f *Facts, v float64) { f.Requests, f.ClientErrors = 10_000, int64(math.Round(v*10_000)) }, 0, 0.01},
	} {
		worse := 1.0
		if c.invalid < c.suspect {
			worse = -1
		}
		step := worse * 0.001 * max(1, c.invalid)
		for _, x := range []struct {
			value   float64
			verdict string
			limit   float64
		}{
			{c.suspect - step, Valid, c.suspect}, {c.suspect + step, Suspect, c.suspect},
			{c.invalid - step, Suspect, c.suspect}, {c.invalid + step, Invalid, c.invalid},
		} {
			if x.value < 0 {
				continue
			}
			f := sound()
			c.set(&f, x.value)
			v := Judge(f)
			got, ok := find(v, c.name)
			if !ok || got.Verdict != x.verdict || got.Limit.Or(-1) != x.limit || v.Verdict != x.verdict {
				t.Errorf("%s at %v: %+v (overall %s), want %s", c.name, x.value, got, v.Verdict, x.verdict)
			}
			if x.verdict != Valid && strings.Count(got.Says, ". ") < 1 {
				t.Errorf("%s says what is, not what to do: %q", c.name, got.Says)
			}
		}
	}
}

// Whole streams that came in bursts are not the work of a client that reads late.
func TestBurstsAreNotTheClients(t *testing.T) {
	f := sound()
	f.CoalescedShare, f.BurstShare, f.ChargedLagP99MS = some(1), some(1), some(20)
	got, _ := find(Judge(f), "coalesced")
	if !strings.Contains(got.Says, "holds tokens back") || strings.Contains(got.Says, "fewer streams") {
		t.Errorf("%q", got.Says)
	}
}

// Unknown stays unknown and does not spoil the verdict.
func TestUnknown(t *testing.T) {
	v := Judge(Facts{Facts: metric.Facts{OpenLoop: true, Requests: 10, PromptsUnique: true, InputAsked: some(100)}})
	if v.Verdict != Valid {
		t.Errorf("verdict %s", v.Verdict)
	}
	for _, name := range []string{"client_lag", "send_late", "achieved_over_offered", "coalesced", "cpu_busy", "steal", "drift", "prefix_hits", "isl_error"} {
		if c, ok := find(v, name); !ok || c.Verdict != Unknown || c.Value.OK() || c.Says == "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// What does not apply is not listed.
func TestNotApplicable(t *testing.T) {
	f := sound()
	f.OpenLoop, f.PromptsUnique, f.OutputIsCap, f.InputAsked = false, false, true, opt{}
	v := Judge(f)
	for _, name := range []string{"send_late", "achieved_over_offered", "prefix_hits", "osl_shortfall", "isl_error", "client_errors"} {
		if c, ok := find(v, name); ok {
			t.Errorf("%+v", c)
		}
	}
}

func TestNothingMeasured(t *testing.T) {
	if v := Judge(Facts{}); v.Verdict != Invalid {
		t.Errorf("a run without requests is %s", v.Verdict)
	}
}

// A difference within the intervals is chance.
func TestDriftWithinIntervals(t *testing.T) {
	f := sound()
	f.Drifts = []metric.Drift{{Tested: true, Metric: "ttft_ms", First: 100, Second: 180, Change: 0.8}, {Tested: true, Metric: "tpot_ms", First: 20, Second: 22.4, Change: 0.12, Beyond: true}}
	c, _ := find(Judge(f), "drift")
	if c.Verdict != Suspect || math.Abs(c.Value.Or(0)-0.12) > 1e-9 || !strings.Contains(c.Says, "TPOT rose by 12 %") {
		t.Errorf("%+v", c)
	}
	f.Drifts = f.Drifts[:1]
	if c, _ := find(Judge(f), "drift"); c.Verdict != Valid {
		t.Errorf("%+v", c)
	}
}

// B75: prompts of 5,128 tokens where 1,000 were asked for.
func TestB75(t *testing.T) {
	f := sound()
	f.InputAsked, f.ISLError = some(1000), some(4.128)
	if v := Judge(f); v.Verdict != Invalid {
		t.Errorf("%s", v.Verdict)
	}
	f.AllowISLDrift = true
	if v := Judge(f); v.Verdict != Suspect {
		t.Errorf("allowed: %s", v.Verdict)
	}
}

// An asked length that is a cap: answers that stay far below it to made prompts are
// seen, those to prompts of the user's own are as long as they are.
func TestAnswersFarBelowTheirCap(t *testing.T) {
	for _, c := range []struct {
		short  float64
		made   bool
		listed bool
	}{{0.75, true, true}, {0.5, true, true}, {0.21, true, true}, {0.19, true, false}, {0.75, false, false}} {
		f := sound()
		f.OutputIsCap, f.OSLShortfall, f.OSLDo = true, some(c.short), "Give --ignore-eos."
		if !c.made {
			f.PromptsMade = false
		}
		v := Judge(f)
		got, listed := find(v, "osl_shortfall")
		if listed != c.listed || listed && (got.Verdict != Suspect || v.Verdict != Suspect || !strings.Contains(got.Says, "--ignore-eos")) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// A flag is advised only where it changes something.
func TestAdviceOnISLDrift(t *testing.T) {
	for _, c := range []struct {
		off     float64
		allowed bool
		advised bool
	}{{0.12, false, false}, {0.12, true, false}, {0.5, false, true}, {0.5, true, false}} {
		f := sound()
		f.ISLError, f.ISLDo, f.AllowISLDrift = some(c.off), "Give the server's own --tokenizer.", c.allowed
		got, _ := find(Judge(f), "isl_error")
		if strings.Contains(got.Says, "--allow-isl-drift") != c.advised || !strings.Contains(got.Says, "--tokenizer") {
			t.Errorf("off by %v, allowed %t: %s", c.off, c.allowed, got.Says)
		}
	}
}

// B65: the client ran out of descriptors.
func TestB65(t *testing.T) {
	f := sound()
	f.Requests, f.ClientErrors, f.Failed = 10_240, 919, 0
	v := Judge(f)
	if c, _ := find(v, "errors"); v.Verdict != Invalid || c.Verdict != Valid {
		t.Errorf("%s, server errors %s", v.Verdict, c.Verdict)
	}
}

func TestWorstWins(t *testing.T) {
	number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(0, 2))
	maybe := rapid.Custom(func(t *rapid.T) opt {
		if rapid.Bool().Draw(t, "known") {
			return some(number.Draw(t, "value"))
		}
		return opt{}
	})
	rapid.Check(t, func(t *rapid.T) {
		f := sound()
		for _, field := range []*opt{&f.ChargedLagP99MS, &f.MedianGapMS, &f.SendLateP99MS, &f.AchievedOverOffered, &f.CoalescedShare,
			&f.BurstShare, &f.PrefixHits, &f.OSLShortfall, &f.ISLError, &f.Client.CPUBusy, &f.Client.Steal, &f.Client.Throttled} {
			*field = maybe.Draw(t, "field")
		}
		v := Judge(f)
		worst := Valid
		for _, c := range v.Checks {
			worst = worse(worst, c.Verdict)
			if x, ok := c.Value.Get(); ok != (c.Verdict != Unknown) || math.IsNaN(x) || math.IsInf(x, 0) || c.Says == "" {
				t.Fatalf("%+v", c)
			}
		}
		if v.Verdict != worst {
			t.Fatalf("%s, worst check %s", v.Verdict, worst)
		}
	})
}

// A length that was kept has no reason why it was not.
func TestAReasonOnlyForWhatIsOff(t *testing.T) {
	for off, want := range map[float64]bool{0: false, 0.04: false, 0.06: true, 0.3: true} {
		f := sound()
		f.InputAsked, f.ISLError, f.ISLWhy = some(256), some(off), "The server cuts prompts."
		f.TemplateAdds = 56
		if c, ok := find(Judge(f), "isl_error"); !ok || strings.Contains(c.Says, f.ISLWhy) != want || !strings.Contains(c.Says, "200 were asked for and the chat template adds 56") {
			t.Errorf("off by %v: %q", off, c.Says)
		}
	}
}

// A server that keeps no limit is measured under another load, too.
func TestAnswersFarLongerThanAsked(t *testing.T) {
	for short, want := range map[float64]string{-0.1: Valid, -0.2: Valid, -0.25: Suspect, -2.125: Suspect} {
		for _, limit := range []bool{false, true} {
			f := sound()
			f.OSLShortfall, f.OutputIsCap = some(short), limit
			v := Judge(f)
			if c, listed := find(v, "osl_shortfall"); v.Verdict != want || listed && c.Verdict != want || want == Suspect && !strings.Contains(c.Says, "longer") {
				t.Errorf("%v, a cap: %v: %s %+v", short, limit, v.Verdict, c)
			}
		}
	}
}

// A server that stops answering: what came until then is no figure of the load.
func TestSilence(t *testing.T) {
	for share, want := range map[float64]string{0.05: "", 0.1: "", 0.11: Suspect, 0.3: Suspect, 0.31: Invalid, 0.99: Invalid} {
		f := sound()
		f.SilentS, f.SilentShare = 12.3, some(share)
		v := Judge(f)
		c, listed := find(v, "silence")
		if listed != (want != "") || listed && (c.Verdict != want || v.Of("system_output_tps") != want || v.Of("ttft_ms") != want || v.Of("tpot_ms") != Valid) {
			t.Errorf("%v: %+v, %v", share, c, v.Figures)
		}
		if listed && !strings.Contains(c.Says, "the last 12.3 s of the load") || v.Voids("requests_per_s") != (want == Invalid) {
			t.Errorf("%v: %+v", share, c)
		}
	}
}
