package lens

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// reply builds a timeline; times are ms since due.
type reply struct{ tl *timeline.Timeline }

func newReply() reply {
	tl := timeline.New()
	tl.Streamed, tl.Asked, tl.HTTPStatus, tl.Outcome = true, true, 200, timeline.OK
	return reply{tl}
}

// events appends n events of a kind.
func (r reply) events(kind timeline.Kind, n int, fromMS, everyMS float64) reply {
	for i := range n {
		us := int64(math.Round((fromMS + float64(i)*everyMS) * 1000))
		r.tl.Events.Append(timeline.Event{AtUS: us, Kind: kind, Bytes: 4, Read: int64(r.tl.Events.Len())})
	}
	r.tl.CloseUS = timeline.Some(r.tl.Events.LastUS())
	return r
}

// holding appends events that hold the given numbers of tokens.
func (r reply) holding(tokens []int64, fromMS, everyMS float64) reply {
	for i, k := range tokens {
		us := int64(math.Round((fromMS + float64(i)*everyMS) * 1000))
		r.tl.Events.Append(timeline.Event{AtUS: us, Kind: timeline.Text, Bytes: 4 * k,
			Tokens: timeline.Some(k), Read: int64(r.tl.Events.Len())})
	}
	r.tl.CloseUS = timeline.Some(r.tl.Events.LastUS())
	return r
}

func (r reply) usage(in, out int64) reply {
	r.tl.Usage.Input, r.tl.Usage.Output = timeline.Some(in), timeline.Some(out)
	return r
}

func (r reply) closed(ms float64) reply {
	r.tl.CloseUS = timeline.Some(int64(ms * 1000))
	return r
}

func (r reply) due(dueMS, startMS float64) reply {
	r.tl.DueUS, r.tl.StartUS = int64(dueMS*1000), int64(startMS*1000)
	return r
}

func (r reply) fails(o timeline.Outcome) reply { r.tl.Fail(o, "it failed"); return r }

// through looks at replies through one lens.
func through(t *testing.T, name string, facts Facts, replies ...reply) Table {
	t.Helper()
	var tls []*timeline.Timeline
	for i, r := range replies {
		r.tl.Request = int64(i)
		tls = append(tls, r.tl)
	}
	tables, err := Apply([]string{name}, slices.Values(tls), facts)
	if err != nil {
		t.Fatal(err)
	}
	return tables[0]
}

// want checks a row; NaN means null.
func (tab Table) want(t *testing.T, name string, v float64) {
	t.Helper()
	for _, r := range tab.Rows {
		if r.Name != name {
			continue
		}
		got, ok := r.Value.Get()
		if ok == math.IsNaN(v) || ok && math.Abs(got-v) > 0.0005*math.Max(1, math.Abs(v)) {
			t.Errorf("%s %s is %v (known: %v), want %v", tab.Lens, name, got, ok, v)
		}
		return
	}
	t.Errorf("%s has no row %s", tab.Lens, name)
}

var null = math.NaN()

// TTFT 1 s, then 100 tokens at 10 ms: GuideLLM's TPOT has TTFT inside and
// reads 19.9 ms where the others read 10.
func TestTPOTWithTTFTInside(t *testing.T) {
	r := newReply().events(timeline.Text, 100, 1000, 10).usage(10, 100)
	through(t, "guidellm", Facts{}, r).want(t, "time_per_output_token_ms.mean", 19.9)
	through(t, "guidellm", Facts{}, r).want(t, "inter_token_latency_ms.mean", 10)
	through(t, "vllm", Facts{}, r).want(t, "mean_tpot_ms", 10)
	through(t, "sglang", Facts{}, r).want(t, "mean_tpot_ms", 10)
	through(t, "aiperf", Facts{}, r).want(t, "inter_token_latency avg", 10)
	through(t, "genai-perf", Facts{}, r).want(t, "inter_token_latency avg", 10)
	through(t, "inference-perf", Facts{}, r).want(t, "latency.time_per_output_token.mean", 0.01)
	through(t, "inference-perf", Facts{}, r).want(t, "latency.normalized_time_per_output_token.mean", 0.0199)
	through(t, "llmperf", Facts{}, r).want(t, "results_inter_token_latency_s_mean", 0.0199)
	through(t, "mlperf", Facts{}, r).want(t, "Mean Time per Output Token (ns)", 10e6)
	through(t, "llama-bench", Facts{}, r).want(t, "tg avg_ts", 100)
	if v := metric.ValuesOf(r.tl); v.TPOTMS != timeline.Some(10.0) {
		t.Errorf("ours is %v", v.TPOTMS)
	}
}

