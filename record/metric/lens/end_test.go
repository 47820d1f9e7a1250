package lens

import (
	"testing"

	"tokenmeter/record/timeline"
)

// Ten words 50 ms apart and the end-of-text token 50 ms later, 11 by usage: vLLM sends
// that token as an empty text beside the finish reason. Its client (0.33.0,
// endpoint_request_func.py) counts a chunk of a chat with empty content and no role, and
// of completions any chunk with choices, so that its clock runs on to it. An end without
// a text, as OpenAI and llama.cpp send it, is no token of a chat to it.
func TestTheEndOfAnAnswerOfVLLM(t *testing.T) {
	words := func(api string) reply {
		r := newReply().events(timeline.Role, 1, 100, 0).events(timeline.Text, 10, 150, 50)
		r.tl.API = api
		return r
	}
	for _, c := range []struct {
		name            string
		r               reply
		e2e, tpot, best float64
	}{
		{"chat, empty content", words("openai-chat").events(timeline.Empty, 1, 650, 0).ends(650), 650, 50, 11},
		{"chat, no content", words("openai-chat").ends(650), 600, 45, 10},
		{"completions", words("openai-completions").ends(650), 650, 50, 12}, // the first of its chunks is no role, but has choices
	} {
		t.Log(c.name)
		v := through(t, "vllm", Facts{}, c.r.events(timeline.UsageEvent, 1, 700, 0).usage(10, 11))
		if c.r.tl.API == "openai-chat" {
			v.want(t, "mean_ttft_ms", 150)
			v.want(t, "mean_tpot_ms", c.tpot)
		}
		v.want(t, "mean_itl_ms", 50)
		v.want(t, "mean_e2el_ms", c.e2e)
		v.want(t, "max_output_tokens_per_s", c.best)
		// The client in Rust counts chunks: one with an empty content and a reason once.
		v = through(t, "vllm-rust", Facts{}, c.r)
		v.want(t, "mean_itl_ms", 50)
		v.want(t, "mean_e2el_ms", 650)
		v.want(t, "max_output_tokens_per_s", 12)
	}
}

// ends appends the event of a finish reason that came in the same read as one before it.
func (r reply) ends(ms float64) reply {
	read := int64(r.tl.Events.Len())
	for ev := range r.tl.Events.All() {
		if ev.AtUS == int64(ms*1000) {
			read = ev.Read
		}
	}
	r.tl.FinishReason = "stop"
	r.tl.Events.Append(timeline.Event{AtUS: int64(ms * 1000), Kind: timeline.Finish, Read: read})
	return r
}

// SGLang shares the gap before a chunk of /generate among its new tokens, by
// completion_tokens (benchmark/serving.py, async_request_sglang_generate: adjust_itl).
// Chunks of 1, 3, 3 and 3 tokens and the end's one, 100 ms apart: nine gaps of 33 ms and
// one of 100.
func TestGapsOfSGLangsOwnAPI(t *testing.T) {
	chunks := func() reply {
		r := newReply().holding([]int64{1, 3, 3, 3}, 100, 100).usage(10, 11)
		r.tl.API = "sglang"
		return r
	}
	told := chunks()
	told.tl.Events.Append(timeline.Event{AtUS: 500e3, Kind: timeline.Finish, Tokens: timeline.Some(int64(1)), Read: 9})
	for _, r := range []reply{chunks().ends(500), told} {
		v := through(t, "sglang", Facts{}, r.events(timeline.Done, 1, 600, 0))
		v.want(t, "mean_itl_ms", 40)
		v.want(t, "median_itl_ms", 33.333)
		v.want(t, "p99_itl_ms", 33.333+0.91*66.667) // numpy: the 9.91th of 0 to 9
		v.want(t, "mean_tpot_ms", 50)               // (600 − 100) / 10
		v.want(t, "mean_e2e_latency_ms", 600)
	}
	// A finish reason beside the last text, and no token of its own.
	v := through(t, "sglang", Facts{}, chunks().usage(10, 10))
	v.want(t, "mean_itl_ms", 100./3)
	// Nobody told the tokens of a chunk.
	v = through(t, "sglang", Facts{}, chunks().ends(500), chunks().events(timeline.Text, 1, 450, 0))
	v.want(t, "mean_itl_ms", null)
	v.want(t, "mean_tpot_ms", (400+350)/2./10)
	// Of its OpenAI backends a gap is that of a chunk, and the end has no content.
	chat := chunks().ends(500)
	chat.tl.API = "openai-chat"
	through(t, "sglang", Facts{}, chat).want(t, "mean_itl_ms", 100)
}

// AIPerf's request_error_rate is errors by all (request_error_rate_metric.py), and a
// request that --request-cancellation-rate ended is one: an answer with the error 499
// (aiohttp_client.py). A run of twelve with three of these says 25.
func TestAIPerfCountsWhatItCancelled(t *testing.T) {
	var rs []reply
	for i := range 12 {
		r := newReply().events(timeline.Text, 10, 100, 10).usage(10, 10).due(500*float64(i), 500*float64(i))
		if i%4 == 0 {
			r = newReply().due(500*float64(i), 500*float64(i)).closed(200).fails(timeline.CancelledUser)
		}
		rs = append(rs, r)
	}
	rs = append(rs, newReply().due(7000, 7000).fails(timeline.CancelledRunEnd)) // left out, as ever
	for _, name := range []string{"aiperf", "aiperf-native"} {
		v := through(t, name, Facts{Limits: Limits{TTFTMS: timeline.Some(1000.0)}}, rs...)
		v.want(t, "request_error_rate", 25)
		v.want(t, "request_count", 9)
		v.want(t, "good_request_fraction", 0.75)
		v.want(t, "time_to_first_token avg", 100)
		v.want(t, "effective_latency avg", (9*190+3*200)/12.)
	}
	v := through(t, "vllm", Facts{}, rs...)
	v.want(t, "completed", 9)
	v.want(t, "failed", 0)
}

// A file without arrivals, and answers without words, are in no figure of a lens: nor are
// those of their requests that were hung up on. One that was left before its first token has
// none, and counts, as in AIPerf's file of a run with --request-cancellation-rate.
func TestHungUpWithoutArrivals(t *testing.T) {
	left := newReply().closed(200).fails(timeline.CancelledUser)
	left.tl.Evidence = timeline.RequestOnly
	through(t, "aiperf", Facts{}, newReply().events(timeline.Text, 10, 100, 10).usage(10, 10), left).want(t, "request_error_rate", 50)
	left = newReply().events(timeline.Text, 1, 100, 10).closed(200).fails(timeline.CancelledUser)
	left.tl.Evidence = timeline.RequestOnly
	v := through(t, "aiperf", Facts{}, newReply().events(timeline.Text, 10, 100, 10).usage(10, 10), left)
	v.want(t, "request_count", 1)
	v.want(t, "request_error_rate", 0)
}
