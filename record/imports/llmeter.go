package imports

import (
	"strings"
	"time"

	"tokenmeter/record/genai"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// llmeterResponse is a line of responses.jsonl. Source: llmeter/endpoints/base.py
// (InvocationResponse) of llmeter 0.2.0. Of Bedrock and Anthropic the input is without the
// cached tokens, of OpenAI with them: bedrock.py, anthropic_messages.py and openai.py.
type llmeterResponse struct {
	ID       string   `json:"id"`
	First    *float64 `json:"time_to_first_token"`
	Last     *float64 `json:"time_to_last_token"`
	Input    *float64 `json:"num_tokens_input"`
	Output   *float64 `json:"num_tokens_output"`
	Cached   *float64 `json:"num_tokens_input_cached"`
	Thought  *float64 `json:"num_tokens_output_reasoning"`
	Error    *string  `json:"error"`
	Time     string   `json:"request_time"`
	Attempts *float64 `json:"retries"`
}

func isLLMeter(head []byte) bool {
	return contains(`"time_to_last_token"`, `"num_tokens_output"`)(head) || isLLMeterStats(head)
}

var isLLMeterStats = contains(`"failed_requests_rate"`, `"total_test_time"`)

func readLLMeter(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	m.Load.Kind = "closed"
	if isLLMeterStats(in.Head()) {
		err := llmeterStats(in, &m)
		return m, err
	}
	timed, fraction := 0, false
	err := collect(in, eachLine[llmeterResponse], add, func(r *request, v *llmeterResponse) {
		r.id = v.ID
		if began, err := parseTime(v.Time); err == nil {
			r.start = float64(began.UnixMicro()) / 1e6
			timed, fraction = timed+1, fraction || began.Nanosecond() != 0
			if m.Started.IsZero() || began.Before(m.Started) {
				m.Started = began
			}
		}
		r.first, r.e2e = known(v.First, 1), known(v.Last, 1)
		r.streamed = v.First != nil
		r.input, r.output, r.cached, r.reasoning = count(v.Input), count(v.Output), count(v.Cached), count(v.Thought)
		r.input = genai.Whole(r.input, r.cached.Or(0)) // the counts are the provider's own
		if r.output.Or(2) < 2 && r.e2e > r.first {
			r.output = timeline.Opt[int64]{} // of a reply without usage, which had a first and a last token
		}
		if v.Error != nil {
			r.failure = failure(*v.Error)
		}
	})
	if timed > 1 && !fraction {
		in.note("the file has whole seconds for when requests began: rates, requests in flight and all else that is told by time may be off by a second of the run's length; stats.json beside it, which can be imported too, has them exactly")
	}
	return m, err
}

// llmeterStats reads stats.json, whose times are seconds. Its requests_per_minute counts
// failures too, over the time from the first send to the last, so that the rate is made of
// what succeeded and how long the run took. Source: RunningStats in utils.py, 0.2.0.
func llmeterStats(in *Input, m *run.Run) error {
	var o object
	if err := in.whole(&o); err != nil {
		return err
	}
	t := newTold(in, 0)
	for series, our := range map[string]string{"time_to_first_token": "ttft_ms", "time_per_output_token": "tpot_ms", "time_to_last_token": "e2e_ms",
		"num_tokens_output": "output_tokens", "num_tokens_input": "input_tokens"} {
		scale := 1000.0
		if strings.HasPrefix(series, "num_") {
			scale = 1
		}
		for key, stat := range map[string]string{"average": "mean", "p50": "p50", "p90": "p90", "p99": "p99"} {
			t.stat(our, stat, t.number(o, series+"-"+key), scale)
		}
	}
	total, failed := t.whole(t.number(o, "total_requests")), t.whole(t.number(o, "failed_requests"))
	t.Failed = failed
	if n, ok := total.Get(); ok && failed.OK() {
		t.OK = timeline.Some(max(n-failed.Or(0), 0))
	}
	t.summed(0)
	t.Throughput.WindowS, t.Throughput.SuccessOutputTPS = t.number(o, "total_test_time"), t.number(o, "output_tps")
	if window := t.Throughput.WindowS.Or(0); window > 0 && t.OK.OK() {
		t.Throughput.RequestsPerS = timeline.Some(float64(t.OK.Or(0)) / window)
	}
	t.counted(t.OK)
	m.Target.Model = text(o, "model_id")
	if clients, ok := o["clients"].(float64); ok {
		m.Load.Concurrency = count(&clients)
	}
	if began, err := parseTime(text(o, "start_time")); err == nil {
		m.Started = began
	}
	return t.into(m)
}

// parseTime reads a time in the forms of ISO 8601 that Python writes.
func parseTime(text string) (time.Time, error) {
	var err error
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999"} {
		var t time.Time
		if t, err = time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, err
}