// A role chunk at 8.97 ms before a first token at 50: only vLLM in Rust counts it.
func TestRoleChunk(t *testing.T) {
	r := newReply().events(timeline.Role, 1, 8.97, 0).events(timeline.Text, 100, 50, 10).
		events(timeline.Finish, 1, 1040, 0).usage(10, 100)
	v := through(t, "vllm-rust", Facts{}, r)
	v.want(t, "mean_ttft_ms", 8.97)
	v.want(t, "mean_tpot_ms", (1040-8.97)/99)
	v.want(t, "mean_itl_ms", (1040-8.97)/101)
	v.want(t, "max_output_tokens_per_s", 96) // the role chunk and the 95 tokens before 1 s
	v = through(t, "vllm", Facts{}, r)       // in Python the first token is one
	v.want(t, "mean_ttft_ms", 50)
	v.want(t, "mean_e2el_ms", 1040)
	v.want(t, "mean_itl_ms", 10)
	for lens, row := range map[string]string{
		"aiperf": "time_to_first_token avg", "sglang": "mean_ttft_ms", "guidellm": "time_to_first_token_ms.mean",
		"genai-perf": "time_to_first_token avg",
	} {
		through(t, lens, Facts{}, r).want(t, row, 50)
	}
	through(t, "inference-perf", Facts{}, r).want(t, "latency.time_to_first_token.mean", 0.05)
	through(t, "llmperf", Facts{}, r).want(t, "results_ttft_s_mean", 0.05)
}

// vLLM's seconds begin when the first request that succeeded was sent (serve.py,
// min_start_time over successful_outputs), whatever failed before.
func TestBestSecondBeginsWithASuccess(t *testing.T) {
	failed := newReply()
	failed.tl.Outcome, failed.tl.HTTPStatus = timeline.HTTP5xx, 500
	r := newReply().events(timeline.Text, 10, 50, 100).usage(1, 10)
	r.tl.DueUS, r.tl.StartUS = 600_000, 600_000
	through(t, "vllm", Facts{}, failed, r).want(t, "max_output_tokens_per_s", 10)
}

// Reasoning at 50 ms, the answer at 214: some tools do not see reasoning.
func TestReasoning(t *testing.T) {
	r := newReply().events(timeline.Reasoning, 8, 50, 20).events(timeline.Text, 10, 214, 20).usage(10, 18)
	for lens, first := range map[string]float64{"vllm": 50, "sglang": 50} {
		through(t, lens, Facts{}, r).want(t, "mean_ttft_ms", first)
	}
	through(t, "guidellm", Facts{}, r).want(t, "time_to_first_token_ms.mean", 50)
	through(t, "guidellm", Facts{}, r).want(t, "time_to_first_output_token_ms.mean", 214)
	through(t, "aiperf", Facts{}, r).want(t, "time_to_first_token avg", 50)
	through(t, "aiperf", Facts{}, r).want(t, "time_to_first_output_token avg", 214)
	through(t, "genai-perf", Facts{}, r).want(t, "time_to_first_token avg", 214)
	through(t, "inference-perf", Facts{}, r).want(t, "latency.time_to_first_token.mean", 0.214)
	through(t, "llmperf", Facts{}, r).want(t, "results_ttft_s_mean", 0.214)

	r.tl.Flags |= timeline.InlineReasoning // within the text, where these tools don't see it
	through(t, "guidellm", Facts{}, r).want(t, "time_to_first_output_token_ms.mean", 50)
	through(t, "aiperf", Facts{}, r).want(t, "time_to_first_output_token avg", 50)
	through(t, "genai-perf", Facts{}, r).want(t, "time_to_first_token avg", 50)
}

