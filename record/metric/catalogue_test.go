package metric

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// jsonNames lists a struct's public names.
func jsonNames(v any) []string {
	var out []string
	for f := range reflect.TypeOf(v).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "-" {
			out = append(out, name)
		}
	}
	return out
}

// Every public name of the record and the summary is defined once.
func TestCatalogueIsComplete(t *testing.T) {
	var want []string
	want = append(want, jsonNames(Record{})...)
	for _, s := range []struct {
		v      any
		prefix string
		leave  []string
	}{
		{Throughput{}, "", []string{"steady"}},
		{Steady{}, "steady.", nil},
		{Requests{}, "requests.", nil},
		{Cold{}, "", nil},
		{Checks{}, "checks.", nil},
		{Tasks{}, "tasks.", nil},
		{Media{}, "media.", nil},
		{ClassSummary{}, "classes.", nil},
		{Reader{}, "readers.", nil},
		{Cost{}, "", nil},
		{Decomposition{}, "decomposition.", nil},
		{Roofline{}, "roofline.", nil},
		{Dist{}, "", []string{"p50", "p90", "p95", "p99", "p999"}},
	} {
		for _, name := range jsonNames(s.v) {
			if !slices.Contains(s.leave, name) {
				want = append(want, s.prefix+name)
			}
		}
	}
	have := map[string]int{}
	for _, d := range Catalogue {
		have[d.Name]++
		if d.Title == "" || d.Group == "" {
			t.Errorf("%s has no title or no group", d.Name)
		}
		if strings.HasSuffix(d.Name, "_ms") && d.Unit != "ms" {
			t.Errorf("%s has unit %q", d.Name, d.Unit)
		}
	}
	for _, name := range want {
		if have[name] != 1 {
			t.Errorf("%s is defined %d times, want once", name, have[name])
		}
	}
}

// Every sample of a summary can be looked up by its name, those of failures and
// of servers' own times too.
func TestSamplesAreExplained(t *testing.T) {
	c := NewCollector(CollectorOpts{})
	c.Add(made{due: 1, ttft: 10, gap: 5, events: 9, set: func(tl *timeline.Timeline) {
		tl.Server = map[string]float64{"queue_ms": 1, "prefill_ms": 2}
		tl.Clock = timeline.Kernel
	}}.timeline())
	c.Add(made{request: 1, due: 2, outcome: timeline.HTTP5xx, close: 5}.timeline())
	samples := c.Summary().Metrics
	for _, name := range []string{"error_latency_ms", "server_queue_ms", "delay_ms"} {
		if samples[name].N == 0 {
			t.Errorf("no sample %s", name)
		}
	}
	for name := range samples {
		if _, err := Lookup(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoAliasIsAmbiguous(t *testing.T) {
	owner := map[string]string{}
	for _, d := range Catalogue {
		for _, form := range append([]string{d.Name}, d.Aliases...) {
			form = plain(form)
			if other, taken := owner[form]; taken && other != d.Name {
				t.Errorf("%q means %s and %s", form, other, d.Name)
			}
			owner[form] = d.Name
		}
	}
}

func TestLookup(t *testing.T) {
	for typed, want := range map[string]string{
		"ttft": "ttft_ms", "TTFT": "ttft_ms", "ttft_ms": "ttft_ms", "p99 ttft": "ttft_ms",
		"time to first token": "ttft_ms", "Output TPS": "decode_tps", "interactivity": "decode_tps",
		"time between tokens": "itl_ms", "TBT": "itl_ms", "TTLT": "e2e_ms", "total TPS": "e2e_tps",
		"inter-token latency": "itl_ms", "e2el": "e2e_ms", "rps": "requests_per_s", "goodput": "goodput.fraction",
		"p99": "percentile", "mean": "mean", "max_gap": "max_gap_ms", "osl": "output_tokens",
		"error rate": "error_rate", "system_output_tps": "system_output_tps", "mean tpot": "tpot_ms",
		"cost_usd": "cost_usd", "throughput": "system_output_tps",
	} {
		if d, err := Lookup(typed); err != nil || d.Name != want {
			t.Errorf("%q is %s (%v), want %s", typed, d.Name, err, want)
		}
	}
}

func TestUnknownNamesGetTheNearest(t *testing.T) {
	for typed, near := range map[string]string{
		"ttff": "ttft_ms", "tpto": "tpot_ms", "decode_tsp": "decode_tps", "max_gaps": "max_gap_ms",
		"systm_output_tps": "system_output_tps", "output_token": "output_tokens",
	} {
		if _, err := Lookup(typed); err == nil || !strings.Contains(err.Error(), "did you mean "+near) {
			t.Errorf("%q: %v, want a hint at %s", typed, err, near)
		}
	}
	if _, err := Lookup("qzxwv_kkk"); err == nil || strings.Contains(err.Error(), "mean") {
		t.Errorf("a hint out of nothing: %v", err)
	}
}

func TestExplain(t *testing.T) {
	for name, has := range map[string]string{
		"tpot": "(S − 1)", "burst": "within 5 ms", "timeout_idle": "--idle-timeout", "Goodput": "bad in every objective",
	} {
		text, err := Explain(name, Topics())
		if err != nil || !strings.Contains(strings.Join(strings.Fields(text), " "), has) {
			t.Errorf("%s: %q, %v; want %q in it", name, text, err, has)
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 && !strings.HasPrefix(line, name) {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
		}
	}
	if _, err := Explain("timeout_idel", Topics()); err == nil || !strings.Contains(err.Error(), "timeout_idle") {
		t.Errorf("got %v", err)
	}
}

func TestEveryOutcomeHasAdvice(t *testing.T) {
	var got []timeline.Outcome
	for _, a := range OutcomeAdvice {
		got = append(got, a.Outcome)
		if a.Means == "" || a.Cause == "" || a.Next == "" {
			t.Errorf("%s: advice is incomplete", a.Outcome)
		}
	}
	if !slices.Equal(got, timeline.Outcomes) {
		t.Errorf("got advice on %v, want %v", got, timeline.Outcomes)
	}
}

func TestEveryFlagHasAMeaning(t *testing.T) {
	var got []string
	for _, f := range FlagMeanings {
		got = append(got, f.Name)
	}
	all := timeline.FlagSet(1<<32 - 1).Names()
	if !slices.Equal(got, all) {
		t.Errorf("got meanings of %v, want %v", got, all)
	}
}
