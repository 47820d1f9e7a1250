package imports

import (
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

func readLLMeter(in *Input, add func(*timeline.Timeline) error) (run.Run, error) {
	var m run.Run
	m.Load.Kind = "closed"
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
		in.note("the file has whole seconds for when requests began: rates, requests in flight and all else that is told by time may be off by a second of the run's length; stats.json beside it has them exactly")
	}
	return m, err
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