// AIPerf's native engine ends a request with its body, and sees a first token in an
// answer that is not streamed, of one token.
func TestNativeAIPerf(t *testing.T) {
	r := newReply().events(timeline.Text, 11, 100, 10).events(timeline.Done, 1, 300, 0).usage(10, 11)
	through(t, "aiperf", Facts{}, r).want(t, "request_latency avg", 200)
	through(t, "aiperf", Facts{}, r).want(t, "inter_token_latency avg", 10)
	n := through(t, "aiperf-native", Facts{}, r)
	n.want(t, "request_latency avg", 300)
	n.want(t, "inter_token_latency avg", 20)
	n.want(t, "time_to_first_token avg", 100)
	n.want(t, "benchmark_duration", 0.3)

	whole := newReply().events(timeline.Text, 1, 400, 0).usage(10, 12)
	whole.tl.Streamed = false
	through(t, "aiperf", Facts{}, whole).want(t, "time_to_first_token avg", null)
	n = through(t, "aiperf-native", Facts{}, whole)
	n.want(t, "time_to_first_token avg", 400)
	n.want(t, "inter_token_latency avg", null)
	n.want(t, "output_token_throughput", 1/0.4)
}

// Four tokens a chunk: gaps between chunks are four times those between tokens.
func TestFourTokensAChunk(t *testing.T) {
	r := newReply().holding(slices.Repeat([]int64{4}, 25), 100, 40).usage(10, 100)
	v := through(t, "vllm", Facts{}, r)
	v.want(t, "mean_itl_ms", 40)
	v.want(t, "median_itl_ms", 40)
	v.want(t, "mean_tpot_ms", 960.0/99)
	through(t, "sglang", Facts{}, r).want(t, "mean_itl_ms", 40)
	through(t, "aiperf", Facts{}, r).want(t, "inter_chunk_latency avg", 40)
	through(t, "aiperf", Facts{}, r).want(t, "inter_token_latency avg", 960.0/99)
	n := through(t, "aiperf-native", Facts{}, r) // it takes chunks for tokens
	n.want(t, "inter_token_latency avg", 40)
	n.want(t, "e2e_output_token_throughput avg", 25/1.06)
	ip := through(t, "inference-perf", Facts{}, r)
	ip.want(t, "latency.inter_token_latency.mean", 0.96/99)
	ip.want(t, "latency.inter_token_latency.median", 0)
}

// Without the tokens of a chunk, inference-perf would tokenise each piece.
func TestNullNeedsAReason(t *testing.T) {
	r := newReply().events(timeline.Text, 25, 100, 40).usage(10, 100)
	tab := through(t, "inference-perf", Facts{}, r)
	tab.want(t, "latency.inter_token_latency.mean", null)
	none := newReply().events(timeline.Text, 3, 100, 40)
	for _, name := range Names() {
		for _, tab := range []Table{tab, through(t, name, Facts{}, none), through(t, name, Facts{})} {
			for _, row := range tab.Rows {
				if row.Why == "" {
					t.Errorf("%s %s says no reason", tab.Lens, row.Name)
				}
				if v, ok := row.Value.Get(); ok && (v < 0 || math.IsNaN(v) || math.IsInf(v, 0)) {
					t.Errorf("%s %s is %v", tab.Lens, row.Name, v)
				}
			}
		}
	}
	through(t, "vllm", Facts{}, none).want(t, "output_throughput", null)
	through(t, "vllm", Facts{}, none).want(t, "mean_tpot_ms", null)
	through(t, "guidellm", Facts{}, none).want(t, "inter_token_latency_ms.mean", 40) // counts chunks
}

// workedExample is four requests of known answers (times in s): A due 0,
// B 0.1, C 0.2 but sent at 0.45, D 0.3 with a single token.
func workedExample() []reply {
	return []reply{
		newReply().holding([]int64{1, 1, 1, 1}, 200, 50).usage(100, 4),
		newReply().holding([]int64{1, 1, 1}, 400, 100).usage(200, 3).due(100, 100),
		newReply().holding([]int64{1, 4}, 550, 100).usage(50, 5).due(200, 450),
		newReply().holding([]int64{1}, 600, 0).usage(10, 1).due(300, 300),
	}
}

