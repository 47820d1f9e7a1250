package lens

import (
	"math"
	"testing"

	"tokenmeter/record/stat"
	"tokenmeter/record/timeline"
)

// Values that llmeter 0.2.0 itself returned (llmeter.utils.summary_stats_from_list).
func TestExclusiveQuantiles(t *testing.T) {
	squares := make([]float64, 120)
	for i := range squares {
		squares[i] = float64((i+1)*(i+1)) / 100
	}
	for _, c := range []struct {
		values   []float64
		p90, p99 float64
	}{
		{[]float64{0.1, 0.2, 0.3, 0.4, 0.5}, 0.54, 0.594},
		{[]float64{0.2, 0.1}, 0.27, 0.297},
		{squares, 118.593, 143.4981},
		{[]float64{0.7}, 0.7, 0.7},
	} {
		var s stat.Sample
		for _, v := range c.values {
			s.Add(v)
		}
		if p90, p99 := exclusive(&s, 9, 10).Or(0), exclusive(&s, 99, 100).Or(0); math.Abs(p90-c.p90) > 1e-9 || math.Abs(p99-c.p99) > 1e-9 {
			t.Errorf("%d values: %v and %v, llmeter says %v and %v", len(c.values), p90, p99, c.p90, c.p99)
		}
	}
}

// TTFT 1 s, a role chunk at 9 ms, 100 tokens at 10 ms, a failure that took 5 s.
func TestLLMeterInferenceXAndOTel(t *testing.T) {
	answer := func() reply {
		return newReply().events(timeline.Role, 1, 9, 0).events(timeline.Text, 100, 1000, 10).usage(10, 100).closed(1995)
	}
	failure := newReply().closed(5000).fails(timeline.HTTP5xx)
	failure.tl.HTTPStatus = 500
	later := newReply().closed(5000).fails(timeline.HTTP5xx)
	later.tl.DueUS, later.tl.StartUS, later.tl.HTTPStatus = 5e6, 5e6, 500
	m := through(t, "llmeter", Facts{}, answer(), failure)
	m.want(t, "time_to_first_token-average", 1)
	m.want(t, "time_per_output_token-p50", 0.01)
	m.want(t, "time_to_last_token-p99", 1.99)
	m.want(t, "failed_requests_rate", 0.5)
	m.want(t, "requests_per_minute", null)                                             // all were sent at one moment
	through(t, "llmeter", Facts{}, answer(), later).want(t, "requests_per_minute", 24) // 2, between whose sends lie 5 s
	x := through(t, "inferencex", Facts{}, answer(), failure)
	x.want(t, "mean_ttft", 0.009)
	x.want(t, "median_intvty", 1000/(1981.0/99))
	x.want(t, "p90 E2E-normalised interactivity", 100/1.99)
	x.want(t, "tput_per_gpu", null)
	o := through(t, "otel", Facts{}, answer(), failure)
	o.want(t, "gen_ai.client.inference.duration mean", (1.995+5)/2)
	o.want(t, "gen_ai.client.inference.time_to_first_chunk mean", 0.009)
	o.want(t, "gen_ai.client.inference.time_per_output_chunk mean", 1.981/100)
	o.want(t, "gen_ai.client.inference.usage.output_tokens", 100)
	thinks := newReply().events(timeline.Reasoning, 5, 50, 10).events(timeline.Text, 5, 214, 10).usage(10, 10)
	through(t, "llmeter", Facts{}, thinks).want(t, "time_to_first_token-average", 0.214)
}

// The row that InferenceX published for Kimi K2.5 on MI355X (Apache 2.0): its
// interactivity is 1 / TPOT of the same statistic.
func TestInferenceXRow(t *testing.T) {
	for tpot, intvty := range map[float64]float64{0.017294128568510713: 57.82309273569342, 0.017393898241078155: 57.49142521935413, 0.018459965544077445: 54.17128204341814} {
		if v := ratio(1, tpot).Or(0); math.Abs(v-intvty) > 1e-9 {
			t.Errorf("1 / %v is %v, the row has %v", tpot, v, intvty)
		}
	}
}

// An answer without a token: GuideLLM 0.8 leaves it out of TTFT, inference-perf has it
// as a normalised TPOT of 0.
func TestAnswersWithoutTokens(t *testing.T) {
	full := newReply().events(timeline.Text, 10, 100, 10).usage(10, 10)
	empty := newReply().events(timeline.Role, 1, 9, 0).usage(10, 0)
	through(t, "guidellm", Facts{}, full, empty).want(t, "time_to_first_token_ms.mean", 100)
	through(t, "inference-perf", Facts{}, full, empty).want(t, "latency.normalized_time_per_output_token.mean", 0.019/2)
}

// inference-perf tokenises the content: an answer of tool calls or reasoning alone has none,
// and reasoning that was not streamed is in no text. Source: inference_perf 0.7.0,
// apis/chat.py, output_text; its own figures beside a server of 64 hidden tokens are 8 a reply.
func TestInferencePerfCountsContent(t *testing.T) {
	const rate, perToken = "throughput.output_tokens_per_sec", "latency.normalized_time_per_output_token.mean"
	tokenized := func(r reply, n, reasoning int64) reply {
		r.tl.Tokenized, r.tl.Usage.Reasoning = timeline.Some(n), timeline.Some(reasoning)
		return r
	}
	for name, c := range map[string]struct {
		r              reply
		rate, perToken float64
	}{
		"tool calls":                           {newReply().events(timeline.Tool, 10, 100, 100).usage(9, 10).closed(1000), 0, 0},
		"tool calls, tokenised":                {tokenized(newReply().events(timeline.Tool, 10, 100, 100).usage(9, 10).closed(1000), 10, 0), 0, 0},
		"reasoning":                            {newReply().events(timeline.Reasoning, 10, 100, 100).usage(9, 10).closed(1000), 0, 0},
		"text and calls":                       {newReply().events(timeline.Text, 5, 100, 100).events(timeline.Tool, 5, 600, 100).usage(9, 10).closed(1000), null, null},
		"text and calls, tokenised":            {tokenized(newReply().events(timeline.Text, 5, 100, 100).events(timeline.Tool, 5, 600, 100).usage(9, 10).closed(1000), 10, 0), null, null},
		"hidden reasoning, tokenised":          {tokenized(newReply().events(timeline.Text, 8, 100, 100).usage(9, 72).closed(1000), 8, 64), 8, 0.125},
		"streamed reasoning, tokenised":        {tokenized(newReply().events(timeline.Reasoning, 2, 100, 100).events(timeline.Text, 8, 300, 100).usage(9, 10).closed(1000), 10, 2), 8, 0.125},
		"a summary of it, tokenised":           {tokenized(newReply().events(timeline.Reasoning, 2, 100, 100).events(timeline.Text, 8, 300, 100).usage(9, 72).closed(1000), 10, 64), null, null},
		"text, by usage":                       {newReply().events(timeline.Text, 10, 100, 100).usage(9, 10).closed(1000), 10, 0.1},
		"reasoning in the text, between marks": {inlined(newReply().events(timeline.Reasoning, 2, 100, 100).events(timeline.Text, 8, 300, 100).usage(9, 10).closed(1000)), 10, 0.1},
	} {
		tab := through(t, "inference-perf", Facts{}, c.r)
		t.Log(name)
		tab.want(t, rate, c.rate)
		tab.want(t, perToken, c.perToken)
	}
}

func inlined(r reply) reply {
	r.tl.Flags |= timeline.InlineReasoning
	return r
}
