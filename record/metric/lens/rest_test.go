package lens

import (
	"math"
	"testing"

	"tokenmeter/record/timeline"
)

// TTFT 1 s, a role chunk at 9 ms, 100 tokens at 10 ms to 1.99 s, the end of the
// stream at 2.09 s; and a failure that took 5 s.
func TestTheRestOfTheTools(t *testing.T) {
	answer := func() reply {
		return newReply().events(timeline.Role, 1, 9, 0).events(timeline.Text, 100, 1000, 10).usage(10, 100).closed(2090)
	}
	failure := func() reply {
		f := newReply().closed(5000).fails(timeline.HTTP5xx)
		f.tl.HTTPStatus = 500
		return f
	}

	g := through(t, "genai-bench", Facts{}, answer(), failure())
	g.want(t, "ttft.mean", 1)
	g.want(t, "e2e_latency.mean", 2.09) // no event after the tokens is known: the end of the body
	g.want(t, "output_latency.p50", 1.09)
	g.want(t, "tpot.mean", 1.09/99)
	g.want(t, "output_inference_speed.mean", 99/1.09)
	g.want(t, "input_throughput.mean", 10)
	g.want(t, "error_rate", 0)
	g.want(t, "num_error_requests", 1)
	g.want(t, "requests_per_second", 0.2)

	// It counts prompts itself where no usage comes, so those with usage are not its figure.
	cut := newReply().events(timeline.Role, 1, 9, 0).events(timeline.Text, 100, 1000, 10).closed(2090)
	through(t, "genai-bench", Facts{}, answer(), cut).want(t, "input_throughput.mean", math.NaN())
	through(t, "aiperf", Facts{}, answer(), cut).want(t, "prefill_throughput_per_user avg", math.NaN())

	e := through(t, "envoy", Facts{}, answer(), failure())
	e.want(t, "gen_ai.server.request.duration mean", (2.09+5)/2)
	e.want(t, "gen_ai.server.time_to_first_token mean", 0.009)
	e.want(t, "gen_ai.server.time_per_output_token mean", 2.081/99)

	n := through(t, "nim", Facts{}, answer(), failure())
	n.want(t, "time to first token avg", 1000)
	n.want(t, "inter-token latency p50", 10)
	n.want(t, "tokens per second of a user avg", 100/1.99)
	n.want(t, "total tokens per second of the system", 100/1.99)

	a := through(t, "artificial-analysis", Facts{}, answer(), failure())
	a.want(t, "time to first token P50", 1)
	a.want(t, "time to first answer token P50", 1)
	a.want(t, "output speed P50", 100)
	a.want(t, "end-to-end response time", 1+5)

	m := through(t, "mlperf-endpoints", Facts{}, answer(), failure())
	m.want(t, "n_samples_completed", 2)
	m.want(t, "n_samples_failed", 1)
	m.want(t, "ttft.avg", 1e9)
	m.want(t, "tpot.avg", 1.09e9/99)
	m.want(t, "latency.median", 2.09e9) // the lower of two
	m.want(t, "qps", 0.4)

	l := through(t, "glossary", Facts{}, answer(), failure())
	l.want(t, "mean_TPOT", 9.9)
	l.want(t, "tokens/s of a request, mean", 100/1.99)
	through(t, "seed", Facts{}, answer()).want(t, "mean_TPOT", 9.9)
}

// The first chunk holds 4 tokens of 9; who needs to know how many it held has
// nothing where nobody does.
func TestSpeedAfterTheFirstChunk(t *testing.T) {
	known := newReply().holding([]int64{4, 5}, 100, 50).usage(10, 9)
	through(t, "artificial-analysis", Facts{}, known).want(t, "output speed P50", 5/0.05)
	through(t, "mlperf-endpoints", Facts{}, known).want(t, "tpot.avg", 50e6/5)
	unknown := newReply().events(timeline.Text, 2, 100, 50).usage(10, 9)
	through(t, "artificial-analysis", Facts{}, unknown).want(t, "output speed P50", null)
	through(t, "mlperf-endpoints", Facts{}, unknown).want(t, "tpot.avg", null)
	// By another tokenizer the answer has twice as many tokens.
	known.tl.Norm = timeline.Some(int64(18))
	through(t, "artificial-analysis", Facts{}, known).want(t, "output speed P50", 2*5/0.05)
	thinks := newReply().events(timeline.Reasoning, 5, 50, 10).events(timeline.Text, 5, 200, 10).usage(10, 10)
	aa := through(t, "artificial-analysis", Facts{}, thinks)
	aa.want(t, "time to first token P50", 0.05)
	aa.want(t, "time to first answer token P50", 0.2)
	aa.want(t, "end-to-end response time", 0.05+0.15+500/(9/0.19))
	// Requests that ran beside each other.
	both := []reply{newReply().events(timeline.Text, 10, 100, 10).usage(1, 10), newReply().events(timeline.Text, 10, 100, 10).usage(1, 10)}
	g := through(t, "glossary", Facts{}, both...)
	g.want(t, "tokens/s of the system", 20/0.19)
	g.want(t, "tokens / sum of the requests' times", 20/0.38)
}