func TestWorkedExample(t *testing.T) {
	limits := Facts{Limits: Limits{TTFTMS: timeline.Some(400.0), TPOTMS: timeline.Some(60.0)}}
	v := through(t, "vllm", limits, workedExample()...)
	v.want(t, "duration", 0.9)
	v.want(t, "output_throughput", 14.4444)
	v.want(t, "total_token_throughput", 414.4444)
	v.want(t, "request_throughput", 4.4444)
	v.want(t, "request_goodput", 2.2222)
	v.want(t, "mean_ttft_ms", 375)
	v.want(t, "mean_tpot_ms", 58.3333)
	v.want(t, "mean_itl_ms", 75)
	v.want(t, "median_itl_ms", 75)
	v.want(t, "mean_e2el_ms", 487.5)

	a := through(t, "aiperf", limits, workedExample()...)
	a.want(t, "output_token_throughput", 14.4444)
	a.want(t, "goodput", 2.2222)
	a.want(t, "good_request_fraction", 0.5)
	a.want(t, "e2e_output_token_throughput avg", (11.4286+5+12.5+1.6667)/4)

	g := through(t, "guidellm", limits, workedExample()...)
	g.want(t, "inter_token_latency_ms.mean", 50) // weighted by tokens: .45/9
	g.want(t, "requests_per_second.mean", 4.4444)

	m := through(t, "mlperf", Facts{}, workedExample()...)
	m.want(t, "Mean First Token latency (ns)", 437.5e6) // from the scheduled time
	m.want(t, "Mean latency (ns)", 550e6)
	m.want(t, "Completed samples per second", 3/0.9)
	m.want(t, "Completed tokens per second", 14.4444)
	m.want(t, "99.00 percentile First Token latency (ns)", 600e6)
	m.want(t, "99.00 percentile early stopping estimate, latency (ns)", null)
}

// 10 of 12 requests break off with an error inside the stream: tools that take
// them for successes look good, and a share of successes reads 100 %.
func TestErrorsInsideAStream(t *testing.T) {
	var rs []reply
	for i := range 12 {
		r := newReply().events(timeline.Text, 10, 100, 10).usage(5, 10)
		if i >= 2 {
			r.events(timeline.ErrorEvent, 1, 200, 0).fails(timeline.StreamError)
		}
		rs = append(rs, r)
	}
	limits := Facts{Limits: Limits{TTFTMS: timeline.Some(400.0)}}
	through(t, "vllm", limits, rs...).want(t, "completed", 12)
	through(t, "inference-perf", limits, rs...).want(t, "goodput.goodput_percentage", 100)
	through(t, "guidellm", limits, rs...).want(t, "requests.errored", 10)
	through(t, "guidellm", limits, rs...).want(t, "goodput.attainment", 2.0/12)
	through(t, "aiperf", limits, rs...).want(t, "request_error_rate", 0) // it looks for "event: error" alone
	for _, r := range rs {
		r.fails(timeline.HTTP5xx)
	}
	through(t, "aiperf", limits, rs...).want(t, "request_error_rate", null)
	through(t, "inference-perf", limits, rs...).want(t, "goodput.goodput_percentage", null)
}

// An empty answer: SGLang records TTFT 0, vLLM in Rust the role chunk, others fail it.
func TestEmptyAnswer(t *testing.T) {
	rs := []reply{
		newReply().events(timeline.Text, 3, 200, 10).usage(12, 3),
		newReply().events(timeline.Text, 3, 220, 10).usage(12, 3),
		newReply().events(timeline.Role, 1, 8, 0).usage(12, 0).fails(timeline.EmptyOutput),
	}
	through(t, "sglang", Facts{}, rs...).want(t, "mean_ttft_ms", 140)
	through(t, "vllm-rust", Facts{}, rs...).want(t, "mean_ttft_ms", (200.0+220+8)/3)
	through(t, "vllm", Facts{}, rs...).want(t, "mean_ttft_ms", 210)
	through(t, "guidellm", Facts{}, rs...).want(t, "time_to_first_token_ms.mean", 210)
	through(t, "aiperf", Facts{}, rs...).want(t, "time_to_first_token avg", 210)
}

