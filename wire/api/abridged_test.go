package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Claude 4 shows a summary of its thoughts and counts all of them among the output tokens,
// by Anthropic's API, Amazon's and gateways' alike; Claude 3.7 and other makes that speak
// Anthropic's API show them in full. Without Anthropic's own count nobody knows how many of
// the tokens were streamed.
// Sources: https://docs.claude.com/en/docs/build-with-claude/extended-thinking;
// signatures: https://platform.claude.com/docs/en/build-with-claude/streaming, llama.cpp's
// server (an empty one), vLLM (the hexadecimal digits of a UUID).
func TestThoughtsOfWhichASummaryCame(t *testing.T) {
	seal := strings.Repeat("EqQBCgIYAhIM", 8)
	messages := func(model, signature, details string) string {
		return events(
			`{"type":"message_start","message":{"role":"assistant","model":"`+model+`","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"`+signature+`"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":506`+details+`}}`,
			`{"type":"message_stop"}`)
	}
	converse := func(signature string) string {
		thought := func(content string) string {
			return amazon("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":`+content+`}}`)
		}
		return amazon("messageStart", `{"role":"assistant"}`) + thought(`{"text":"hm"}`) + thought(`{"signature":"`+signature+`"}`) +
			amazon("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"hi"}}`) + amazon("messageStop", `{"stopReason":"end_turn"}`) +
			amazon("metadata", `{"usage":{"inputTokens":9,"outputTokens":506,"totalTokens":515}}`)
	}
	chat := func(model, thought, sealed, usage string) string {
		chunk := func(delta string) string {
			return `{"model":"` + model + `","choices":[{"index":0,"delta":{` + delta + `}}]}`
		}
		return events(chunk(thought), chunk(sealed), chunk(`"content":"hi"`),
			`{"model":"`+model+`","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":506`+usage+`}}`, "[DONE]")
	}
	openRouter := func(model, usage string) string {
		return chat(model, `"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"anthropic-claude-v1"}]`,
			`"reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"`+seal+`","format":"anthropic-claude-v1"}]`, usage)
	}
	liteLLM := chat("claude-opus-4-1-20250805", `"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":""}]`,
		`"reasoning_content":"","thinking_blocks":[{"type":"thinking","thinking":"","signature":"`+seal+`"}]`, "")
	// LiteLLM 1.108.7's /v1/responses: reasoning_tokens are those of the summary's words.
	responses := func(blocks string) string {
		return events(`{"type":"response.created","response":{"model":"claude-sonnet-4-5-20250929"}}`,
			`{"type":"response.output_item.added","item":{"type":"reasoning","status":"in_progress"}}`,
			`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, `{"type":"response.output_text.delta","delta":"hi"}`,
			`{"type":"response.completed","response":{"model":"claude-sonnet-4-5-20250929","status":"completed","usage":{"input_tokens":9,"output_tokens":506,"output_tokens_details":{"reasoning_tokens":1,"text_tokens":505}},"provider_specific_fields":{"thinking_blocks":[`+blocks+`]}}}`, "[DONE]")
	}
	redacted := strings.Replace(strings.Replace(responses(`{"type":"redacted_thinking","data":"`+seal+`"}`),
		`"delta":"hm"`, `"delta":""`, 1), `"reasoning_tokens":1`, `"reasoning_tokens":0`, 1)
	const counted = `,"completion_tokens_details":{"reasoning_tokens":400}`
	const named, sse = amazonStream, "text/event-stream"
	for _, c := range []struct {
		name, api, model, kind, body string
		unknown                      bool
	}{
		{"Claude 4.5", "anthropic", "", sse, messages("claude-sonnet-4-5-20250929", seal, ""), true},
		{"Claude Fable 5", "anthropic", "", sse, messages("claude-fable-5", seal, ""), true},
		{"a gateway's name", "anthropic", "", sse, messages("us.anthropic.claude-opus-4-20250514-v1:0", seal, ""), true},
		{"Databricks' name", "anthropic", "", sse, messages("databricks-claude-sonnet-4-5", seal, ""), true},
		{"counted by Anthropic", "anthropic", "", sse, messages("claude-sonnet-4-5-20250929", seal, `,"output_tokens_details":{"thinking_tokens":400}`), false},
		{"Claude 3.7", "anthropic", "", sse, messages("claude-3-7-sonnet-20250219", seal, ""), false},
		{"llama.cpp under Claude's name", "anthropic", "", sse, messages("claude-sonnet-4-5", "", ""), false},
		{"vLLM under Claude's name", "anthropic", "", sse, messages("claude-sonnet-4-5", "0f8fad5bd9cb469fa16570867728950e", ""), false},
		{"MiniMax", "anthropic", "", sse, messages("MiniMax-M2", seal, ""), false},
		{"a model made of Claude's answers", "anthropic", "", sse, messages("org/Qwen3-14B-claude-4.5-distill", "", ""), false},
		{"Converse, Claude 4", "bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", named, converse(seal), true},
		{"Converse, Claude 3.7 in full", "bedrock", "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-7-sonnet-20250219-v1:0", named, converse(seal), false},
		{"Converse, a profile", "bedrock", "arn:aws:bedrock:us-east-2:1:application-inference-profile/ab", named, converse(seal), true},
		{"Converse, nobody knows which", "bedrock", "", named, converse(seal), true},
		{"Converse, Claude 3.7", "bedrock", "anthropic.claude-3-7-sonnet-20250219-v1:0", named, converse(seal), false},
		{"Converse, another", "bedrock", "deepseek.r1-v1:0", named, converse(""), false},
		{"OpenRouter", "openai-chat", "", sse, openRouter("anthropic/claude-sonnet-4.5", ""), true},
		{"OpenRouter, counted by whom?", "openai-chat", "", sse, openRouter("anthropic/claude-sonnet-4.5", counted), true},
		{"an alias asked for", "openai-chat", "fast", sse, openRouter("databricks-claude-opus-4-6", ""), true},
		{"an alias that answers", "openai-chat", "claude-sonnet-4-5", sse, openRouter("smart", ""), true},
		{"an alias that answers, by Anthropic's API", "anthropic", "claude-sonnet-4-5", sse, messages("smart", seal, ""), true},
		{"another model answers", "openai-chat", "claude-sonnet-4-5", sse, openRouter("claude-3-7-sonnet", ""), false},
		{"Poe's name", "openai-chat", "", sse, openRouter("Claude-Sonnet-4.5", ""), true},
		{"OpenRouter, Claude 3.7", "openai-chat", "", sse, openRouter("anthropic/claude-3.7-sonnet", counted), false},
		{"LiteLLM", "openai-chat", "", sse, liteLLM, true},
		// The gateway of Portkey 1.15.2, with x-portkey-strict-open-ai-compliance: false.
		{"Portkey", "openai-chat", "", sse, chat("claude-sonnet-4-5-20250929", `"content_blocks":[{"index":0,"delta":{"thinking":"hm"}}]`, `"content_blocks":[{"index":0,"delta":{"signature":"`+seal+`"}}]`, ""), true},
		{"Portkey, thinking omitted", "openai-chat", "", sse, chat("claude-sonnet-4-5-20250929", `"content_blocks":[{"index":0,"delta":{"thinking":"","signature":""}}]`, `"content_blocks":[{"index":0,"delta":{"signature":"`+seal+`"}}]`, ""), true},
		{"LiteLLM's responses", "openai-responses", "", sse, responses(`{"type":"thinking","thinking":"","signature":"` + seal + `"}`), true},
		{"LiteLLM's responses, without a signature", "openai-responses", "", sse, responses(`{"type":"thinking","thinking":"","signature":""}`), true},
		{"LiteLLM's responses, redacted", "openai-responses", "", sse, redacted, true},
		// LiteLLM 1.108.7's /v1/messages has thoughts of other makes with an empty signature.
		{"Gemini by Anthropic's API", "anthropic", "", sse, messages("gemini-2.5-flash", "", ""), true},
		{"Gemini under an alias", "anthropic", "gemini/gemini-2.5-flash", sse, messages("smart", "", ""), true},
		{"GPT by Anthropic's API", "anthropic", "", sse, messages("gpt-5", "", ""), true},
		{"o3 by Anthropic's API", "anthropic", "", sse, messages("openai/o3", "", ""), true},
		{"GPT by Anthropic's API, counted", "anthropic", "", sse, messages("gpt-5", "", `,"output_tokens_details":{"thinking_tokens":400}`), false},
		{"gpt-oss in full", "anthropic", "", sse, messages("openai/gpt-oss-120b", "", ""), false},
		{"another model under GPT's name", "anthropic", "", sse, strings.Replace(messages("gpt-5", "", ""), "506", "2", 1), false},
		// new-api (relay/channel/claude/relay-claude.go) has a line break in place of the signature, and counts no reasoning.
		{"new-api", "openai-chat", "", sse, chat("claude-sonnet-4-5-20250929", `"reasoning_content":"hm"`, `"reasoning_content":"\n"`, `,"completion_tokens_details":{"reasoning_tokens":0}`), true},
		{"by its kin, counted by whom?", "openai-chat", "", sse, chat("claude-sonnet-4-5-20250929", `"reasoning_content":"hm"`, `"reasoning_content":"\n"`, counted), true},
		{"new-api, Claude 3.7", "openai-chat", "", sse, chat("claude-3-7-sonnet-20250219", `"reasoning_content":"hm"`, `"reasoning_content":"\n"`, ""), false},
		{"in full under Claude's name", "openai-chat", "", sse, strings.Replace(chat("claude-sonnet-4-5", `"reasoning_content":"hm"`, `"reasoning_content":"so"`, ""), "506", "4", 1), false},
		{"made of Claude's answers", "openai-chat", "", sse, chat("org/Qwen3-14B-claude-4.5-distill", `"reasoning_content":"hm"`, `"reasoning_content":"so"`, ""), false},
		// Envoy's gateway before Claude at Google (internal/translator/openai_gcpanthropic_stream.go) drops the signature.
		{"Envoy, at Google", "openai-chat", "claude-sonnet-4-5", sse, chat("", `"reasoning_content":{"text":"hm"}`, `"role":"assistant"`, ""), true},
		// Bifrost's reasoning_details have no format (core/schemas/chatcompletions.go).
		{"Bifrost, redacted", "openai-chat", "", sse, chat("claude-sonnet-4-5-20250929", `"role":"assistant"`, `"reasoning_details":[{"index":0,"type":"reasoning.encrypted","data":"EmwK"}]`, ""), true},
		{"Bifrost, of OpenAI's, which thought nothing", "openai-chat", "", sse, chat("gpt-5", `"role":"assistant"`, `"reasoning_details":[{"index":0,"type":"reasoning.encrypted","data":"EmwK"}]`, ""), false},
		{"Gemini by a gateway that counts no reasoning", "openai-chat", "", sse, chat("google/gemini-2.5-pro", `"reasoning_content":"hm"`, `"content":"hi"`, ""), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := ByName(c.api)
			tl := timeline.New()
			tl.Model = c.model
			s := NewStream(tl, a, StreamOptions{})
			s.Head(1, Head{200, map[string][]string{"Content-Type": {c.kind}}})
			s.Read(2, 0, []byte(c.body))
			s.End(3, timeline.EOF, nil, nil)
			if got := tl.Flags.Has(timeline.HiddenReasoning); tl.Outcome != timeline.OK || got != c.unknown {
				t.Errorf("%s %v, S unknown: %v, want %v", tl.Outcome, tl.Error, got, c.unknown)
			}
		})
	}
}

// Gateways that offer a model by another maker's API count its thoughts and show none of them:
// 16 words and 144 tokens (LiteLLM 1.108.7's output for 128 of reasoning), 128 and 428.
func TestThoughtsOfWhichNothingCame(t *testing.T) {
	messages := func(model, details string) func(texts string, n string) string {
		return func(texts, n string) string {
			return typed(`{"type":"message_start","message":{"role":"assistant","model":"`+model+`","content":[],"usage":{"input_tokens":0,"output_tokens":0}}}`) +
				strings.ReplaceAll(texts, "TEXT", typed(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" words"}}`)) +
				typed(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":`+n+details+`}}`, `{"type":"message_stop"}`)
		}
	}
	gemini := func(texts, n string) string {
		return strings.ReplaceAll(texts, "TEXT", events(`{"candidates":[{"content":{"parts":[{"text":" words"}],"role":"model"}}]}`)) +
			events(`{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":`+n+`}}`)
	}
	for _, c := range []struct {
		name    string
		api     *API
		model   string
		body    func(texts, n string) string
		words   int
		n       string
		unknown bool
	}{
		{"GPT by Anthropic's API", Anthropic, "", messages("gpt-5", ""), 16, "144", true},
		{"a longer answer", Anthropic, "", messages("gpt-5", ""), 128, "428", true},
		{"calls of tools, whose names and frames are no bytes", Anthropic, "", func(texts, n string) string {
			return messages("gpt-4.1", "")(strings.ReplaceAll(texts, "TEXT", typed(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"p\":\".\"}"}}`)), n)
		}, 3, "52", false},
		{"Gemini by Anthropic's API", Anthropic, "gemini-2.5-flash", messages("smart", ""), 16, "316", true},
		{"GPT by Gemini's API", Gemini, "gpt-5", gemini, 16, "144", true},
		{"Claude by Gemini's API", Gemini, "claude-sonnet-4-5", gemini, 16, "400", true},
		{"Gemini by its own", Gemini, "gemini-2.5-flash", gemini, 16, "316", false},
		{"Claude by its own", Anthropic, "", messages("claude-sonnet-4-5", ""), 16, "316", false},
		{"a model that shows its thoughts", Anthropic, "", messages("qwen3", ""), 16, "316", false},
		{"the count says that there are none", Anthropic, "", messages("gpt-5", `,"output_tokens_details":{"thinking_tokens":0}`), 16, "144", false},
		{"several tokens an event, perhaps", Anthropic, "", messages("gpt-5", ""), 128, "300", false},
		{"too few to tell", Anthropic, "", messages("gpt-5", ""), 4, "31", false},
	} {
		tl := timeline.New()
		tl.Model = c.model
		s := NewStream(tl, c.api, StreamOptions{})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
		s.Read(2, 0, []byte(c.body(strings.Repeat("TEXT", c.words), c.n)))
		s.End(3, timeline.EOF, nil, nil)
		if got := tl.Flags.Has(timeline.HiddenReasoning); tl.Outcome != timeline.OK || got != c.unknown {
			t.Errorf("%s: %s %v, S unknown: %v, want %v", c.name, tl.Outcome, tl.Error, got, c.unknown)
		}
	}
}

// Names that hosts give to one model. Sources: learn.microsoft.com, Databricks foundation
// models; SAP AI Core's list of models; Poe's; Amazon's, Google's and OpenRouter's own.
func TestMakesOfModels(t *testing.T) {
	for name, want := range map[string]string{
		"claude-sonnet-4-5-20250929": "claude", "us.anthropic.claude-opus-4-20250514-v1:0": "claude", "anthropic/claude-sonnet-4.5": "claude",
		"databricks-claude-sonnet-4-5": "claude", "system.ai.claude-sonnet-4-5": "claude", "anthropic--claude-4-sonnet": "claude",
		"bedrock-claude-sonnet-4-5": "claude", "eu-claude-sonnet-4-5": "claude", "us-claude-4-6-opus": "claude", "Claude-Sonnet-4.5": "claude",
		"claude_sonnet_4": "claude", "projects/p1/locations/us-east5/publishers/anthropic/models/claude-opus-4@20250514": "claude",
		"us-east-1.anthropic.claude-sonnet-4-20250514-v1:0": "claude", "CLAUDE4": "claude", "claude-10-opus": "claude", "claude-sonnet-20260514": "claude", "claude-2.1": "",
		"anthropic.claude-3-7-sonnet-20250219-v1:0": "", "databricks-claude-3-7-sonnet": "", "Claude-Sonnet-3.7": "", "claude": "claude", "claude-opus": "claude",
		"bedrock-us-east-1-claude-sonnet-4-5": "claude", "aws-us-west-2-claude-4-sonnet": "claude", "gpt5-fallback-claude-opus-4-6": "claudeothers",
		"claudette-4": "", "notclaude-4": "", "MiniMax-M2": "", "": "", "claude-4/other": "",
		"gemini-2.5-pro": "others", "google/gemini-2.5-flash": "others", "models/gemini-3-pro": "others", "databricks-gemini-2-5-pro": "others",
		"vertex-gemini-2.5-pro": "others", "Gemini-2.5-Pro": "others", "gemma-3-27b": "", "geminix-1": "", "Qwen3-8B-gemini-2.5-distill": "",
		"gpt-5": "others", "openai/gpt-5-mini": "others", "azure-gpt5": "others", "GPT-5.1-Codex": "others", "o3": "others", "azure/o4-mini": "others", "openai.o3-2025-04-16": "others",
		"gpt-oss-120b": "", "openai.gpt-oss-20b-1:0": "", "GPT-OSS-20B": "", "gpt_oss_120b": "", "sharegpt-7b": "", "Qwen3-4B-gpt-5-distill": "", "olmo-3": "", "AIDC-AI/Marco-o1": "", "Skywork/Skywork-o1-Open-Llama-3.1-8B": "", "FreedomIntelligence/HuatuoGPT-o1-7B": "", "SimpleBerry/LLaMA-O1-Supervised-1129": "", "azure_o3": "others", "glm-4.6-o": "",
	} {
		got := ""
		if claudeSummarises(name) {
			got = "claude"
		}
		if showsSummaries(name) {
			got += "others"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Gemini's and GPT's thoughts through a gateway are a summary, whichever name tells whose they are.
func TestSummariesByEitherName(t *testing.T) {
	for _, c := range []struct {
		asked, replied string
		summary        bool
	}{
		{"gemini-2.5-flash", "gemini-2.5-flash", true}, {"m", "databricks-gemini-2-5-flash", true}, {"Gemini-2.5-Flash", "m", true},
		{"", "vertex-gemini-2.5-flash", true}, {"gpt-5", "gpt-5-2025-08-07", true}, {"m", "openai/o4-mini", true},
		{"openai/gpt-oss-120b", "openai/gpt-oss-120b", false}, {"m", "qwen3", false}, {"m", "", false},
	} {
		chunk := func(delta string) string {
			return `{"model":"` + c.replied + `","choices":[{"index":0,"delta":{` + delta + `}}]}`
		}
		thought := `"reasoning_content":"` + strings.Repeat("weighing how the parts fit together. ", 8) + `"`
		tl := timeline.New()
		tl.Model = c.asked
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
		s.Read(2, 0, []byte(events(chunk(thought), chunk(thought), chunk(`"content":"hi"`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":260,"completion_tokens_details":{"reasoning_tokens":240}}}`, "[DONE]")))
		s.End(3, timeline.EOF, nil, nil)
		if got := tl.Flags.Has(timeline.ReasoningSummary); got != c.summary {
			t.Errorf("%q asked, %q replied: a summary: %v", c.asked, c.replied, got)
		}
		if tl.Model == "" {
			t.Errorf("%q asked, %q replied: no model", c.asked, c.replied)
		}
	}
}
