package method

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/load/bench"
	"tokenmeter/load/sweep/result"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/objective/objectivetest"
	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

func near(t *testing.T, what string, got opt, want float64) {
	t.Helper()
	v, ok := got.Get()
	if !ok || math.Abs(v-want) > 1e-4*math.Max(math.Abs(want), 1e-9) {
		t.Errorf("%s = %v (known %v), want %v", what, v, ok, want)
	}
}

// Every method says what it is, what it is not, and which rules it follows, and
// makes a plan from nothing but a target (or the limits it needs).
func TestEveryMethod(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range methods {
		if m.Title == "" || m.AsOf == "" || m.Says == "" || len(m.Rules) < 2 || m.Variable == "" || seen[m.Name] {
			t.Errorf("%s: %+v", m.Name, m)
		}
		seen[m.Name] = true
		name := m.Name
		if strings.HasPrefix(name, "mlperf") && !strings.Contains(m.Says, "unofficial, not an MLPerf result") {
			t.Errorf("%s says %q", name, m.Says)
		}
		for _, variant := range append([]string{""}, m.Variants...) {
			full := name
			if variant != "" {
				full += ":" + variant
			}
			one, err := ByName(full)
			if err != nil {
				t.Fatal(err)
			}
			o := &Options{}
			if name == agentX.Name {
				o.Base.Workload = recorded(t)
			}
			steps, err := one.Prepare(o)
			switch needs := variant == "" && (name == "mlperf-server" || name == "mlperf-interactive"); {
			case needs:
				if err == nil || !strings.Contains(err.Error(), "name a benchmark") {
					t.Errorf("%s: %v", full, err)
				}
				continue
			case err != nil:
				t.Errorf("%s: %v", full, err)
				continue
			case steps.Search == nil && len(steps.Cells) == 0:
				t.Errorf("%s measures nothing", full)
			}
			for _, c := range steps.Cells {
				if c.Plan.Requests == 0 && c.Plan.Duration == 0 || c.Plan.Concurrency == 0 && c.Plan.Rate == 0 {
					t.Errorf("%s %s: no load: %+v", full, c.Text, c.Plan)
				}
			}
		}
	}
	for _, name := range []string{"nonesuch", "llama-bench:x", "mlperf-server:gpt-2"} {
		if _, err := ByName(name); err == nil {
			t.Errorf("%q is a method", name)
		}
	}
}

// Whoever looks for a benchmark that has left, or has no limits of this kind, is told so.
func TestBenchmarksWithoutLimits(t *testing.T) {
	for name, want := range map[string]string{
		"mlperf-server:gptj-99":                 "GPT-J has left the benchmark",
		"mlperf-interactive:gptj-99.9":          "llama3.1-8b in its place",
		"mlperf-interactive:mixtral-8x7b":       "limits as a server only, mlperf-server:mixtral-8x7b",
		"mlperf-server:qwen3-vl-235b-a22b":      "p99 e2e < 12s",
		"mlperf-interactive:qwen3-vl-235b-a22b": "no interactive limits",
	} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "there are llama2-70b, ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range mlperf {
		for name := range mlperf[i].absent {
			if slices.Contains(mlperf[i].Variants, name) {
				t.Errorf("%s has %s, and says why it has not", mlperf[i].Name, name)
			}
		}
	}
}

// A result is invalid where the measurement is for what it is made of: on a machine
// without a free core the kernel's stamps keep latencies right, and rates are doubtful.
func TestVerdictOfTheFigure(t *testing.T) {
	point := func(figures ...string) *result.Point {
		v := validity.Validity{Verdict: validity.Invalid, Figures: map[string]string{},
			Checks: []validity.Check{{Name: "cpu_busy", Verdict: validity.Invalid, Figures: figures}}}
		for _, f := range validity.Figures {
			v.Figures[f] = validity.Valid
		}
		for _, f := range figures {
			v.Figures[f] = validity.Invalid
		}
		return &result.Point{Validity: v}
	}
	v := seen{good: []metric.Record{{}}}
	for name, c := range map[string]struct {
		p     *result.Point
		asked []string
		want  string
	}{
		"rates are doubtful, latency is asked":   {point(validity.Throughput, validity.Delay), []string{"e2e"}, ""},
		"rates are doubtful, tokens/s are asked": {point(validity.Throughput), []string{"system_output_tps"}, "invalid for system_output_tps: cpu_busy"},
		"the pace is doubtful":                   {point(validity.TPOT), []string{"ttft", "tpot", "system_output_tps"}, "invalid for tpot: cpu_busy"},
		"the first token is doubtful":            {point(validity.TTFT), []string{"e2e"}, ""},
	} {
		var out result.Method
		conclude(&out, c.p, &v, 600, c.asked...)
		if why := strings.Join(out.Why, "; "); !strings.HasSuffix(why, c.want) || (c.want == "") != (out.Verdict == valid) {
			t.Errorf("%s: %s, %q", name, out.Verdict, why)
		}
	}
}