// No usage, five tokens of 128 asked for: SGLang divides by the asked length.
func TestAskedLengthTakenForTheAnswer(t *testing.T) {
	r := newReply().events(timeline.Text, 5, 300, 40)
	r.tl.Requested = timeline.Some(int64(128))
	tab := through(t, "sglang", Facts{}, r)
	tab.want(t, "mean_tpot_ms", 160.0/127)
	if len(tab.Notes) == 0 || !strings.Contains(tab.Notes[0], "asked for") {
		t.Errorf("notes are %q", tab.Notes)
	}
	// Nor with a usage, which its client doesn't ask for; /generate tells it unasked.
	r = newReply().events(timeline.Text, 5, 300, 40).usage(10, 5)
	r.tl.Requested = timeline.Some(int64(128))
	through(t, "sglang", Facts{}, r).want(t, "mean_tpot_ms", 160.0/127)
	r.tl.API = "sglang"
	through(t, "sglang", Facts{}, r).want(t, "mean_tpot_ms", 40)
	// A file of SGLang's has the length that it went by.
	through(t, "sglang", Facts{}, newReply().events(timeline.Text, 5, 300, 40).usage(10, 5)).want(t, "mean_tpot_ms", 40)
}

// The queue of the client is outside vLLM's clock: 1900 ms were waited, 500 shown.
func TestClientQueue(t *testing.T) {
	var rs []reply
	for i := range 8 {
		wait := float64(400 * i)
		rs = append(rs, newReply().events(timeline.Text, 2, wait+100, 400).usage(3, 2).
			due(float64(100*i), float64(500*i)))
	}
	v := through(t, "vllm", Facts{}, rs...)
	v.want(t, "mean_e2el_ms", 500)
	v.want(t, "mean_ttft_ms", 100)
	v.want(t, "duration", 4)
	through(t, "mlperf", Facts{}, rs...).want(t, "Mean latency (ns)", 1900e6)
}

// LLMPerf's inter-token latency has TTFT in its list.
func TestTTFTInTheGaps(t *testing.T) {
	r := newReply().events(timeline.Text, 4, 500, 20).usage(100, 4)
	through(t, "llmperf", Facts{}, r).want(t, "results_inter_token_latency_s_mean", 0.14)
	through(t, "vllm", Facts{}, r).want(t, "mean_itl_ms", 20)
}

func TestLoadGenPercentiles(t *testing.T) {
	var values []int64
	for i := range int64(100) {
		values = append(values, i+1)
	}
	if p50, p99 := loadgen(values, 0.5).Or(0), loadgen(values, 0.99).Or(0); p50 != 51 || p99 != 100 {
		t.Errorf("p50 %v and p99 %v of 1..100, want 51 and 100", p50, p99)
	}
	// From 1000 queries the honest p99 is rank 999.
	var rs []reply
	for i := range 1000 {
		rs = append(rs, newReply().events(timeline.Text, 2, float64(i+1), 10).usage(1, 2))
	}
	m := through(t, "mlperf", Facts{}, rs...)
	m.want(t, "99.00 percentile early stopping estimate, First Token latency (ns)", 999e6)
	m.want(t, "99.00 percentile First Token latency (ns)", 991e6)
}

// llama-bench's own published sample: five repetitions of 128 tokens.
func TestLlamaBenchMeanOfRates(t *testing.T) {
	var rs []reply
	for _, ns := range []float64{1075361300, 1065089400, 1071761200, 1081934900, 1089692600} {
		r := newReply()
		r.tl.Events.Append(timeline.Event{AtUS: 1000, Kind: timeline.Text})
		r.tl.Events.Append(timeline.Event{AtUS: 1000 + int64(math.Round(ns/1000)), Kind: timeline.Text, Read: 1})
		rs = append(rs, r.usage(10, 129)) // 128 decode steps after the first token
	}
	tab := through(t, "llama-bench", Facts{}, rs...)
	tab.want(t, "tg avg_ts", 118.881588)
	tab.want(t, "tg stddev_ts", 1.041811)
	through(t, "llama-bench", Facts{Concurrency: timeline.Some(int64(8))}, rs...).want(t, "tg avg_ts", null)
}

