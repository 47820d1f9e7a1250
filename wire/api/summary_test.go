package api

import (
	"testing"

	"tokenmeter/record/timeline"
)

// Of reasoning that usage counts, OpenAI, Anthropic (since Claude 4) and Google stream a
// summary, whose tokens are in no count.
func TestASummaryOfReasoningIsNoted(t *testing.T) {
	usage := func(reasoning string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":506,"completion_tokens_details":{"reasoning_tokens":` + reasoning + `}}}`
	}
	openRouter := func(form string) []string {
		return []string{delta(`"reasoning":"hm","reasoning_details":[` + form + `]`), content("hi"), usage("500"), "[DONE]"}
	}
	claude := func(details string) []string {
		return []string{
			`{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":506` + details + `}}`,
			`{"type":"message_stop"}`,
		}
	}
	for _, c := range []struct {
		name, api string
		events    []string
		summary   bool
	}{
		{"OpenRouter, of OpenAI's", "openai-chat", openRouter(`{"type":"reasoning.summary","summary":"hm"}`), true},
		{"Databricks", "openai-chat", []string{delta(`"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}]`), content("hi"), usage("500"), "[DONE]"}, true},
		{"OpenRouter, in full", "openai-chat", openRouter(`{"type":"reasoning.text","text":"hm"}`), false},
		{"vLLM", "openai-chat", []string{delta(`"reasoning":"hm","reasoning_content":"hm"`), content("hi"), usage("500"), "[DONE]"}, false},
		{"a summary, none counted", "openai-chat", []string{delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]`), content("hi"), usage("0"), "[DONE]"}, false},
		{"Claude 4", "anthropic", claude(`,"output_tokens_details":{"thinking_tokens":500}`), true},
		{"Claude 3.7", "anthropic", claude(""), false},
		{"Gemini", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":6,"thoughtsTokenCount":500,"totalTokenCount":515}}`}, true},
		{"thoughts in full by Anthropic's API", "anthropic", claude(`,"output_tokens_details":{"thinking_tokens":1}`), false},
		{"thoughts in full as a summary", "openai-responses", []string{`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"hi"}`,
			`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1}}}}`}, false},
		{"Gemini, OpenAI's path", "openai-chat", []string{delta(`"content":"hm","extra_content":{"google":{"thought":true}}`), content("hi"), usage("500"), "[DONE]"}, true},
		{"Gemini, hidden", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":6,"thoughtsTokenCount":500,"totalTokenCount":515}}`}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := ByName(c.api)
			tl := timeline.New()
			s := NewStream(tl, a, StreamOptions{})
			s.Head(1, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
			s.Read(2, 0, []byte(events(c.events...)))
			s.End(3, timeline.EOF, nil, nil)
			if got := tl.Flags.Has(timeline.ReasoningSummary); tl.Outcome != timeline.OK || got != c.summary {
				t.Errorf("%s %v, a summary: %v", tl.Outcome, tl.Error, got)
			}
		})
	}
}