// What the user says goes before the rules, and is told.
func TestDepartures(t *testing.T) {
	m, _ := ByName("mlperf-singlestream")
	o := Options{Base: bench.Plan{Load: bench.Load{Duration: time.Minute}, Content: bench.Content{InputTokens: "64"}}}
	steps, err := m.Prepare(&o)
	if err != nil {
		t.Fatal(err)
	}
	p := steps.Cells[0].Plan
	if p.Concurrency != 1 || p.Duration != time.Minute || p.InputTokens != "64" {
		t.Errorf("%+v", p)
	}
	if got := strings.Join(o.departs, "; "); got != "1m0s instead of 10m0s" {
		t.Errorf("departures %q", got)
	}
	for _, c := range []struct {
		name string
		base bench.Plan
		want string
	}{
		{"vllm-serve", bench.Plan{Load: bench.Load{Duration: time.Minute}}, "1m0s instead of 1000 requests"},
		{"vllm-serve", bench.Plan{Load: bench.Load{Requests: 1, Duration: time.Minute}}, "1 request or 1m0s instead of 1000 requests"},
		{"vllm-serve", bench.Plan{Load: bench.Load{Warmup: bench.Warmup{Off: true}}}, ""},
		{"vllm-serve", bench.Plan{Load: bench.Load{Warmup: bench.Warmup{Requests: 4}}}, "warm-up 4 requests instead of none"},
		{"llmperf", bench.Plan{Load: bench.Load{Requests: 20}}, "20 requests instead of 10 requests or 1m30s"},
		{"inferencex", bench.Plan{Content: bench.Content{Extra: map[string]any{"temperature": 1}}}, "a temperature of the user's own"},
		{"artificial-analysis-load", bench.Plan{Load: bench.Load{Requests: 50}}, "50 requests instead of 3m0s"},
		{"mlperf-server:llama3.1-8b", bench.Plan{Load: bench.Load{Rate: 5, Arrival: "constant"}}, "arrival constant instead of poisson"},
		{"mlperf-singlestream", bench.Plan{Load: bench.Load{UntilPrecision: 0.05}}, "a run ends early once its medians are known to within 5 %"},
		{"vllm-serve", bench.Plan{Client: client.Config{API: api.OpenAIChat}}, "sent to openai-chat instead of openai-completions"},
		{"vllm-serve", bench.Plan{Client: client.Config{API: api.OpenAICompletions}}, ""},
		{"inferencex", bench.Plan{Client: client.Config{API: api.OpenAIChat}}, "sent to openai-chat instead of openai-completions"},
		{"nim", bench.Plan{Client: client.Config{API: api.OpenAIChat}}, ""},
		{"nim", bench.Plan{Load: bench.Load{Prefills: 2}}, "requests that wait for their first token at once: at most 2"},
	} {
		m, _ := ByName(c.name)
		o := Options{Base: c.base}
		if _, err := m.Prepare(&o); err != nil || strings.Join(o.departs, "; ") != c.want {
			t.Errorf("%s: departures %q, want %q (%v)", c.name, o.departs, c.want, err)
		}
	}
}