// Answers of which only the end is known, as a file of llama-bench has them: its
// samples_ts are all tokens that were computed over the whole time.
func TestLlamaBenchWhole(t *testing.T) {
	whole := func(ms float64, in, cached, out int64) reply {
		r := newReply().closed(ms).usage(in, out)
		r.tl.Streamed, r.tl.Evidence = false, timeline.RequestOnly
		r.tl.Usage.Cached = timeline.Some(cached)
		return r
	}
	prompt := newReply().events(timeline.Text, 1, 70.551, 0).usage(512, 0)
	prompt.tl.Usage.Output, prompt.tl.Evidence = timeline.Opt[int64]{}, timeline.RequestOnly // of pp512, whose time is TTFT
	through(t, "llama-bench", Facts{}, prompt).want(t, "pp avg_ts", 7257.16)
	tg := through(t, "llama-bench", Facts{}, whole(1060, 64, 64, 128), whole(1070, 64, 64, 128))
	tg.want(t, "tg avg_ts", (120.7547+119.6262)/2) // its README's tg128 @ d64
	tg.want(t, "tg stddev_ts", 0.7980)
	tg.want(t, "pp avg_ts", null)
	through(t, "llama-bench", Facts{}, whole(1000, 0, 0, 128)).want(t, "tg avg_ts", 128)
	through(t, "llama-bench", Facts{}, whole(2000, 612, 100, 128)).want(t, "pp+tg avg_ts", 320)
	through(t, "llama-bench", Facts{Concurrency: timeline.Some(int64(8))}, whole(2000, 512, 0, 128)).want(t, "pp+tg avg_ts", null)
}

// Tools that count prompts themselves: the server's count stands in for it, and each
// figure that is made of it says so.
func TestPromptsByTheToolsOwnCount(t *testing.T) {
	for name, rows := range map[string][]string{
		"aiperf": {"total_token_throughput", "prefill_throughput_per_user avg"}, "aiperf-native": {"total_token_throughput"}, "sglang": {"total_throughput"},
		"vllm": nil, "genai-bench": nil, // which take the server's
	} {
		tab := through(t, name, Facts{}, newReply().events(timeline.Text, 5, 100, 10).usage(30, 5))
		var told []string
		for _, r := range tab.Rows {
			if strings.Contains(r.Why, "prompts counted by the server here") {
				told = append(told, r.Name)
			}
		}
		for _, row := range rows {
			if !slices.Contains(told, row) {
				t.Errorf("%s: %s does not say whose count of prompts it is: %q", name, row, told)
			}
		}
		if rows == nil && told != nil {
			t.Errorf("%s: %q", name, told)
		}
	}
}

// AIPerf's file has its own count of each prompt, by which it reckons; others go by the server's.
func TestPromptsOfTheToolsFile(t *testing.T) {
	r := newReply().events(timeline.Text, 5, 100, 10).usage(30, 5)
	r.tl.TokenizedInput = timeline.Some(int64(80))
	tab := through(t, "aiperf", Facts{Imported: true}, r)
	tab.want(t, "total_token_throughput", (80+5)/0.14)
	tab.want(t, "prefill_throughput_per_user avg", 80/0.1)
	through(t, "vllm", Facts{Imported: true}, r).want(t, "total_token_throughput", (30+5)/0.14)
}

// Of an imported run it isn't known whose count of prompts there is, nor when a request was
// handed out.
func TestImportedIsNotBlamedOnTheServer(t *testing.T) {
	for _, imported := range []bool{false, true} {
		tab := through(t, "aiperf", Facts{Imported: imported}, newReply().events(timeline.Text, 5, 100, 10).usage(30, 5))
		for _, r := range tab.Rows {
			switch r.Name {
			case "total_token_throughput":
				if strings.Contains(r.Why, "counted by the server") == imported || !r.Value.OK() {
					t.Errorf("imported %v: %v, %s", imported, r.Value, r.Why)
				}
			case "effective_latency avg":
				if r.Value.OK() == imported {
					t.Errorf("imported %v: effective latency %v", imported, r.Value)
				}
			}
		}
	}
}

func TestGuideLLMPercentilesByWeight(t *testing.T) {
	short := newReply().events(timeline.Text, 2, 100, 100).usage(1, 2)
	long := newReply().events(timeline.Text, 101, 100, 10).usage(1, 101)
	g := through(t, "guidellm", Facts{}, short, long)
	g.want(t, "inter_token_latency_ms.mean", (100+100*10)/101.0)
	g.want(t, "inter_token_latency_ms.median", 10)
	g.want(t, "inter_token_latency_ms.p99", 10)
}

