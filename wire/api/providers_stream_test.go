package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// vendorStream is what a provider of the table streams for one short answer, made by
// hand (synthetic) from the vendor's API reference or library, and what it says.
type vendorStream struct {
	source, api string
	events      []string
	thought     string
	usage       string
	server      string // names of what the server told of itself
}

const (
	roleFirst = `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	stopLast  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`
	ended     = stopLast + `}`
)

var vendorStreams = map[string]vendorStream{
	"OpenAI": {"API reference, chat/streaming", "", []string{roleFirst, content("hi"), ended,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"rejected_prediction_tokens":0}}}`, "[DONE]"},
		"", `{"input":9,"cached":4,"output":1,"reasoning":0,"rejected":0,"total":10}`, ""},
	"Azure OpenAI, v1": {"Azure OpenAI reference, content filtering of streams", "", []string{
		`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`, roleFirst,
		`{"choices":[{"index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}},"delta":{"content":"hi"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"finish_reason":null,"content_filter_offsets":{"check_offset":5,"start_offset":5,"end_offset":7},"content_filter_results":{}}]}`, ended, "[DONE]"},
		"", `{}`, ""},
	"Google Gemini, OpenAI's path": {"Gemini API, OpenAI compatibility", "", []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"hm","extra_content":{"google":{"thought":true}}}}]}`,
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":15}}`, "[DONE]"},
		"hm", `{"input":9,"output":1,"total":15}`, ""},
	"Google Gemini": {"google-genai 3.6.1, GenerateContentResponse", "gemini", []string{
		`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}],"role":"model"},"index":0}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"hi"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"thoughtsTokenCount":5,"totalTokenCount":15}}`},
		"hm", `{"input":9,"output":6,"reasoning":5,"total":15}`, ""},
	"Amazon Bedrock, OpenAI's path": {"Bedrock user guide, OpenAI's API", "", []string{roleFirst, content("hi"), ended,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens_details":{"cached_tokens":0}}}`, "[DONE]"},
		"", `{"input":9,"cached":0,"output":3,"reasoning":2,"total":12}`, ""},
	"Anthropic": {"API reference, messages/streaming", "anthropic", []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`, `{"type":"ping"}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6}}`, `{"type":"message_stop"}`},
		"hm", `{"input":13,"cached":4,"output":6}`, ""},
	"Mistral": {"mistralai 3.7.0, CompletionChunk", "", []string{
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true}]},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`, "[DONE]"},
		"hm", `{"input":9,"output":4,"total":13}`, ""},
	"Cohere": {"cohere 7.3.1, v2 chat stream", "cohere", []string{
		`{"type":"message-start","id":"x","delta":{"message":{"role":"assistant","content":[]}}}`, `{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"thinking","thinking":""}}}}`,
		`{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"hm"}}}}`, `{"type":"content-end","index":0}`,
		`{"type":"content-start","index":1,"delta":{"message":{"content":{"type":"text","text":""}}}}`, `{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"hi"}}}}`, `{"type":"content-end","index":1}`,
		`{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":2.0,"output_tokens":2.0},"tokens":{"input_tokens":9.0,"output_tokens":4.0}}}}`},
		"hm", `{"input":9,"output":4}`, ""},
	"DeepSeek": {"API reference, chat completion", "", []string{roleFirst, delta(`"content":null,"reasoning_content":"hm"`), delta(`"content":"hi","reasoning_content":null`),
		stopLast + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":1,"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":8,"output":4,"reasoning":3,"total":13}`, ""},
	"xAI": {"API reference, chat completions", "", []string{roleFirst, delta(`"reasoning_content":"hm"`), content("hi"), ended,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":4,"output":4,"reasoning":3,"total":13}`, ""},
	"Groq": {"API reference; groq 1.x, ChatCompletionChunk.x_groq", "", []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"x_groq":{"id":"req_1"}}`,
		delta(`"reasoning":"hm"`), content("hi"),
		stopLast + `,"x_groq":{"id":"req_1","usage":{"queue_time":0.01,"prompt_tokens":9,"prompt_time":0.002,"completion_tokens":4,"completion_time":0.02,"total_tokens":13,"total_time":0.022}}}`, "[DONE]"},
		"hm", `{"input":9,"output":4,"total":13}`, "decode_ms prefill_ms queue_ms total_ms"},
	"Cerebras": {"cerebras-cloud-sdk, ChatChunkResponse.time_info", "", []string{roleFirst, delta(`"reasoning":"hm"`), content("hi"),
		stopLast + `,"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":0}},"time_info":{"queue_time":0.0001,"prompt_time":0.002,"completion_time":0.003,"total_time":0.0051,"created":1700000000}}`, "[DONE]"},
		"hm", `{"input":9,"cached":0,"output":4,"total":13}`, "decode_ms prefill_ms queue_ms total_ms"},
	// Text twice in a choice, a token's id, a large seed and the reason eos: as chunks that AIProxySwift's tests hold, which were recorded in August 2024.
	"Together": {"together 3.1.1, ChatCompletionChunk; AIProxySwift, TogetherAIChatCompletionStreamingChunkTests", "", []string{
		`{"id":"8b","object":"chat.completion.chunk","created":1723834621,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":null,"seed":null,"delta":{"token_id":30,"role":"assistant","content":"","reasoning":"hm","tool_calls":null}}],"model":"m","usage":null}`,
		`{"id":"8b","object":"chat.completion.chunk","created":1723834621,"choices":[{"index":0,"text":"hi","logprobs":null,"finish_reason":null,"seed":null,"delta":{"token_id":31,"role":"assistant","content":"hi","tool_calls":null}}],"model":"m","usage":null}`,
		`{"id":"8b","object":"chat.completion.chunk","created":1723834621,"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"eos","seed":2039908639335532000,"delta":{"token_id":128009,"role":"assistant","content":"","tool_calls":null}}],"model":"m","usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"cached_tokens":8}}`, "[DONE]"},
		"hm", `{"input":9,"cached":8,"output":4,"total":13}`, ""},
	"Fireworks": {"API reference, chat completions", "", []string{roleFirst, delta(`"reasoning_content":"hm"`), content("hi"),
		stopLast + `,"usage":{"prompt_tokens":9,"total_tokens":13,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":8}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":8,"output":4,"total":13}`, ""},
	"OpenRouter": {"documentation, streaming and reasoning tokens", "", []string{
		delta(`"role":"assistant","content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"unknown","index":0}]`), content("hi"),
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop","native_finish_reason":"STOP"}]}`,
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"cost":0.0001,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":0,"output":4,"reasoning":3,"total":13}`, ""},
	"Perplexity": {"API reference, chat completions", "", []string{
		`{"object":"chat.completion.chunk","citations":["https://example.com"],"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
		`{"object":"chat.completion.done","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10,"search_context_size":"low"}}`, "[DONE]"},
		"", `{"input":9,"output":1,"total":10}`, ""},
	"Z.ai (Zhipu)": {"API reference, chat completion", "", []string{delta(`"role":"assistant","reasoning_content":"hm"`), delta(`"role":"assistant","content":"hi"`),
		`{"choices":[{"index":0,"finish_reason":"stop","delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":8}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":8,"output":4,"total":13}`, ""},
	"Volcengine Ark": {"API reference, ChatCompletions", "", []string{delta(`"content":"","reasoning_content":"hm","role":"assistant"`), delta(`"content":"hi","role":"assistant"`),
		`{"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":"stop","index":0}]}`,
		`{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":9,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":0,"output":4,"reasoning":3,"total":13}`, ""},
	"MiniMax": {"API reference, text/chatcompletion_v2", "", []string{delta(`"content":"","reasoning_details":[{"type":"reasoning.text","text":"hm","index":0}]`), content("hi"),
		`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi"}}],"usage":{"total_tokens":13,"prompt_tokens":9,"completion_tokens":4},"base_resp":{"status_code":0,"status_msg":""}}`, "[DONE]"},
		"hm", `{"input":9,"output":4,"total":13}`, ""},
	"Moonshot": {"API reference, chat completions", "", []string{roleFirst, delta(`"reasoning_content":"hm"`), content("hi"),
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"cached_tokens":8}}]}`, "[DONE]"},
		"hm", `{"input":9,"cached":8,"output":4,"total":13}`, ""},
	"Writer": {"API reference, chat completion", "", []string{
		`{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"finish_reason":null,"message":null,"delta":{"content":"hi","role":"assistant","tool_calls":null,"graph_data":null},"logprobs":null}],"created":1,"model":"palmyra-x5","usage":null}`,
		`{"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"finish_reason":"stop","message":{"content":"hi","role":"assistant"},"delta":{"content":"","role":"assistant"}}],"usage":{"prompt_tokens":9,"total_tokens":10,"completion_tokens":1}}`, "[DONE]"},
		"", `{"input":9,"output":1,"total":10}`, ""},
	"Alibaba DashScope": {"Model Studio reference, OpenAI compatibility", "", []string{delta(`"content":null,"reasoning_content":"hm","role":"assistant"`), delta(`"content":"hi","reasoning_content":null`),
		`{"choices":[{"delta":{"content":"","reasoning_content":null},"finish_reason":"stop","index":0,"logprobs":null}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"completion_tokens_details":{"reasoning_tokens":3},"prompt_tokens_details":{"cached_tokens":0}}}`, "[DONE]"},
		"hm", `{"input":9,"cached":0,"output":4,"reasoning":3,"total":13}`, ""},
}

// sameStream are providers that stream as others of the table do. Bedrock's Converse is
// in messages of Amazon's event stream: see TestVendorReplies. Ollama's is lines: see TestNativeReplies. IBM's has no terminator: see
// TestWatsonx.
var sameStream = map[string]string{
	"Azure OpenAI, deployments": "Azure OpenAI, v1", "Azure AI Foundry": "Azure OpenAI, v1", "Azure AI Foundry, models": "Azure OpenAI, v1",
	"Google Vertex AI, OpenAI's path": "Google Gemini, OpenAI's path", "Google Vertex AI, Gemini": "Google Gemini",
	"Amazon Bedrock, Mantle": "Amazon Bedrock, OpenAI's path", "Amazon Bedrock, Converse": "",
	"Anthropic on Vertex AI": "Anthropic", "Anthropic on Bedrock": "Anthropic",
	"Mistral on Vertex AI": "Mistral", "IBM watsonx": "", "IBM watsonx, gateway": "OpenAI",
	"Cohere, compatibility": "OpenAI", "Ollama": "", "GitHub Models": "OpenAI", "Zhipu, China": "Z.ai (Zhipu)",
}

// Each provider of the table has a stream here.
func TestStreamsOfProviders(t *testing.T) {
	for _, p := range Providers {
		name := p.Name
		if of, same := sameStream[name]; same {
			if name = of; name == "" {
				continue
			}
		}
		c, ok := vendorStreams[name]
		if !ok {
			t.Errorf("%s has no stream", p.Name)
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			if p.API != c.api {
				t.Errorf("the table says %q, the stream is of %q", p.API, c.api)
			}
			a := OpenAIChat
			if c.api != "" {
				a, _ = ByName(c.api)
			}
			tl := timeline.New()
			tl.Asked = true
			s := NewStream(tl, a, StreamOptions{KeepText: true})
			s.Head(1, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
			s.Read(2, 0, []byte(events(c.events...)))
			s.End(3, timeline.EOF, nil, nil)
			usage, _ := json.Marshal(tl.Usage)
			server := strings.Join(slices.Sorted(maps.Keys(tl.Server)), " ")
			var flags timeline.FlagSet
			if a.Summarises && tl.Usage.Reasoning.Or(0) > 0 {
				flags = timeline.ReasoningSummary
			}
			if tl.Outcome != timeline.OK || tl.Text != "hi" || tl.Thought != c.thought || string(usage) != c.usage || server != c.server || tl.Flags != flags {
				t.Errorf("%s (%s): %s %v, %q after %q, usage %s, server %s, flags %v", p.Name, c.source, tl.Outcome, tl.Error, tl.Text, tl.Thought, usage, server, tl.Flags.Names())
			}
		})
	}
}

// IBM watsonx, as the tests of its Java SDK show it: named events with ids, usage in one
// of its own, and no terminator.
func TestWatsonx(t *testing.T) {
	var body strings.Builder
	for i, data := range []string{
		`{"id":"chatcmpl-5d","object":"chat.completion.chunk","model_id":"meta-llama/m","model":"meta-llama/m","choices":[{"index":0,"finish_reason":null,"delta":{"role":"assistant","content":""}}],"created":1749736055,"model_version":"4.0.0","system":{"warnings":[{"message":"This model is a Non-IBM Product.","id":"disclaimer_warning"}]}}`,
		`{"id":"chatcmpl-5d","object":"chat.completion.chunk","model_id":"meta-llama/m","choices":[{"index":0,"finish_reason":null,"delta":{"content":"C"}}]}`,
		`{"id":"chatcmpl-5d","object":"chat.completion.chunk","model_id":"meta-llama/m","choices":[{"index":0,"finish_reason":null,"delta":{"content":"iao"}}]}`,
		`{"id":"chatcmpl-5d","object":"chat.completion.chunk","model_id":"meta-llama/m","choices":[{"index":0,"finish_reason":"stop","delta":{"content":""}}]}`,
		`{"id":"chatcmpl-5d","object":"chat.completion.chunk","model_id":"meta-llama/m","choices":[],"usage":{"completion_tokens":3,"prompt_tokens":38,"total_tokens":41}}`,
	} {
		fmt.Fprintf(&body, "id: %d\nevent: message\ndata: %s\n\n", i+1, data)
	}
	tl := reply(OpenAIChat, "text/event-stream", body.String(), timeline.EOF)
	usage, _ := json.Marshal(tl.Usage)
	if got := fmt.Sprintf("%s %v %s: %s", tl.Outcome, tl.Flags.Names(), tl.Text, kinds(tl)); got != "ok [no_done] Ciao: role text text empty finish usage" || string(usage) != `{"input":38,"output":3,"total":41}` {
		t.Errorf("%s, usage %s", got, usage)
	}
}
