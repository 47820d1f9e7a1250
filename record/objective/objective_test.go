package objective

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tokenmeter/record/metric"
)

func TestParse(t *testing.T) {
	p99 := Objective{Metric: "tpot", Stat: "p99", Percentile: 0.99, Op: "<", Limit: 120}
	for text, want := range map[string]Objective{
		"p99 tpot < 120ms":                p99,
		"P99 TPOT<120 ms":                 p99,
		"tpot p99 < 0.12s":                p99,
		"p99(tpot) < 120":                 p99,
		"tpot_p99 < 120000us":             p99,
		"p99_tpot_ms < 120":               p99,
		"tpot.p99 below 120 milliseconds": p99,
		"99th percentile of time per output token under 120ms": p99,
		"p99 tpot_ms < 120 ms":                                 p99,
		"p99.9 ttft <= 1 s":                                    {Metric: "ttft", Stat: "p99.9", Percentile: 0.999, Op: "<=", Limit: 1000},
		"p999 ttft ≤ 1s":                                       {Metric: "ttft", Stat: "p99.9", Percentile: 0.999, Op: "<=", Limit: 1000},
		"median ttft at most 300 ms":                           {Metric: "ttft", Stat: "p50", Percentile: 0.5, Op: "<=", Limit: 300},
		"mean ttft < 300ms":                                    {Metric: "ttft", Stat: "mean", Op: "<", Limit: 300},
		"avg time to first token < 300ms":                      {Metric: "ttft", Stat: "mean", Op: "<", Limit: 300},
		"max e2e < 1.5 min":                                    {Metric: "e2e", Stat: "max", Op: "<", Limit: 90_000},
		"p100 e2e latency < 90s":                               {Metric: "e2e", Stat: "max", Op: "<", Limit: 90_000},
		"max gap < 2s":                                         {Metric: "max_gap", Op: "<", Limit: 2000},
		"p95 max_gap < 2s":                                     {Metric: "max_gap", Stat: "p95", Percentile: 0.95, Op: "<", Limit: 2000},
		"p95 inter-token latency < 50ms":                       {Metric: "itl", Stat: "p95", Percentile: 0.95, Op: "<", Limit: 50},
		"p10 decode_tps > 20 tok/s":                            {Metric: "decode_tps", Stat: "p10", Percentile: 0.1, Op: ">", Limit: 20},
		"p10 decode tps >= 20 tokens per second":               {Metric: "decode_tps", Stat: "p10", Percentile: 0.1, Op: ">=", Limit: 20},
		"system_output_tps > 1,000 tokens/s":                   {Metric: "system_output_tps", Op: ">", Limit: 1000},
		"throughput > 1_000":                                   {Metric: "system_output_tps", Op: ">", Limit: 1000},
		"usd_per_1k_output < $0.002":                           {Metric: "usd_per_1k_output", Op: "<", Limit: 0.002},
		"requests_per_s >= 4.5/s":                              {Metric: "requests_per_s", Op: ">=", Limit: 4.5},
		"cache hit rate > 80%":                                 {Metric: "cache_hit_rate", Op: ">", Limit: 0.8},
		"error rate < 0.1%":                                    {Metric: "error_rate", Op: "<", Limit: 0.001},
		"errors<0.001":                                         {Metric: "error_rate", Op: "<", Limit: 0.001},
		"goodput > 99%":                                        {Metric: "goodput", Op: ">", Limit: 0.99},
		"goodput ≥ 99.9 %":                                     {Metric: "goodput", Op: ">=", Limit: 0.999},
		"check pass >= 98%":                                    {Metric: "check_pass", Op: ">=", Limit: 0.98},
		"task success < 60s >= 95%":                            {Metric: "task_success", Op: ">=", Limit: 0.95, Within: 60_000, WithinOp: "<"},
		"task_success >= 95 percent":                           {Metric: "task_success", Op: ">=", Limit: 0.95},
		"p99 ttft < 500ms valid: success":                      {Metric: "ttft", Stat: "p99", Percentile: 0.99, Op: "<", Limit: 500, Valid: "success"},
		"p99 ttft < 500ms (valid=success)":                     {Metric: "ttft", Stat: "p99", Percentile: 0.99, Op: "<", Limit: 500, Valid: "success"},
		"ttft < 500ms":                                         {Metric: "ttft", Op: "<", Limit: 500},
		"ttft:500":                                             {Metric: "ttft", Op: "<=", Limit: 500, Criterion: true},
		"e2el: 2s":                                             {Metric: "e2e", Op: "<=", Limit: 2000, Criterion: true},
		"decode_tps:20":                                        {Metric: "decode_tps", Op: ">=", Limit: 20, Criterion: true},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		canonical := got.Text
		got.Text = ""
		if got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
		if again, err := Parse(canonical); err != nil || again.Text != canonical || !same(again, got) {
			t.Errorf("%q became %q, which parses to %+v (%v)", text, canonical, again, err)
		}
	}
}

func same(a, b Objective) bool {
	a.Text, b.Text = "", ""
	return a == b
}

func TestNormalised(t *testing.T) {
	for text, want := range map[string]string{
		"  P99  TPOT<=0.12 s ":            "p99 tpot <= 120ms",
		"error_rate < 0.001":              "error rate < 0.1%",
		"task success < 1min >= .95":      "task success < 60s >= 95%",
		"p99.9 e2e < 1500ms":              "p99.9 e2e < 1.5s",
		"goodput>.999":                    "goodput > 99.9%",
		"p5 decode_tps > 20":              "p5 decode_tps > 20 tok/s",
		"p99 ttft < 500 ms valid success": "p99 ttft < 500ms valid: success",
		"TTFT:500ms":                      "ttft:500ms",
	} {
		got, err := Parse(text)
		if err != nil || got.Text != want {
			t.Errorf("%q: %q (%v), want %q", text, got.Text, err, want)
		}
	}
}