func TestOursStandBeside(t *testing.T) {
	summary := &metric.Summary{Metrics: map[string]metric.Dist{
		"ttft_ms": {N: 1, Mean: timeline.Some(50.0)},
		"icl_ms":  {N: 1, Mean: timeline.Some(40.0)},
	}}
	r := newReply().events(timeline.Text, 25, 100, 40).usage(10, 100)
	check := func(lens, name, ours string, v float64) {
		t.Helper()
		for _, row := range through(t, lens, Facts{Summary: summary}, r).Rows {
			if row.Name == name && (row.Ours != ours || row.OurValue != timeline.Some(v)) {
				t.Errorf("%s beside %s is %s = %v, want %s = %v", name, lens, row.Ours, row.OurValue, ours, v)
			}
		}
	}
	check("vllm", "mean_ttft_ms", "ttft_ms.mean", 50)
	check("vllm", "mean_itl_ms", "icl_ms.mean", 40) // ITL is not known
	check("inference-perf", "latency.time_to_first_token.mean", "ttft_ms.mean", 0.05)
	check("mlperf", "Mean First Token latency (ns)", "ttft_ms.mean", 50e6)
}

// Every counterpart that a lens names exists in the catalogue.
func TestOursAreInTheCatalogue(t *testing.T) {
	for _, name := range Names() {
		for _, row := range through(t, name, Facts{}).Rows {
			base, _, _ := strings.Cut(row.Ours, ".")
			if row.Ours == "" || base == "goodput" || base == "requests" {
				continue
			}
			if _, err := metric.Lookup(base); err != nil {
				t.Errorf("%s %s: %v", name, row.Name, err)
			}
		}
	}
}

func TestWhatIsLeftOut(t *testing.T) {
	warm := newReply().events(timeline.Text, 2, 4000, 10).usage(1, 2)
	warm.tl.Phase = timeline.Warmup
	cut := newReply().events(timeline.Text, 2, 4000, 10).usage(1, 2).fails(timeline.CancelledRunEnd)
	bare := newReply()
	bare.tl.Evidence = timeline.RequestOnly
	refused := newReply().closed(30).fails(timeline.HTTP5xx)
	refused.tl.Evidence = timeline.RequestOnly // of an imported one: no arrival is missing
	body := newReply().usage(1, 2).closed(30)
	body.tl.Streamed = false
	full := newReply().events(timeline.Text, 2, 100, 10).usage(1, 2)
	through(t, "aiperf", Facts{}, full, refused, body).want(t, "request_error_rate", 100.0/3)
	tab := through(t, "aiperf", Facts{}, full, warm, cut, bare, refused, body)
	tab.want(t, "request_count", 2)
	tab.want(t, "request_error_rate", 0) // where successes are left out, failures are
	tab.want(t, "time_to_first_token avg", 100)
	tab.want(t, "request_latency avg", 70)
	if notes := strings.Join(tab.Notes, "\n"); !strings.Contains(notes, "2 requests left out") || !strings.Contains(notes, "1 answer without a stream") {
		t.Errorf("notes are %q", notes)
	}
}

// What has first and last token and their number alone, as files of GuideLLM and llmeter
// and spans, has the figures of tools that look at no more; of others nothing is known, which
// is no count of 0. Two answers of 5 and 3 tokens: first after 100 and 60 ms, last after 300.
func TestEndsAlone(t *testing.T) {
	ends := func(first float64, n int64) reply {
		r := newReply().events(timeline.Text, 1, first, 0).events(timeline.Text, 1, 300, 0).usage(9, n).closed(300)
		r.tl.Evidence = timeline.RequestOnly
		return r
	}
	uncounted := newReply().events(timeline.Text, 1, 50, 0).closed(50)
	uncounted.tl.Evidence = timeline.RequestOnly
	g := through(t, "guidellm", Facts{}, ends(100, 5), ends(60, 3))
	g.want(t, "requests.successful", 2)
	g.want(t, "time_to_first_token_ms.mean", 80)
	g.want(t, "time_per_output_token_ms.mean", 600.0/8)          // (300 + 300) / (5 + 3)
	g.want(t, "inter_token_latency_ms.mean", (50.0*4+120.0*2)/6) // (300 − 100) / 4 and (300 − 60) / 2, by n − 1
	g.want(t, "request_latency.mean", 0.3)
	through(t, "llmeter", Facts{}, ends(100, 5), ends(60, 3)).want(t, "time_per_output_token-average", 0.085) // of 50 and 120 ms
	o := through(t, "otel", Facts{}, ends(100, 5), ends(60, 3))
	o.want(t, "gen_ai.client.inference.time_to_first_chunk mean", 0.08)
	for _, c := range []struct {
		lens, figure string
		of           reply
	}{{"otel", "gen_ai.client.inference.time_per_output_chunk mean", ends(100, 5)}, {"vllm", "completed", ends(100, 5)}, {"aiperf", "request_count", ends(100, 5)}, {"guidellm", "requests.successful", uncounted}} {
		for _, r := range through(t, c.lens, Facts{}, c.of).Rows {
			if r.Name == c.figure && r.Value.OK() {
				t.Errorf("%s %s is %v", c.lens, c.figure, r.Value)
			}
		}
	}
}

