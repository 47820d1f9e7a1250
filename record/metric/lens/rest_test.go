package lens

import (
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
	g.want(t, "e2e_latency.mean", 1.99)
	g.want(t, "output_latency.p50", 0.99)
	g.want(t, "tpot.mean", 0.01)
	g.want(t, "output_inference_speed.mean", 100)
	g.want(t, "input_throughput.mean", 10)
	g.want(t, "error_rate", 0)
	g.want(t, "num_error_requests", 1)
	g.want(t, "requests_per_second", 0.2)

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
	// Faster than 1,000 tokens/s: thrown away.
	fast := newReply().events(timeline.Text, 100, 100, 0.5).usage(10, 100)
	through(t, "genai-bench", Facts{}, fast).want(t, "num_completed_requests", 0)
	// Requests that ran beside each other.
	both := []reply{newReply().events(timeline.Text, 10, 100, 10).usage(1, 10), newReply().events(timeline.Text, 10, 100, 10).usage(1, 10)}
	g := through(t, "glossary", Facts{}, both...)
	g.want(t, "tokens/s of the system", 20/0.19)
	g.want(t, "tokens / sum of the requests' times", 20/0.38)
}
