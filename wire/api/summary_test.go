package api

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Of reasoning that usage counts, OpenAI, Anthropic (since Claude 4) and Google stream a
// summary, whose tokens are in no count.
func TestASummaryOfReasoningIsNoted(t *testing.T) {
	usage := func(reasoning string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":506,"completion_tokens_details":{"reasoning_tokens":` + reasoning + `}}}`
	}
	full := strings.Repeat("hm, ", 500)
	openRouter := func(form string) []string {
		return []string{delta(`"reasoning":"` + full + `","reasoning_details":[` + form + `]`), content("hi"), usage("500"), "[DONE]"}
	}
	grok := func(tokens string, pieces ...string) (chunks []string) { // a piece each
		for _, p := range pieces {
			chunks = append(chunks, delta(`"reasoning_content":"`+p+`"`))
		}
		return append(chunks, content("Ol"), content("á"), usage(tokens), "[DONE]")
	}
	spaced := strings.SplitAfter(strings.Repeat("ሰላም ", 30), " ")
	head := strings.SplitAfter("First, the user said to say hi in Portuguese.\\n", " ")
	responses := func(events int, tokens int) []string {
		return append(slices.Repeat([]string{`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`}, events), `{"type":"response.output_text.delta","delta":"hi"}`,
			fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d}}}}`, tokens+1, tokens))
	}
	summaries := func(events int, tokens string) []string {
		return append(slices.Repeat([]string{delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]`)}, events), content("hi"), usage(tokens), "[DONE]")
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
		{"GitHub Copilot", "openai-chat", []string{delta(`"cot_summary":"hm"`), content("hi"), usage("500"), "[DONE]"}, true},
		{"OpenRouter, of Google's", "openai-chat", openRouter(`{"type":"reasoning.text","text":"hm","format":"google-gemini-v1","index":0}`), true},
		{"OpenRouter, of Google's, by sorted names", "openai-chat", openRouter(`{"format":"google-gemini-v1","index":0,"text":"hm","type":"reasoning.text"}`), true},
		{"a gateway's, of Google's, without the string", "openai-chat", []string{delta(`"reasoning_details":[{"type":"reasoning.text","text":"hm","format":"google-gemini-v1"}]`), content("hi"), usage("500"), "[DONE]"}, true},
		{"OpenRouter, Google's seal alone", "openai-chat", []string{delta(`"reasoning":"` + full + `","reasoning_details":[{"type":"reasoning.text","text":"hm"},{"type":"reasoning.encrypted","data":"Cl","format":"google-gemini-v1"}]`), content("hi"), usage("500"), "[DONE]"}, false},
		{"OpenRouter, of another's", "openai-chat", openRouter(`{"type":"reasoning.text","text":"hm","format":"unknown"}`), false},
		{"LiteLLM, of Google's", "openai-chat", []string{`{"model":"gemini-2.5-pro","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`, content("hi"), usage("500"), "[DONE]"}, true},
		{"Google's, hidden", "openai-chat", []string{`{"model":"google/gemini-2.5-pro","choices":[{"index":0,"delta":{"role":"assistant"}}]}`, content("hi"), usage("500"), "[DONE]"}, false},
		{"made after Google's", "openai-chat", []string{`{"model":"TeichAI/Qwen3-gemini-2.5-distill","choices":[{"index":0,"delta":{"reasoning_content":"` + full + `"}}]}`, content("hi"), usage("500"), "[DONE]"}, false},
		{"OpenRouter, in full", "openai-chat", openRouter(`{"type":"reasoning.text","text":"` + full + `"}`), false},
		{"vLLM", "openai-chat", []string{delta(`"reasoning":"` + full + `","reasoning_content":"` + full + `"`), content("hi"), usage("500"), "[DONE]"}, false},
		{"xAI, the head alone", "openai-chat", grok("198", head...), true}, // 46 bytes for 198 tokens, as in its recording
		{"xAI, more of it", "openai-chat", grok("38", head...), true},
		{"a token each", "openai-chat", grok("8", head...), false},
		{"digits, two tokens each", "openai-chat", grok("8", "12", "+4", "=1", "6."), false},
		{"Amharic in full", "openai-chat", grok("234", spaced...), false}, // cl100k_base has 1.1 bytes of it a token
		{"Amharic, escaped", "openai-chat", grok("234", strings.SplitAfter(strings.Repeat(`\u1230\u120b\u121d `, 30), " ")...), false},
		{"Amharic, the head alone", "openai-chat", grok("900", spaced...), true},
		{"digits, three tokens each", "openai-chat", grok("60", slices.Repeat([]string{"12+"}, 20)...), false},
		{"words, some tokens each", "openai-chat", grok("20", head...), false},
		{"a summary, none counted", "openai-chat", []string{delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]`), content("hi"), usage("0"), "[DONE]"}, false},
		{"Claude 4", "anthropic", claude(`,"output_tokens_details":{"thinking_tokens":500}`), true},
		{"Claude 3.7", "anthropic", claude(""), false},
		{"Gemini", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":6,"thoughtsTokenCount":500,"totalTokenCount":515}}`}, true},
		{"thoughts in full by Anthropic's API", "anthropic", claude(`,"output_tokens_details":{"thinking_tokens":1}`), false},
		{"thoughts in full as a summary", "openai-responses", []string{`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"hi"}`,
			`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1}}}}`}, false},
		{"OpenAI, longer than the reasoning", "openai-responses", responses(75, 64), true}, // gpt-5 and o4-mini in recordings of charm.land/fantasy v0.48.0: 75 to 90 for 64
		{"OpenAI, by a gateway", "openai-chat", summaries(82, "64"), true},
		{"as many events as tokens", "openai-responses", responses(64, 64), false},
		{"with its marks", "openai-responses", responses(66, 64), false},
		{"Gemini, OpenAI's path, with its marks", "openai-chat", []string{delta(`"content":"<thought>hm","extra_content":{"google":{"thought":true}}`), content("</thought>hi"), usage("500"), "[DONE]"}, true},
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
			if got := tl.Flags.Has(timeline.ReasoningSummary); tl.Outcome != timeline.OK || got != c.summary || tl.Flags.Has(timeline.InlineReasoning) {
				t.Errorf("%s %v, a summary: %v, %v", tl.Outcome, tl.Error, got, tl.Flags.Names())
			}
		})
	}
}