func TestParseAll(t *testing.T) {
	all, err := ParseAll([]string{"ttft:500 tpot:50", "p95 e2e < 9s and error rate < 1%; goodput > 99%"})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, o := range all {
		texts = append(texts, o.Text)
	}
	if got := strings.Join(texts, "|"); got != "ttft:500ms|tpot:50ms|p95 e2e < 9s|error rate < 1%|goodput > 99%" {
		t.Errorf("got %s", got)
	}
	// Beside goodput, a plain limit says which requests are good.
	all, _ = ParseAll([]string{"ttft < 500ms", "goodput > 90%"})
	if !all[0].Criterion || all[1].Criterion {
		t.Errorf("got %+v", all)
	}
}

// Every error names its column and what to do; all come at once.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                `column 1: it is empty; write for example "p99 tpot < 120ms"`,
		"p99 tpto < 120ms":                `column 5: no metric is called "tpto"; did you mean "tpot"?`,
		"p99 tpot":                        `column 9: there is no comparison (<, <=, >, >=); write for example "p99 tpot < 120ms"`,
		"p99 tpot < ":                     `column 12: there is no number after the comparison; write for example "120ms"`,
		"p99 tpot < 120 parsec":           `column 16: "parsec" is no unit here; write ms, s or us`,
		"p99 tpot < 120%":                 `column 15: "%" is no unit here; write ms, s or us`,
		"p99 tpot < -3ms":                 `column 12: a limit can't be negative`,
		"p99 < 3ms":                       `column 4: there is no metric after p99; write for example "p99 tpot < 120ms"`,
		"< 3ms":                           `column 1: there is no metric before the comparison`,
		"p99 error rate < 1%":             `column 1: error_rate is one figure of the run; leave p99 out`,
		"error rate > 1%":                 `column 12: ">" would promise the bad side of error_rate; turn the comparison round`,
		"goodput > 99":                    `column 11: a share of 99 is more than all; write a share up to 100%, with the % sign`,
		"p99 ttft < 1s < 2s":              `column 15: there is a second comparison; give each objective by itself`,
		"p99 ttft < 1s valid: all":        `column 22: valid: "all" is not known; write "valid: success", or nothing: then failed requests count as missed`,
		"ttft:500 tpot":                   `column 10: "tpot" has no limit; write name:limit, for example "ttft:500"`,
		"ttft:500 goodput:9":              `column 10: goodput is no figure of a request`,
		"p95 ttft < 1s and p99 tpto < 4s": `column 23: no metric is called "tpto"; did you mean "tpot"?`,
		"p99 µtpot < 5ms":                 `column 5: no metric is called "µtpot"; did you mean "tpot"?`,
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	_, err := ParseAll([]string{"p99 tpto < x", "p95 ttft < 3 parsec"})
	var all Errors
	if !errors.As(err, &all) || len(all) != 3 {
		t.Errorf("got %v, want three errors", err)
	}
}

func TestTarget(t *testing.T) {
	for text, want := range map[string]float64{
		"p99 tpot < 120ms": 0.99, "p10 decode_tps > 20": 0.9, "error rate < 0.1%": 0.999,
		"goodput > 99%": 0.99, "max ttft < 1s": 1, "mean ttft < 1s": -1, "system_output_tps > 5": -1,
	} {
		o, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := o.Target()
		if !ok {
			got = -1
		}
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s promises %v, want %v", text, got, want)
		}
	}
}

func TestHint(t *testing.T) {
	o, _ := Parse("p99 decode_tps > 20")
	if want := `"p1 decode_tps > 20 tok/s" promises it to 99 % of the requests`; !strings.Contains(o.Hint(), want) {
		t.Errorf("got %q", o.Hint())
	}
	for _, text := range []string{"p99 tpot < 120ms", "p1 decode_tps > 20"} {
		if o, _ := Parse(text); o.Hint() != "" {
			t.Errorf("%s: %q", text, o.Hint())
		}
	}
}

// Every name that the table offers is one that the catalogue explains, or one
// of the shares that only objectives have.
func TestNamesAreExplained(t *testing.T) {
	for i := range subjects {
		s := &subjects[i]
		if s.key == "task" || s.key == "usd_per_1k_output" {
			continue
		}
		if _, err := metric.Lookup(s.key); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if got, ok := named(s.name); !ok || got != s {
			t.Errorf("%s is found as %s", s.name, got.name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"p99 tpot < 120ms", "error rate < 0.1%", "task success < 60s >= 95%", "ttft:500 tpot:50", "goodput > 99%",
		"p99.9(ttft) ≤ 1.5 s valid: success", "tpot_p95 >= $1e3", "max gap < 2s and p50 itl < 9us; check pass >= 98%",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ParseAll([]string{text})
		if err != nil {
			if len(all) > 0 || strings.Contains(err.Error(), "%!") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var texts []string
		for _, o := range all {
			if math.IsNaN(o.Limit) || math.IsInf(o.Limit, 0) || o.Limit < 0 || o.Op == "" || o.subject().name == "" {
				t.Fatalf("%q: %+v", text, o)
			}
			texts = append(texts, o.Text)
		}
		again, err := ParseAll(texts)
		if err != nil || len(again) != len(all) {
			t.Fatalf("%q became %q: %v", text, texts, err)
		}
		for i := range all {
			if again[i] != all[i] {
				t.Fatalf("%q: %+v became %+v", text, all[i], again[i])
			}
		}
	})
}
