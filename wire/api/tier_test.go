package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// The class of service as providers tell it, which may be another than the one
// that was asked for.
func TestServiceTier(t *testing.T) {
	const sse = "text/event-stream"
	stop := `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`
	for name, c := range map[string]struct {
		api        *API
		kind, body string
		want       string
	}{
		"OpenAI: in each chunk": {OpenAIChat, sse, events(`{"service_tier":"default","choices":[{"index":0,"delta":{"content":"a"}}],"usage":null}`,
			`{"service_tier":"default","choices":[{"index":0,"delta":{"content":"b"}}],"usage":null}`, stop+`,"service_tier":"default"}`, "[DONE]"), "default"},
		"Groq":                    {OpenAIChat, sse, events(content("a"), stop+`,"service_tier":"on_demand"}`, "[DONE]"), "on_demand"},
		"a gateway: in the usage": {OpenAIChat, sse, events(content("a"), stop+`,"usage":{"completion_tokens":1,"prompt_tokens":2,"service_tier":"flex"}}`, "[DONE]"), "flex"},
		"in one place null":       {OpenAIChat, sse, events(content("a"), `{"service_tier":"priority","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":1,"service_tier":null}}`), "priority"},
		"vLLM: null":              {OpenAIChat, sse, events(`{"service_tier":null,"choices":[{"index":0,"delta":{"content":"a"}}]}`, stop+`}`, "[DONE]"), ""},
		"no text":                 {OpenAIChat, sse, events(content("a"), stop+`,"service_tier":{"type":"flex"}}`, "[DONE]"), ""},
		"no stream":               {OpenAIChat, "application/json", `{"service_tier":"flex","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, "flex"},
		"as long as a page":       {OpenAIChat, sse, events(content("a"), stop+`,"service_tier":"`+strings.Repeat("x", 5000)+`"}`, "[DONE]"), strings.Repeat("x", maxWords) + " …"},
		"Anthropic: in the usage": {Anthropic, sse, typed(`{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1,"service_tier":"priority"}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`), "priority"},
		// Anthropic's guides of the advisor tool and of refusals and fallback: usage.iterations.
		"Anthropic: advised by another model": {Anthropic, sse, typed(`{"type":"message_start","message":{"usage":{"input_tokens":412,"output_tokens":1,"service_tier":"standard"}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":531,"iterations":[{"type":"message","input_tokens":412,"output_tokens":89},{"type":"advisor_message","model":"claude-opus-4-6","input_tokens":823,"output_tokens":1612},{"type":"message","input_tokens":1348,"output_tokens":442}]}}`, `{"type":"message_stop"}`), "other_model"},
		"Anthropic: fallen back to another model": {Anthropic, "application/json", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3,"service_tier":"standard","iterations":[{"type":"message","input_tokens":9,"output_tokens":1},{"type":"fallback_message","model":"claude-opus-4-8","input_tokens":9,"output_tokens":3}]}}`, "other_model"},
		"Anthropic: alone":                        {Anthropic, "application/json", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":3,"service_tier":"standard","iterations":[{"type":"message","input_tokens":9,"output_tokens":3}]}}`, "standard"},
		"Anthropic: fast mode":                    {Anthropic, sse, typed(`{"type":"message_start","message":{"usage":{"input_tokens":5,"speed":"fast","output_tokens":1,"service_tier":"standard"}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`), "fast"},
		"Anthropic: usual speed":                  {Anthropic, sse, typed(`{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1,"service_tier":"standard","speed":"standard"}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`), "standard"},
		"Responses: asked, served":                {OpenAIResponses, sse, typed(`{"type":"response.created","response":{"status":"in_progress","service_tier":"priority"}}`, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"status":"completed","service_tier":"default"}}`), "default"},
		"Responses: auto says none":               {OpenAIResponses, sse, typed(`{"type":"response.created","response":{"status":"in_progress","service_tier":"auto"}}`, `{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"status":"completed","service_tier":"auto"}}`), ""},
		"Gemini":                                  {Gemini, sse, events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"serviceTier":"flex"}}`), "flex"},
		"Vertex AI":                               {Gemini, sse, events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"trafficType":"ON_DEMAND_PRIORITY"}}`), "ON_DEMAND_PRIORITY"},
		"Bedrock":                                 {Bedrock, "application/json", `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1},"serviceTier":{"type":"reserved"}}`, "reserved"},
	} {
		tl := reply(c.api, c.kind, c.body, timeline.EOF)
		if tl.Outcome != timeline.OK || tl.ServiceTier != c.want {
			t.Errorf("%s: %s, %q, want %q (%v)", name, tl.Outcome, tl.ServiceTier, c.want, tl.Error)
		}
	}
}
