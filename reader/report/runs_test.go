package report

import (
	"strings"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/objective"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// Hand-made runs, one for each state a report has to show.

func some(v float64) timeline.Opt[float64] { return timeline.Some(v) }

// dist is a sample by its percentiles; ends are pairs for p50, p95, p99.
func dist(n int64, p50, p95, p99 float64, ends ...float64) metric.Dist {
	d := metric.Dist{N: n, Mean: some((p50 + p95) / 2), SD: some((p95 - p50) / 2), Min: some(p50 / 2),
		P50: some(p50), P90: some((p50 + p95) / 2), P95: some(p95), P99: some(p99),
		P999: some(p99 * 1.1), Max: some(p99 * 1.2), CI95: map[string][2]float64{}}
	for i, name := range []string{"p50", "p95", "p99"} {
		if len(ends) > 2*i+1 {
			d.CI95[name] = [2]float64{ends[2*i], ends[2*i+1]}
			continue
		}
		if d.Needs == nil {
			d.Needs = map[string]float64{}
		}
		d.Needs[name] = []float64{50, 108, 551}[i] / float64(n)
	}
	d.Worth = some(float64(n))
	return d
}

func holds(names ...string) []validity.Check {
	var checks []validity.Check
	for _, name := range names {
		checks = append(checks, validity.Check{Name: name, Verdict: "valid", Value: some(0.01), Limit: some(0.1),
			Says: name + " is within its limit"})
	}
	return checks
}

var nineChecks = []string{"client_lag", "send_late", "achieved_over_offered", "coalesced", "cpu_busy",
	"steal", "drift", "prefix_hits", "errors"}

// validRun is the run that the layout was drawn with.
func validRun() *run.Run {
	started := time.Date(2026, 11, 27, 10, 11, 12, 0, time.UTC)
	finished := started.Add(133 * time.Second)
	r := &run.Run{
		Schema: run.Schema, ID: "2026-11-27T1011", Name: "nightly", Started: started, Finished: &finished,
		Version: "1.0.0", Seed: 7,
		Command: []string{"tokenmeter", "bench", "http://localhost:8000", "--concurrency", "32", "--requests", "600",
			"--objective", "p99 tpot < 40ms"},
		Environment: run.Environment{OS: "linux", Kernel: "6.12", CPUs: 16, CPUModel: "EPYC 9354", Go: "go1.26"},
		Target:      run.Target{URL: "http://localhost:8000/v1/chat/completions", API: "openai-chat", Model: "llama-3.1-8b", Server: "vllm 0.14"},
		Load:        run.Load{Kind: "closed", Arrival: "closed", Concurrency: timeline.Some(int64(32)), Requests: timeline.Some(int64(600)), Warmup: "4 requests", Workers: 1},
		Workload:    run.Workload{Kind: "synthetic", InputTokens: "256", OutputTokens: "128", UniquePrompts: timeline.Some(int64(600))},
		Objectives:  []string{"p99 tpot < 40ms", "p95 ttft < 1s"},
		Summary: metric.Summary{
			Requests: metric.Requests{Total: 600, OK: 594, Failed: 6, Warmup: 4,
				ByClass:      map[timeline.Outcome]int64{timeline.OK: 594, timeline.TimeoutIdle: 4, timeline.HTTP429: 2},
				FirstError:   ptr("no token for 2m0s"),
				TokenSources: map[string]int64{"usage": 594}, Clocks: map[timeline.Clock]int64{timeline.Kernel: 600}, Attempts: 600, Flags: map[string]int64{}},
			Metrics: map[string]metric.Dist{
				"ttft_ms":       dist(594, 182.3, 610.2, 1918.4, 178.7, 186.1, 570.9, 664.1, 1400.2, 2344.1),
				"tpot_ms":       dist(592, 23.81, 28.12, 41.03, 23.62, 24.04, 27.51, 29.02, 40.21, 43.88),
				"itl_ms":        dist(171_234, 22.91, 30.42, 74.13, 22.88, 22.94, 30.33, 30.51, 73.02, 75.24),
				"icl_ms":        dist(171_234, 22.91, 30.42, 74.13, 22.88, 22.94, 30.33, 30.51, 73.02, 75.24),
				"e2e_ms":        dist(594, 6851, 11_912, 15_803, 6702, 7004, 11_403, 12_411, 14_112, 17_034),
				"decode_tps":    dist(592, 42.0, 43.2, 44.1),
				"client_lag_ms": dist(171_234, 0.008, 0.02, 0.03),
			},
			Throughput: metric.Throughput{WindowS: some(133.2), SystemOutputTPS: some(1287.4), DeliveredTPS: some(1287.4),
				RequestsPerS: some(4.46), SustainedTPS: some(1301.2), AchievedPerS: some(4.46)},
			Decomposition: &metric.Decomposition{N: 594, TTFTShare: some(0.034), DecodeShare: some(0.966)},
		},
		Validity: validity.Validity{Verdict: "valid", Checks: holds(nineChecks...)},
		Goodput: &objective.Goodput{Good: 581, Bad: 19, Fraction: some(0.96833), FractionCI95: &[2]float64{0.9511, 0.9797}, RequestsPerS: some(4.362),
			Objectives: []objective.ObjectiveResult{
				{Text: "p99 tpot < 40ms", Metric: "tpot", Percentile: some(0.99), Limit: 40, Attained: some(0.985), Value: some(41.03), N: 592,
					CI95: &[2]float64{40.21, 43.88}, Met: timeline.Some(false), State: "missed", Settled: timeline.Some(true)},
				{Text: "p95 ttft < 1s", Metric: "ttft", Percentile: some(0.95), Limit: 1000, Attained: some(0.97), Value: some(640.1), N: 600,
					CI95: &[2]float64{588.2, 701.3}, Met: timeline.Some(true), State: "met", Settled: timeline.Some(true)},
			}},
	}
	return r
}

func ptr[T any](v T) *T { return &v }

// suspectRun drifted.
func suspectRun() *run.Run {
	r := validRun()
	r.Validity.Verdict = "suspect"
	r.Validity.Checks[6] = validity.Check{Name: "drift", Verdict: "suspect", Value: some(0.16), Limit: some(0.10),
		Says: "TPOT rose by 16 % from the first half to the second (limit 10 %): measure longer, or find what changed on the server"}
	r.Warnings = []metric.Warning{{Name: "osl_mismatch", Value: some(0.07), Says: "answers were 7 % shorter than asked: use --ignore-eos for equal lengths"}}
	return r
}

// invalidRun was limited by its client.
func invalidRun() *run.Run {
	r := suspectRun()
	r.Validity.Verdict = "invalid"
	r.Validity.Checks[4] = validity.Check{Name: "cpu_busy", Verdict: "invalid", Value: some(0.97), Limit: some(0.90),
		Says: "the client used 97 % of its cores (limit 90 %): use fewer streams or more cores"}
	return r
}

// allFailedRun had the wrong key.
func allFailedRun() *run.Run {
	r := validRun()
	r.Requests = metric.Requests{Total: 20, Failed: 20, ByClass: map[timeline.Outcome]int64{timeline.HTTP4xx: 20},
		FirstError: ptr("401 Unauthorized: invalid_api_key: Incorrect API key provided"), Attempts: 20}
	r.Metrics = map[string]metric.Dist{"ttft_ms": {}, "tpot_ms": {}, "e2e_ms": {}, "itl_ms": {}, "icl_ms": {}}
	r.Throughput = metric.Throughput{}
	r.Decomposition = nil
	r.Validity = validity.Validity{Verdict: "invalid", Checks: append(holds("cpu_busy", "steal"),
		validity.Check{Name: "errors", Verdict: "invalid", Value: some(1), Limit: some(0.5), Says: "every request failed (limit 50 %)"},
		validity.Check{Name: "client_lag", Verdict: "unknown", Says: "nothing arrived"})}
	r.Objectives = []string{"p99 tpot < 40ms"}
	r.Goodput = &objective.Goodput{Bad: 20, Fraction: some(0), FractionCI95: &[2]float64{0, 0.161}, RequestsPerS: some(0),
		Objectives: []objective.ObjectiveResult{{Text: "p99 tpot < 40ms", Metric: "tpot", Percentile: some(0.99), Limit: 40,
			Attained: some(0), N: 20, Met: timeline.Some(false), State: "missed"}}}
	return r
}

// partialRun was stopped by Ctrl-C.
func partialRun() *run.Run {
	r := tinyRun(30)
	r.Partial = true
	r.Finished = nil
	r.Load.Requests = timeline.Some(int64(100))
	r.Requests.Excluded = map[string]int64{"cancelled_user": 8}
	return r
}

// tinyRun has n requests and no objectives.
func tinyRun(n int64) *run.Run {
	r := validRun()
	r.Objectives, r.Goodput = nil, nil
	r.Requests = metric.Requests{Total: n, OK: n, ByClass: map[timeline.Outcome]int64{timeline.OK: n},
		TokenSources: map[string]int64{"usage": n}, Attempts: n}
	if n == 0 {
		r.Requests = metric.Requests{}
	}
	r.Metrics = map[string]metric.Dist{}
	for key, v := range map[string][3]float64{"ttft_ms": {214, 230, 240}, "tpot_ms": {20, 21, 22}, "e2e_ms": {254, 270, 290}} {
		d := metric.Dist{N: n}
		if n > 0 {
			d = dist(n, v[0], v[1], v[2])
			d.CI95 = nil
			if n >= 6 {
				d.CI95 = map[string][2]float64{"p50": {v[0] - 3, v[0] + 4}}
			}
		}
		if n == 1 {
			d.P95, d.P99, d.P999, d.Max, d.SD = d.P50, d.P50, d.P50, d.P50, timeline.Opt[float64]{}
		}
		r.Metrics[key] = d
	}
	r.Throughput = metric.Throughput{WindowS: some(0.254 * float64(n)), SystemOutputTPS: some(11.8), RequestsPerS: some(3.94)}
	if n == 0 {
		r.Throughput = metric.Throughput{}
	}
	r.Decomposition = nil
	return r
}

// noUsageRun is against a server that counts nothing and batches its chunks.
func noUsageRun() *run.Run {
	r := validRun()
	r.Requests.TokenSources = map[string]int64{"chunks": 594}
	r.Requests.Flags = map[string]int64{"estimated": 594}
	r.Metrics["itl_ms"] = metric.Dist{}
	return r
}

// reasoningRun thinks before it answers.
func reasoningRun() *run.Run {
	r := validRun()
	r.Metrics["ttfo_ms"] = dist(594, 4120, 9020, 12_310, 4012, 4230, 8701, 9410, 11_020, 14_090)
	r.Metrics["itl_ms"] = metric.Dist{}
	r.Requests.Flags = map[string]int64{"hidden_reasoning": 594}
	return r
}

// unstreamedRun got whole bodies.
func unstreamedRun() *run.Run {
	r := validRun()
	for _, key := range []string{"ttft_ms", "tpot_ms", "itl_ms", "icl_ms", "decode_tps", "client_lag_ms"} {
		r.Metrics[key] = metric.Dist{}
	}
	r.Requests.Flags = map[string]int64{"non_streaming": 594, "stream_ignored": 594}
	r.Decomposition = nil
	r.Objectives, r.Goodput = nil, nil
	return r
}

// hostile are texts that break out of naive reports.
var hostile = []string{
	`</script><script>alert(1)</script>`, `<!--`, `"><img src=x onerror=alert(1)>`,
	"\u202egnp.exe\u2066", strings.Repeat("long", 1000), "emoji 🙂 模型/β", "esc \x1b[31mred\x1b[0m\x07\u009b31m",
	"| a | b |", "`code` ``` fence", "[x](javascript:alert(1))", "=HYPERLINK(1)", "{{.}} <b>x</b> &lt;",
	"line\nbreak\r\ttab", "\xff\xfe broken utf-8", "</style><style>*{display:none}</style>", "${7*7} $x$",
}

// hostileRun has them everywhere.
func hostileRun() *run.Run {
	r := validRun()
	all := strings.Join(hostile, " ")
	r.Name, r.ID = all, "id "+hostile[0]
	r.Target = run.Target{URL: "http://h/" + all, API: hostile[2], Model: all, Server: all}
	r.Command = append([]string{"tokenmeter", "bench"}, hostile...)
	r.Requests.FirstError = &all
	r.Warnings = []metric.Warning{{Name: hostile[0], Says: all}}
	r.Validity.Checks[0].Says = all
	r.Validity.Checks[0].Verdict, r.Validity.Verdict = "suspect", "suspect"
	r.Validity.Checks[0].Name = hostile[0]
	r.Goodput.Objectives[0].Text = all
	r.Tags = map[string]string{hostile[0]: all}
	r.Environment.CPUModel = all
	r.Workload.Source = all
	r.Tokenizer = &all
	r.Requests.ByClass[timeline.Outcome(hostile[0])] = 3
	r.Requests.Excluded = map[string]int64{hostile[2]: 2}
	return r
}

// allRuns are the states by name.
func allRuns() map[string]*run.Run {
	return map[string]*run.Run{
		"valid": validRun(), "suspect": suspectRun(), "invalid": invalidRun(), "all-failed": allFailedRun(),
		"partial": partialRun(), "n0": tinyRun(0), "n1": tinyRun(1), "n2": tinyRun(2), "n10": tinyRun(10),
		"no-usage": noUsageRun(), "reasoning": reasoningRun(), "unstreamed": unstreamedRun(), "hostile": hostileRun(),
		"empty": {},
	}
}