// The load of a tool's method is the tool's own, where it is told nothing.
func TestLoadsOfTools(t *testing.T) {
	for _, c := range []struct {
		name     string
		streams  int
		requests int
		duration time.Duration
		warmup   int // below 0: none
		in, out  string
		eos      bool
		extra    string
	}{
		// vllm/benchmarks/serve.py: num-prompts 1000, rate inf, num-warmups 0, ready-check-timeout-sec 0; random sets ignore_eos.
		{"vllm-serve", 1000, 1000, 0, -1, "1024", "128", true, ""},
		// AIPerf 0.13.0's help: concurrency 1, max(10, 2 × concurrency) requests, isl 550; no warm-up.
		{"aiperf", 1, 10, 0, -1, "550", "128", false, ""},
		// token_benchmark_ray.py, f1d6bed: 10 of 10 requests, timeout 90, 550 ± 150 and 150 ± 80.
		{"llmperf", 10, 10, 90 * time.Second, -1, "normal:550,150", "normal:150,80", false, ""},
		// InferenceX, benchmark_lib.sh and backend_request_func.py: 10 a stream, 2 of warm-up, int(0.8 × 8192) and int(0.8 × 1024) on, temperature 0.0.
		{"inferencex", 4, 40, 0, 8, "uniform:6553,8192", "uniform:819,1024", true, "map[temperature:0]"},
		// NVIDIA's guide, quickstart 2.0.0: REQUEST_COUNT=$(($CONCURRENCY * 3)), --streaming, ignore_eos; its tables: 5000/500 from one stream on.
		{"nim", 1, 3, 0, 1, "5000", "500", true, ""},
	} {
		m, err := ByName(c.name)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		steps, err := m.Prepare(&o)
		if err != nil {
			t.Fatal(err)
		}
		p := steps.Cells[0].Plan
		warm := bench.Warmup{Requests: max(c.warmup, 0), Off: c.warmup < 0}
		extra := ""
		if p.Extra != nil {
			extra = fmt.Sprint(p.Extra)
		}
		if p.Concurrency != c.streams || p.Requests != c.requests || p.Duration != c.duration || p.Warmup != warm || p.InputTokens != c.in ||
			p.OutputTokens != c.out || p.IgnoreEOS != c.eos || extra != c.extra || p.Rate != 0 || len(o.departs) > 0 {
			t.Errorf("%s: %+v, departs by %q", c.name, p, o.departs)
		}
	}
}