// An imported answer that was no stream has its latency, as AIPerf 0.13's file of a run without
// --streaming: request_count, request_latency and throughput are in its own summary.
func TestImportedWithoutAStream(t *testing.T) {
	body := newReply().events(timeline.Text, 1, 94, 0).usage(30, 10).closed(94)
	body.tl.Streamed, body.tl.Evidence = false, timeline.RequestOnly
	tab := through(t, "aiperf", Facts{}, body)
	tab.want(t, "request_count", 1)
	tab.want(t, "request_latency avg", 94)
	if notes := strings.Join(tab.Notes, "\n"); !strings.Contains(notes, "1 answer without a stream") || strings.Contains(notes, "left out") {
		t.Errorf("notes are %q", notes)
	}
}

func TestUnknownLens(t *testing.T) {
	if _, err := Apply([]string{"wrk"}, slices.Values([]*timeline.Timeline(nil)), Facts{}); err == nil || !strings.Contains(err.Error(), "vllm, vllm-rust, aiperf") {
		t.Errorf("got %v", err)
	}
	tables, err := Apply([]string{"all"}, slices.Values([]*timeline.Timeline(nil)), Facts{})
	if err != nil || len(tables) != len(Names()) {
		t.Errorf("got %d tables, %v", len(tables), err)
	}
}

// GuideLLM sums shares of 1/n in floating point: of 12 values the first six come to
// just below a half, and the median is the seventh; of 10 it is the fifth.
// (numpy: np.searchsorted(np.cumsum(np.full(12, 1/12)), 0.5) is 6.)
func TestGuideLLMMedianOfFloatSums(t *testing.T) {
	for n, place := range map[int]int{2: 1, 10: 5, 12: 7, 14: 8, 16: 8, 20: 11, 26: 14} {
		var w weighted
		for i := range n {
			w.add(float64(n-i), 3) // the weight does not matter
		}
		if got := w.quantile(0.5); got.Or(0) != float64(place) {
			t.Errorf("n = %d: value %v, want the %d-th", n, got, place)
		}
	}
	// Equal values are one.
	w := weighted{values: []weightedValue{{1, 1}, {1, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}}
	if got := w.quantile(0.5); got.Or(0) != 1 {
		t.Errorf("%v", got)
	}
}

// AIPerf's throughputs are over its phase, to the return of the last request whatever
// became of it; its benchmark_duration is of successes.
func TestAIPerfDividesByItsPhase(t *testing.T) {
	fast := newReply().events(timeline.Text, 11, 100, 10).usage(1, 11)
	for _, late := range []float64{400, 900} {
		slow := newReply().events(timeline.Text, 1, late, 0)
		slow.tl.Fail(timeline.HTTP5xx, "boom")
		slow.tl.CloseUS = timeline.Some(int64(late * 1000))
		g := through(t, "aiperf", Facts{}, fast, slow)
		g.want(t, "request_throughput", 1/(late/1000))
	}
}

// A body that ended early is a success to most tools; a connection that broke in it is
// an exception in all of them.
func TestBrokenConnectionFails(t *testing.T) {
	ended := newReply().events(timeline.Text, 4, 100, 10).fails(timeline.StreamTruncated)
	broke := newReply().events(timeline.Text, 4, 100, 10).fails(timeline.StreamTruncated)
	broke.tl.Error.Message = timeline.CutWords + " without a finish reason"
	for lens, row := range map[string]string{"vllm": "completed", "vllm-rust": "completed", "aiperf": "request_count",
		"guidellm": "requests.successful", "inference-perf": "successes.count"} {
		through(t, lens, Facts{}, ended, broke).want(t, row, 1)
	}
}
