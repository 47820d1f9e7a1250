package imports

import (
	"fmt"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Where a reply tells no usage, GuideLLM 0.8.1 writes the number that was asked for, or else
// that of the events: compile_stats in guidellm/schemas/base/response.py, output_tokens in
// request_stats.py. The replies are those of real runs, of four or six tokens 30 ms apart.
func TestGuideLLMWithoutUsage(t *testing.T) {
	cases := []struct {
		name                   string
		prompt, output, events int // tokens; a prompt of 0 is null
		text                   string
		after                  float64 // from the last token to the last line, seconds
		want                   timeline.Opt[int64]
		flagged                bool
		args                   string
	}{
		{"cut off, a prompt that the data told", 20, 16, 4, " w w w w", 0, timeline.Opt[int64]{}, false, "max_completion_tokens"},
		{"the same of the Responses API", 20, 16, 4, " w w w w", 0, timeline.Opt[int64]{}, false, "max_output_tokens"},
		{"nothing of the prompt", 0, 16, 6, "a whole answer of six words", 0.03, timeline.Opt[int64]{}, false, "max_tokens"},
		{"nothing of the prompt, nothing asked", 0, 6, 6, "a whole answer of six words", 0.03, timeline.Opt[int64]{}, false, "n"},
		{"whole, fewer bytes than tokens", 20, 16, 6, " w w w w w w", 0.03, timeline.Some[int64](16), true, "max_tokens"},
		{"not streamed, fewer bytes than tokens", 20, 16, 0, "hi", 0, timeline.Some[int64](16), true, "max_tokens"},
		{"not streamed, bytes for all tokens", 20, 16, 0, "sixteen tokens of a text that has the bytes for them", 0, timeline.Some[int64](16), false, "max_tokens"},
		{"not streamed, nothing of the prompt", 0, 16, 0, "hi", 0, timeline.Opt[int64]{}, false, "max_tokens"},
		{"cut off, usage in each event", 20, 4, 4, " w w w w", 0, timeline.Some[int64](4), false, "max_tokens"},
		{"speculative decoding, several tokens in an event", 20, 16, 6, "sixteen tokens of a text that has the bytes for them", 0.03, timeline.Some[int64](16), false, "max_tokens"},
		{"reasoning that never came", 20, 12, 6, " w w w w w w", 0.03, timeline.Some[int64](12), false, "max_tokens"},
	}
	for _, c := range cases {
		prompt := "null"
		if c.prompt > 0 {
			prompt = fmt.Sprint(c.prompt)
		}
		last := 1000.2 + 0.03*float64(c.events-1)
		streamed, first := "200", fmt.Sprintf(`"first_token_iteration":1000.2,"last_token_iteration":%v,"last_request_iteration":%v,`, last, last+c.after)
		if c.events == 0 {
			streamed, first = "null", `"request_end":1001,`
		}
		in, err := NewInput("f", strings.NewReader(fmt.Sprintf(`{"benchmarks":[{"requests":{"successful":[{"time_to_first_token_ms":%s,"prompt_tokens":%s,"output_tokens":%d,"output":%q,"request_args":"{\"body\":{\"%s\":16}}",
"info":{"timings":{"request_start":1000,%s"token_iterations":%d}}}]}}]}`, streamed, prompt, c.output, c.text, c.args, first, c.events)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readGuideLLM(in, func(tl *timeline.Timeline) error {
			r := metric.Of(tl)
			if r.OutputTokens != c.want || r.TPOTMS.OK() != (c.want.OK() && c.events > 0) || r.Flags.Has(timeline.TokenCountMismatch) != c.flagged {
				t.Errorf("%s: %v tokens, TPOT %v, %v", c.name, r.OutputTokens, r.TPOTMS, r.Flags)
			}
			return nil
		}); err != nil {
			t.Error(c.name, err)
		}
	}
}

// A due time of another clock than the request's other times, as GuideLLM 0.8.1 writes where
// a worker asks before the common start is set, is not known, and this is said; a true one
// of the same file stays.
func TestGuideLLMDueOfAnotherClock(t *testing.T) {
	request := func(due, start float64) string {
		return fmt.Sprintf(`{"time_to_first_token_ms":100,"prompt_tokens":5,"output_tokens":2,"info":{"timings":{"targeted_start":%v,"request_start":%v,"first_token_iteration":%v,"last_token_iteration":%v,"token_iterations":2}}}`,
			due, start, start+0.1, start+0.2)
	}
	for _, due := range []float64{20.5, -0.9} {
		in, err := NewInput("f", strings.NewReader(fmt.Sprintf(`{"benchmarks":[{"config":{"strategy":{"type_":"poisson","rate":8}},"requests":{"successful":[%s,%s]}}]}`,
			request(due, 1.79e9), request(1.79e9+1, 1.79e9+1.5))))
		if err != nil {
			t.Fatal(err)
		}
		var ttft []float64
		if _, err := readGuideLLM(in, func(tl *timeline.Timeline) error {
			r := metric.Of(tl)
			ttft = append(ttft, r.TTFTMS.Or(-1))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(ttft) != "[100 600]" || len(in.Notes) != 1 {
			t.Errorf("due %v: TTFT %v, %q", due, ttft, in.Notes)
		}
	}
}