// What a method has no place for is refused, not forgotten.
func TestRefused(t *testing.T) {
	two := []float64{1, 2}
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"vllm-serve", Options{Base: bench.Plan{Load: bench.Load{Rate: 5}}}, "leave --rate out (bench --rate, and then report --lens vllm, has"},
		{"nim", Options{Base: bench.Plan{Load: bench.Load{Rate: 5}}}, "report --lens nim, has"},
		{"inferencex", Options{Base: bench.Plan{Load: bench.Load{Rate: 5}}}, "report --lens inferencex, has"},
		{"llama-bench", Options{Base: bench.Plan{Load: bench.Load{Rate: 5}}}, "leave --rate out"},
		{"llama-bench", Options{Base: bench.Plan{Load: bench.Load{Concurrency: 4}}}, "leave --concurrency out"},
		{"artificial-analysis", Options{Base: bench.Plan{Load: bench.Load{Concurrency: 4}}}, "leave --concurrency out"},
		{"mlperf-singlestream", Options{Base: bench.Plan{Load: bench.Load{Concurrency: 4}}}, "leave --concurrency out"},
		{"mlperf-server:llama3.1-8b", Options{Base: bench.Plan{Load: bench.Load{Concurrency: 4}}}, "leave --concurrency out"},
		{"nim", Options{Base: bench.Plan{Load: bench.Load{Arrival: "gamma"}}}, "leave --arrival and --burstiness out"},
		{"nim", Options{Lists: map[string][]float64{"input_tokens": two}}, "takes one value of --input-tokens, not 2"},
		{"mlperf-offline", Options{Lists: map[string][]float64{"concurrency": two}}, "takes one value of --concurrency, not 2"},
		{"mlperf-server", Options{Base: bench.Plan{Conditions: bench.Conditions{Objectives: objectivetest.Parse(t, "p99 ttft < 2s", "p99 tpot < 100ms", "p95 e2e < 9s")}}}, "leave \"p95 e2e < 9s\" out"},
	} {
		m, _ := ByName(c.name)
		if _, err := m.Prepare(&c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Without its measured run a method says why there is none, and still what it is not.
func TestNothingMeasured(t *testing.T) {
	m, _ := ByName("mlperf-server:llama3.1-8b")
	for want, s := range map[string]*result.Sweep{
		"nothing was measured": {},
		"no rate was shown at which the limits hold: the time was up":              {Found: &result.Found{Fails: some(4), Why: "the time was up"}},
		"the limits hold at 2.5 requests/s, but the run at that rate was not made": {Found: &result.Found{Holds: some(2.5)}, Points: []result.Point{{Run: "001-rate-2.5"}}},
		"nothing was measured: HTTP 503":                                           {Points: []result.Point{{Place: 1, Error: "HTTP 503"}}},
	} {
		got := m.Read(&Options{}, s)
		if got.Verdict != "INVALID" || strings.Join(got.Why, "; ") != want || got.Says != unofficial {
			t.Errorf("%s, %q, want %q", got.Verdict, got.Why, want)
		}
	}
}

// Where every query fails there is no time that it went on for; where the last ones do,
// the time until they were due counts.
func TestFailedQueries(t *testing.T) {
	v := seen{from: math.Inf(1), lastDue: math.Inf(-1)}
	fail := func(due float64) { v.add(metric.Record{Outcome: timeline.HTTP5xx, DueS: due}) }
	fail(3)
	fail(603)
	var out result.Method
	conclude(&out, &result.Point{}, &v, v.until-v.from)
	if got := strings.Join(out.Why, "; "); got != "all 2 queries failed" {
		t.Errorf("%q", got)
	}
	v.add(record(4, 100, 200, 8, 8))
	out.Why = nil
	conclude(&out, &result.Point{}, &v, v.until-v.from)
	if got := strings.Join(out.Why, "; "); got != "2 queries failed" {
		t.Errorf("%q", got)
	}
}

func TestServerLimits(t *testing.T) {
	for name, want := range map[string][2]string{
		"mlperf-server:llama2-70b":        {"p99 ttft < 2000ms", "p99 tpot < 200ms"},
		"mlperf-interactive:llama2-70b":   {"p99 ttft < 450ms", "p99 tpot < 40ms"},
		"mlperf-server:llama3.1-405b":     {"p99 ttft < 6000ms", "p99 tpot < 175ms"},
		"mlperf-interactive:llama3.1-8b":  {"p99 ttft < 500ms", "p99 tpot < 30ms"},
		"mlperf-server:gpt-oss-120b":      {"p99 ttft < 3000ms", "p99 tpot < 80ms"},
		"mlperf-interactive:deepseek-r1":  {"p99 ttft < 1500ms", "p99 tpot < 15ms"},
		"mlperf-server:mixtral-8x7b":      {"p99 ttft < 2000ms", "p99 tpot < 200ms"},
		"mlperf-interactive:gpt-oss-120b": {"p99 ttft < 2000ms", "p99 tpot < 15ms"},
	} {
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		steps, err := m.Prepare(&o)
		if err != nil || steps.Search == nil {
			t.Fatalf("%s: %v", name, err)
		}
		wanted, err := objective.ParseAll(want[:])
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got := steps.Search.Objectives[i].Text; got != wanted[i].Text {
				t.Errorf("%s: %q, want %q", name, got, wanted[i].Text)
			}
		}
		steps.At(12.5)
		if p := steps.Cells[0].Plan; p.Rate != 12.5 || p.Arrival != "poisson" || p.Duration != 10*time.Minute {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// 33 queries of which 2 are over the limit need 805 more (published log).
func TestEarlyStop(t *testing.T) {
	v := make(stat.Sorted, 33)
	v[31], v[32] = 300, 300
	if c := earlyStop(v, 200, 0); c.over != 2 || c.more != 805 {
		t.Errorf("%+v", c)
	}
	if c := earlyStop(make(stat.Sorted, 459), 200, 0); c.more != 0 {
		t.Errorf("459 within the limit: %+v", c)
	}
	if c := earlyStop(make(stat.Sorted, 458), 200, 0); c.more != 1 {
		t.Errorf("458 within the limit: %+v", c)
	}
	if c := earlyStop(make(stat.Sorted, 31), 200, 2); c.over != 2 || c.more != 805 {
		t.Errorf("failed queries are over the limit: %+v", c)
	}
}

// LoadGen's percentile of 1…100: p50 is 51, p99 is 100.
func TestRank(t *testing.T) {
	v := make(stat.Sorted, 100)
	for i := range v {
		v[i] = float64(i + 1)
	}
	near(t, "p50", rank(v, 0.5), 51)
	near(t, "p99", rank(v, 0.99), 100)
}

func record(due, ttftMS, e2eMS float64, in, out int64) metric.Record {
	return metric.Record{Outcome: timeline.OK, DueS: due, TTFTMS: some(ttftMS), E2EMS: some(e2eMS), TPOTMS: ratio(e2eMS-ttftMS, float64(out-1)),
		InputTokens: timeline.Some(in), OutputTokens: timeline.Some(out)}
}

// llama.cpp 80fb11a, tools/batched-bench: after the prompts, which give each sequence its
// first token, come TG steps; N_KV = B × (PP + TG), S_PP = B × PP / T_PP, S_TG = B × TG /
// T_TG. There are no default lists (common.h); those of the README's command stand for
// them.
func TestBatched(t *testing.T) {
	var v seen
	v.from = math.Inf(1)
	for range 4 {
		v.add(record(0, 500, 2500, 512, 129))
	}
	row := batched(&v)
	for i, want := range []float64{512, 128, 4, 2560, 0.5, 4096, 2, 256, 2.5, 1024} {
		near(t, batchedBench.Name, row[i].Value, want)
	}
	m, err := ByName("batched-bench")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := m.Prepare(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range steps.Cells {
		p := c.Plan
		if p.Concurrency != p.Requests || !p.IgnoreEOS {
			t.Errorf("%+v", p)
		}
		got = append(got, fmt.Sprint(p.InputTokens, "/", p.OutputTokens, "/", p.Concurrency))
	}
	var want []string
	for _, pp := range []int{128, 256, 512} {
		for _, tg := range []int{128, 256} {
			for _, b := range []int{1, 2, 4, 8, 16, 32} {
				want = append(want, fmt.Sprint(pp, "/", tg+1, "/", b))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The table that NVIDIA published for Llama 3.3 70B on two H100, 5,000 tokens in and 500
// out (docs.nvidia.com/nim/benchmarking/llm/1.0.0/performance): its tokens/s are those of
// the answers over the wall clock, and its ITL is a request's over n − 1, or they would not
// fit together. While requests wait in a queue its means are of another window.
func TestNIMPublished(t *testing.T) {
	for _, c := range []struct{ streams, ttft, itl, tps, within float64 }{
		{1, 406.77, 18.58, 51.67, 0.001}, {5, 546.7, 21.83, 218.48, 0.001}, {25, 688.69, 38.75, 623.4, 0.002}, {50, 834.51, 59.73, 814.37, 0.003},
		{100, 7996.25, 92.91, 917.26, 0.006}, {250, 88605.32, 93.2, 920.12, 0.006},
	} {
		var v seen
		v.from = math.Inf(1)
		for range int(c.streams) {
			v.add(record(0, c.ttft, c.ttft+499*c.itl, 5000, 500))
		}
		row := nimRow(nil, nil, &result.Point{Text: number(c.streams)}, &v)
		near(t, "TTFT", row[1].Value, c.ttft)
		near(t, "ITL", row[2].Value, c.itl)
		if got := row[3].Value.Or(0); math.Abs(got-c.tps) > c.within*c.tps {
			t.Errorf("%v streams: %v tokens/s, published %v", c.streams, got, c.tps)
		}
	}
}

// Artificial Analysis, "Language Model API Performance Benchmarking Methodology" 2.2.0:
// temperature 0 and top_p 1, and no field that only engines know, which vendors refuse.
func TestWhatArtificialAnalysisSends(t *testing.T) {
	m, err := ByName("artificial-analysis")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		api   *api.API
		extra map[string]any
		want  string
		dep   string
	}{
		{api.OpenAIChat, nil, "map[temperature:0 top_p:1]", ""},
		{api.OpenAIChat, map[string]any{"temperature": nil, "user": "u"}, "map[temperature:<nil> top_p:1 user:u]", "a temperature of the user's own"},
		{api.Anthropic, nil, "map[]", ""},
	} {
		o := Options{Base: bench.Plan{Client: client.Config{API: c.api}, Content: bench.Content{Extra: c.extra}}}
		steps, err := m.Prepare(&o)
		if err != nil {
			t.Fatal(err)
		}
		var lengths []string
		for _, cell := range steps.Cells {
			p := cell.Plan
			if got := fmt.Sprint(p.Extra); got != c.want || p.IgnoreEOS || p.Concurrency != 1 || p.Requests != 8 {
				t.Errorf("%s: %s, want %s; %+v", c.api.Name, got, c.want, p)
			}
			lengths = append(lengths, p.InputTokens+"/"+p.OutputTokens)
		}
		if got := strings.Join(lengths, " "); got != "1000/1000 10000/1500" || strings.Join(o.departs, "; ") != c.dep {
			t.Errorf("%s: %s, departs by %q", c.api.Name, got, o.departs)
		}
	}
}

// A price file that names the model has its blends too.
func TestBlendsOfTheModel(t *testing.T) {
	m, _ := ByName("artificial-analysis")
	prices := cost.Tokens{Input: some(1.75), CachedRead: some(0.175), Output: some(14)}
	o := &Options{Base: bench.Plan{Model: "m"}}
	o.Base.Pricing = &cost.Pricing{Models: map[string]cost.Tokens{"m": prices}}
	fields := m.Read(o, &result.Sweep{}).Fields
	if len(fields) != 2 {
		t.Fatalf("%+v", fields)
	}
	near(t, fields[0].Name, fields[0].Value, 1.8725)
	near(t, fields[1].Name, fields[1].Value, 4.8125)
	o.Base.Model = "another"
	if fields := m.Read(o, &result.Sweep{}).Fields; len(fields) > 0 {
		t.Errorf("%+v", fields)
	}
}

// Published: total 15,000.5, output 12,000, TP8 are 1,875.0625, 1,500 and
// 375.0625 a GPU; TPOT of 25 and 45 ms are 40 and 22.2222 tokens/s for a user.
func TestInferenceX(t *testing.T) {
	near(t, "total", ratioOf(some(15000.5), some(8)), 1875.0625)
	near(t, "output", ratioOf(some(12000), some(8)), 1500)
	near(t, "input", ratioOf(some(3000.5), some(8)), 375.0625)
	near(t, "median", intvty(some(25)), 40)
	near(t, "p99", intvty(some(45)), 22.2222)
	near(t, "30 ms", intvty(some(30)), 33.3333)
	if _, ok := ratioOf(some(1), opt{}).Get(); ok {
		t.Error("a number of GPUs that nobody told")
	}
	m, err := ByName("inferencex")
	if err != nil {
		t.Fatal(err)
	}
	said := func(gpus timeline.Opt[int64]) bool {
		fields := m.Read(&Options{GPUs: gpus}, &result.Sweep{}).Fields
		return len(fields) == 1 && !fields[0].Value.OK() && strings.Contains(fields[0].Note, "number of GPUs")
	}
	if !said(timeline.Opt[int64]{}) || said(timeline.Some[int64](8)) {
		t.Error("throughputs per GPU are empty without a reason, or have one where they are not")
	}
}

// 0.4 s to the first token and 100 tokens/s are 5.4 s for 500 tokens.
func TestResponseTime(t *testing.T) {
	r := record(0, 400, 10400, 1000, 1001)
	r.TPOTAdjMS, r.DecodeTPS = some(10), some(100)
	near(t, "response", response(&r), 5.4)
	r.TTFOMS = some(2400) // thinking for two seconds
	near(t, "with thinking", response(&r), 7.4)
	r.NormDecodeTPS = some(50)
	near(t, "by their tokenizer", response(&r), 12.4)
	if _, ok := response(&metric.Record{}).Get(); ok {
		t.Error("a time of nothing")
	}
}

func TestLevel(t *testing.T) {
	made := func(tps ...float64) (points []result.Point) {
		for _, x := range tps {
			p := result.Point{}
			p.Throughput.SystemOutputTPS = some(x)
			points = append(points, p)
		}
		return points
	}
	if level(made(100, 200, 400)) || level(made(100, 101)) || level(made(400, 405, 420)) || !level(made(100, 400, 405, 390)) {
		t.Error("when it levels off")
	}
}

func TestSpread(t *testing.T) {
	if got := spread(some(131.4249), some(0.594)).Text; got != "131.42 ± 0.59" {
		t.Errorf("%q", got)
	}
	if got := spread(opt{}, opt{}).Text; got != "–" {
		t.Errorf("%q", got)
	}
}

// What a name needs is listed with it.
func TestNamesSayWhatTheyNeed(t *testing.T) {
	for i, m := range methods {
		_, err := m.Prepare(&Options{Base: bench.Plan{}})
		if needs := strings.HasSuffix(Names()[i], ":BENCHMARK"); needs != (err != nil && strings.Contains(err.Error(), "name a benchmark")) {
			t.Errorf("%s: %v", Names()[i], err)
		}
	}
}