// Anthropic and Amazon send thinking without its words, where it was asked for so
// (display: omitted) or is kept back (redacted). Without a count of it nobody knows how
// many of the tokens were streamed.
func TestSealedReasoningThatNobodyCounts(t *testing.T) {
	start := `{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`
	block := func(block string) string {
		return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
	}
	signature := `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCg"}}`
	words := `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`
	answer := `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`
	end := func(details string) string {
		return `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":506` + details + `}}`
	}
	claude := func(of ...string) string {
		return events(append(append([]string{start}, of...), `{"type":"message_stop"}`)...)
	}
	converse := func(reasoning string) string {
		return amazon("messageStart", `{"role":"assistant"}`) + reasoning +
			amazon("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"hi"}}`) + amazon("messageStop", `{"stopReason":"end_turn"}`) +
			amazon("metadata", `{"usage":{"inputTokens":9,"outputTokens":506,"totalTokens":515}}`)
	}
	thought := func(content string) string {
		return amazon("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":`+content+`}}`)
	}
	chat := func(delta, usage string) string { // LiteLLM 1.110's chat completions of the same, OpenRouter's
		return events(`{"choices":[{"index":0,"delta":{`+delta+`}}]}`, `{"choices":[{"index":0,"delta":{"content":"hi"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":506,"total_tokens":515`+usage+`}}`, "[DONE]")
	}
	const uncounted, counted = `,"completion_tokens_details":{"reasoning_tokens":0}`, `,"completion_tokens_details":{"reasoning_tokens":500}`
	const named, sse = amazonStream, "text/event-stream"
	for _, c := range []struct {
		name, api, kind, body string
		sealed                bool
	}{
		{"omitted", "anthropic", sse, claude(block(`{"type":"thinking","thinking":"","signature":""}`), signature, answer, end("")), true},
		{"redacted", "anthropic", sse, claude(block(`{"type":"redacted_thinking","data":"EmwK"}`), answer, end("")), true},
		{"omitted, and counted", "anthropic", sse, claude(block(`{"type":"thinking","thinking":"","signature":""}`), signature, answer, end(`,"output_tokens_details":{"thinking_tokens":500}`)), false},
		{"in words", "anthropic", sse, claude(block(`{"type":"thinking","thinking":"","signature":""}`), words, signature, answer, end("")), false},
		{"none", "anthropic", sse, claude(answer, end("")), false},
		{"LiteLLM, redacted", "openai-chat", sse, chat(`"thinking_blocks":[{"type":"redacted_thinking","data":"EmwK"}],"provider_specific_fields":{"thinking_blocks":[{"type":"redacted_thinking","data":"EmwK"}]}`, uncounted), true},
		{"LiteLLM, in its copy alone", "openai-chat", sse, chat(`"provider_specific_fields":{"thinking_blocks":[{"data":"EmwK","type":"redacted_thinking"}]}`, ""), true},
		{"LiteLLM, whole", "openai-chat", "application/json", `{"choices":[{"message":{"content":"hi","thinking_blocks":[{"type":"redacted_thinking","data":"EmwK"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":506,"total_tokens":515` + uncounted + `}}`, true},
		{"LiteLLM, counted", "openai-chat", sse, chat(`"thinking_blocks":[{"type":"redacted_thinking","data":"EmwK"}]`, counted), false},
		{"LiteLLM, in words", "openai-chat", sse, chat(`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"EqQB"}]`, ""), false},
		{"Envoy, redacted (internal/translator/openai_awsbedrock.go)", "openai-chat", sse, chat(`"reasoning_content":{"redactedContent":"EmwK"}`, ""), true},
		{"Portkey, redacted", "openai-chat", sse, chat(`"content_blocks":[{"index":0,"delta":{"data":"EmwK"}}]`, ""), true},
		{"Portkey, whole and redacted", "openai-chat", "application/json", `{"choices":[{"message":{"content":"hi","content_blocks":[{"type":"redacted_thinking","data":"EmwK"},{"type":"text","text":"hi"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":506}}`, true},
		{"OpenRouter, Claude's", "openai-chat", sse, chat(`"reasoning_details":[{"type":"reasoning.encrypted","data":"EmwK","format":"anthropic-claude-v1","index":0}]`, ""), true},
		{"OpenRouter, of others, which thought nothing", "openai-chat", sse, chat(`"reasoning_details":[{"type":"reasoning.encrypted","data":"EmwK","format":"openai-responses-v1","index":0}]`, uncounted), false},
		{"Converse, redacted", "bedrock", named, converse(thought(`{"redactedContent":"EmwK"}`)), true},
		{"Converse, a signature alone", "bedrock", named, converse(thought(`{"signature":"EqQB"}`)), true},
		{"Converse, in words", "bedrock", named, converse(thought(`{"text":"hm"}`) + thought(`{"signature":"EqQB"}`)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := ByName(c.api)
			tl := timeline.New()
			s := NewStream(tl, a, StreamOptions{})
			s.Head(1, Head{200, map[string][]string{"Content-Type": {c.kind}}})
			s.Read(2, 0, []byte(c.body))
			s.End(3, timeline.EOF, nil, nil)
			if got := tl.Flags.Has(timeline.HiddenReasoning); tl.Outcome != timeline.OK || got != c.sealed {
				t.Errorf("%s %v, sealed: %v", tl.Outcome, tl.Error, got)
			}
		})
	}
}