// genai-bench 0.0.5 reads on to the usage that comes with the finish reason or after
// it, else to [DONE], else to the end of the body, and takes its end from there.
func TestGenAIBenchEndsWithTheUsage(t *testing.T) {
	// Ten tokens from 100 ms to 190 ms.
	tokens := func() reply { return newReply().events(timeline.Text, 10, 100, 10) }
	then := func(r reply, ms float64, kinds ...timeline.Kind) reply {
		for i, k := range kinds {
			r = r.events(k, 1, ms+30*float64(i), 0)
		}
		return r
	}
	long := func(r reply) reply { r.tl.FinishReason = "length"; return r }
	tools := func(n int64) reply {
		return then(newReply().events(timeline.Tool, 10, 100, 10), 250, timeline.Finish, timeline.UsageEvent, timeline.Done).usage(10, n)
	}
	for _, c := range []struct {
		name             string
		r                reply
		completed        float64
		ttft, e2e, tpot  float64
		output, perSpeed float64
	}{
		{"usage after the finish", then(tokens(), 250, timeline.Finish, timeline.UsageEvent, timeline.Done).usage(10, 10), 1, 0.1, 0.28, 0.18 / 9, 0.18, 9 / 0.18},
		{"usage in the finish", then(tokens(), 250, timeline.Finish, timeline.Done).usage(10, 10), 1, 0.1, 0.25, 0.15 / 9, 0.15, 9 / 0.15},
		{"the length ended it, beside the last text", then(long(tokens()), 250, timeline.UsageEvent, timeline.Done).usage(10, 10), 1, 0.1, 0.25, 0.15 / 9, 0.15, 9 / 0.15},
		{"the same with the usage in that chunk", then(long(tokens()), 250, timeline.Done).usage(10, 10), 1, 0.1, 0.19, 0.01, 0.09, 100},
		{"a usage at the head, the reason beside the last text", long(newReply().events(timeline.UsageEvent, 1, 50, 0).events(timeline.Text, 10, 100, 10).usage(10, 10)), 1, 0.1, 0.19, 0.01, 0.09, 100},
		{"no usage", then(tokens(), 250, timeline.Finish, timeline.Done), 1, 0.1, 0.28, null, 0.18, null},
		{"nothing but the body's end", tokens().closed(400), 1, 0.1, 0.4, null, 0.3, null},
		{"faster than 1,000 tokens/s", newReply().events(timeline.Text, 100, 100, 0.5).usage(10, 100), 1, 0.1, 0.1495, 0.0495 / 99, 0.0495, 99 / 0.0495},
		{"all output within 1 ms", newReply().events(timeline.Text, 2, 100, 0.5).usage(10, 2), 1, 0.1, 0.1005, null, 0.0005, null},
		{"a call of a tool begins with the usage", tools(10), 1, 0.28, 0.28, null, 0, null},
		{"text behind the usage is not read", then(newReply(), 250, timeline.Finish, timeline.UsageEvent, timeline.Text).usage(10, 10), 1, 0.28, 0.28, null, 0, null},
		{"an answer of nothing is counted nowhere", tools(1), 0, null, null, null, null, null},
	} {
		g := through(t, "genai-bench", Facts{}, c.r)
		t.Log(c.name)
		g.want(t, "num_completed_requests", c.completed)
		g.want(t, "num_error_requests", 0)
		g.want(t, "ttft.mean", c.ttft)
		g.want(t, "e2e_latency.mean", c.e2e)
		g.want(t, "output_latency.mean", c.output)
		g.want(t, "tpot.mean", c.tpot)
		g.want(t, "output_inference_speed.mean", c.perSpeed)
	}
}

// Other tools' files tell no HTTP status: an answer that went well is one all the same.
func TestImportedAnswersCount(t *testing.T) {
	imported := func() reply {
		r := newReply().events(timeline.Text, 10, 100, 10).usage(10, 10)
		r.tl.HTTPStatus = 0
		return r
	}
	for name, row := range map[string]string{
		"aiperf": "request_count", "vllm": "completed", "vllm-rust": "completed", "guidellm": "requests.successful",
		"inference-perf": "successes.count", "genai-bench": "num_completed_requests",
	} {
		through(t, name, Facts{}, imported(), imported().fails(timeline.StreamError)).want(t, row, 1)
	}
}
