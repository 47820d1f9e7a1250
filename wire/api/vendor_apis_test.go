package api

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

const amazonStream = "application/vnd.amazon.eventstream"

// amazon writes messages of Amazon's event stream: pairs of type and payload. A
// type that ends in Exception makes the message one.
func amazon(pairs ...string) string {
	var all bytes.Buffer
	for i := 0; i < len(pairs); i += 2 {
		name := ":event-type"
		if strings.HasSuffix(pairs[i], "Exception") {
			name = ":exception-type"
		}
		var headers []byte
		for _, h := range [][2]string{{name, pairs[i]}, {":content-type", "application/json"}} {
			headers = append(append(headers, byte(len(h[0]))), h[0]...)
			headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(h[1]))), h[1]...)
		}
		m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(pairs[i+1])))
		m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
		m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
		m = append(append(m, headers...), pairs[i+1]...)
		all.Write(binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m)))
	}
	return all.String()
}

// chunk wraps what InvokeModelWithResponseStream sends.
func chunk(payload string) string {
	return `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(payload)) + `","p":"abcd"}`
}

// Synthetic streams with the names that the vendors' own SDKs have in their types.
func TestVendorReplies(t *testing.T) {
	const events1 = "text/event-stream"
	for _, c := range []struct {
		name, api, contentType, body string
		outcome                      timeline.Outcome
		kinds, finish, usage, text   string
		rest                         string
	}{
		{"Gemini, thoughts and counts that run", "gemini", events1, events(
			`{"candidates":[{"content":{"parts":[{"thought":true,"text":"hm"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":60,"thoughtsTokenCount":52},"modelVersion":"gemini-3"}`,
			`{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"c2ln"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":1,"totalTokenCount":61,"thoughtsTokenCount":52}}`,
			`{"candidates":[{"content":{"parts":[{"text":"b"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":2,"totalTokenCount":62,"thoughtsTokenCount":52,"cachedContentTokenCount":4,"promptTokensDetails":[{"modality":"TEXT","tokenCount":8}]}}`),
			timeline.OK, "reasoning text text", "STOP", `{"input":8,"cached":4,"output":54,"reasoning":52,"total":62}`, "ab", "[]"},
		{"Gemini by Code Assist, each event within response", "gemini", events1, events(
			`{"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1,"totalTokenCount":11},"modelVersion":"gemini-3"}}`,
			`{"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}},"traceId":"x"}`),
			timeline.OK, "text text", "STOP", `{"input":10,"output":2,"total":12}`, "ab", ""},
		{"Gemini by Code Assist, whole", "gemini", "application/json", `{"traceId":"x","response":{"candidates":[{"content":{"parts":[{"text":"ab"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}}}`,
			timeline.OK, "text", "STOP", `{"input":10,"output":2,"total":12}`, "ab", ""},
		{"Gemini by Code Assist, an error of its own", "gemini", events1, events(`{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}`),
			timeline.StreamError, "error", "", `{}`, "", "quota"},
		{"Gemini, a response within a response is none", "gemini", "application/json", `{"response":{"response":{"candidates":[{"content":{"parts":[{"text":"no"}]}}]},"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}}`,
			timeline.OK, "text", "STOP", `{}`, "a", ""},
		{"Gemini, a tool's tokens beside the prompt", "gemini", events1, events(
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get","args":{"a":1}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":5,"candidatesTokenCount":7,"totalTokenCount":22}}`),
			timeline.OK, "tool", "STOP", `{"input":15,"output":7,"total":22}`, "", ""},
		{"Gemini, a call's arguments in parts", "gemini", events1, events(
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"controlLight","willContinue":true},"thoughtSignature":"sig"}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.brightness","numberValue":50}],"willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.temperature","stringValue":"warm","willContinue":true}],"willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.temperature","stringValue":""}],"willContinue":true}}]}}]}`, // its end
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.temperature"}],"willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.on","boolValue":false},{"jsonPath":"$.scene","nullValue":"NULL_VALUE"}],"willContinue":true}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":7,"totalTokenCount":17}}`),
			timeline.OK, "tool tool tool empty empty tool finish", "STOP", `{"input":10,"output":7,"total":17}`, "", ""},
		{"Gemini, two candidates of one event", "gemini", events1, events(
			`{"candidates":[{"index":0,"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"},{"index":1,"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3}}`),
			timeline.OK, "text text#1", "STOP", `{"input":1,"output":2,"total":3}`, "a\nb", ""},
		{"Gemini, what code gave was not generated", "gemini", events1, events(
			`{"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"1+1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}}]}}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"2"}]},"finishReason":"STOP"}]}`),
			timeline.OK, "tool text", "STOP", `{}`, "2", ""},
		{"Gemini, a picture", "gemini", events1, events(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]},"finishReason":"STOP"}]}`),
			timeline.OK, "media", "STOP", `{}`, "", ""},
		{"Gemini, an array", "gemini", "application/json", "[{\n \"candidates\": [{\"content\":{\"parts\":[{\"text\":\"a]\"}]}}]\n}\n,\r\n{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"b\"}]},\"finishReason\":\"STOP\"}]}\n]",
			timeline.OK, "text text", "STOP", `{}`, "a]b", "[]"},
		{"Gemini, an array that is cut", "gemini", "application/json", `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"cand`,
			timeline.StreamTruncated, "text", "", `{}`, "a", "6 bytes into an event"},
		{"Gemini, cut at an event's end", "gemini", events1, events(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`),
			timeline.StreamTruncated, "text", "", `{}`, "a", ""},
		{"Gemini, blocked", "gemini", events1, events(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9}}`),
			timeline.EmptyOutput, "finish", "PROHIBITED_CONTENT", `{"input":9,"total":9}`, "", "PROHIBITED_CONTENT"},
		{"Gemini, an error within the stream", "gemini", events1, events(`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`,
			`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`),
			timeline.StreamError, "text error", "", `{}`, "a", "The model is overloaded."},

		{"Interactions", "gemini-interactions", events1, events(
			`{"event_type":"interaction.created","interaction":{"id":"i","model":"m","status":"in_progress"}}`,
			`{"event_type":"step.start","index":0,"step":{"type":"thought"}}`,
			`{"event_type":"step.delta","index":0,"delta":{"type":"thought_summary","content":{"type":"text","text":"hm"}}}`,
			`{"event_type":"step.delta","index":0,"delta":{"type":"thought_signature","signature":"c2ln"}}`,
			`{"event_type":"step.stop","index":0}`,
			`{"event_type":"step.start","index":1,"step":{"type":"model_output"}}`,
			`{"event_type":"step.delta","index":1,"delta":{"type":"text","text":"a"}}`,
			`{"event_type":"interaction.status_update","interaction_id":"i","status":"in_progress"}`,
			`{"event_type":"step.delta","index":1,"delta":{"type":"text","text":"b"}}`,
			`{"event_type":"step.stop","index":1,"usage":{"total_output_tokens":2}}`,
			`{"event_type":"interaction.completed","interaction":{"id":"i","status":"completed","outputs":[{"type":"text","text":"ab"}],"usage":{"total_input_tokens":7,"total_output_tokens":2,"total_thought_tokens":5,"total_tokens":14}}}`),
			timeline.OK, "role empty reasoning empty empty empty text empty text usage finish", "completed", `{"input":7,"output":7,"reasoning":5,"total":14}`, "ab", "[]"},
		{"Interactions, a call, then what its tool gave", "gemini-interactions", events1, events(
			`{"event_type":"step.start","index":0,"step":{"type":"function_call","name":"get"}}`,
			`{"event_type":"step.delta","index":0,"delta":{"type":"arguments_delta","arguments":"{\"a\":1}"}}`,
			`{"event_type":"step.delta","index":1,"delta":{"type":"function_result","content":[{"type":"text","text":"found"}]}}`,
			`{"event_type":"interaction.completed","interaction":{"status":"requires_action"}}`),
			timeline.OK, "tool tool empty finish", "requires_action", `{}`, "", ""},
		{"Interactions, what the service searched is told behind the answer", "gemini-interactions", events1, events(
			`{"event_type":"step.start","index":0,"step":{"id":"s","signature":"","type":"google_search_call"}}`,
			`{"event_type":"step.delta","index":0,"delta":{"signature":"c2ln","type":"google_search_call","arguments":{"queries":["largest mountain"]}}}`,
			`{"event_type":"step.delta","index":1,"delta":{"type":"google_search_result","is_error":false}}`,
			`{"event_type":"step.delta","index":2,"delta":{"type":"code_execution_call","arguments":{"language":"python","code":"1+1"}}}`,
			`{"event_type":"step.delta","index":3,"delta":{"type":"text","text":"a"}}`,
			`{"event_type":"step.delta","index":4,"delta":{"arguments":{"urls":["https://example.com"]},"type":"url_context_call"}}`,
			`{"event_type":"step.delta","index":5,"delta":{"type":"google_maps_call","arguments":{"queries":["x"]}}}`,
			`{"event_type":"interaction.completed","interaction":{"status":"completed"}}`),
			timeline.OK, "empty empty empty tool text empty empty finish", "completed", `{}`, "a", ""},
		{"Interactions, as before they had steps", "gemini-interactions", events1, events(
			`{"event_type":"interaction.start","interaction":{"id":"i","status":"in_progress"}}`,
			`{"event_type":"content.start","index":0,"content":{"type":"text"}}`,
			`{"event_type":"content.delta","index":0,"delta":{"type":"text","text":"hi"}}`,
			`{"event_type":"content.stop","index":0}`,
			`{"event_type":"interaction.complete","interaction":{"id":"i","status":"completed","usage":{"total_input_tokens":5,"total_output_tokens":7,"total_tokens":12}}}`),
			timeline.OK, "role empty text empty finish", "completed", `{"input":5,"output":7,"total":12}`, "hi", ""},
		{"Interactions, an error", "gemini-interactions", events1, events(`{"event_type":"error","error":{"code":"internal","message":"it broke"}}`),
			timeline.StreamError, "error", "", `{}`, "", "it broke"},
		{"Interactions, whole", "gemini-interactions", "application/json", `{"object":"interaction","status":"completed","outputs":[{"type":"thought","summary":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"}],"usage":{"total_output_tokens":1}}`,
			timeline.OK, "text", "completed", `{"output":1}`, "a", ""},

		{"Converse, reasoning, a call, the counts after the stop", "bedrock", amazonStream, amazon(
			"messageStart", `{"role":"assistant"}`,
			"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`,
			"contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t","name":"get"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{\"a\":"}}}`,
			"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"text":"a"}}`,
			"contentBlockStop", `{"contentBlockIndex":2}`,
			"messageStop", `{"stopReason":"tool_use"}`,
			"metadata", `{"usage":{"inputTokens":5,"outputTokens":9,"totalTokens":114,"cacheReadInputTokens":100,"cacheWriteInputTokens":0},"metrics":{"latencyMs":250}}`),
			timeline.OK, "role reasoning empty tool tool text empty finish usage", "tool_use", `{"input":105,"cached":100,"cache_write":0,"output":9,"total":114}`, "a", "map[total_ms:250]"},
		{"Converse, throttled within the stream", "bedrock", amazonStream, amazon(
			"contentBlockDelta", `{"delta":{"text":"a"}}`, "throttlingException", `{"message":"Too many tokens, please wait"}`),
			timeline.StreamError, "text error", "", `{}`, "a", "throttlingException: Too many tokens, please wait"},
		// The exception of the AI SDK's fixtures (vercel/ai, model-stream-error-exception), which has all
		// members that Amazon's reference gives it; InvokeModel's decoders know nothing of exceptions.
		{"InvokeModel, exception", "anthropic", amazonStream, amazon("chunk", chunk(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`),
			"modelStreamErrorException", `{"message":"Model Stream Error","originalStatusCode":500,"originalMessage":"The model stream failed."}`),
			timeline.StreamError, "text error", "", `{}`, "a", "modelStreamErrorException: Model Stream Error"},
		{"chat completions, exception", "openai-chat", amazonStream, amazon("throttlingException", `{"message":"Slow down","more":1}`),
			timeline.StreamError, "error", "", `{}`, "", "throttlingException: Slow down"},
		{"Converse, cut", "bedrock", amazonStream, amazon("contentBlockDelta", `{"delta":{"text":"a"}}`) + amazon("messageStop", `{}`)[:20],
			timeline.StreamTruncated, "text", "", `{}`, "a", "20 bytes into an event"},
		{"Converse, a bit is wrong", "bedrock", amazonStream, amazon("contentBlockDelta", `{"delta":{"text":"a"}}`) + strings.Replace(amazon("contentBlockDelta", `{"delta":{"text":"b"}}`), "b\"}", "c\"}", 1),
			timeline.Parse, "text", "", `{}`, "a", "does not fit its checksum"},
		{"Converse, whole", "bedrock", "application/json", `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"max_tokens","usage":{"inputTokens":3,"outputTokens":1,"totalTokens":4},"metrics":{"latencyMs":9}}`,
			timeline.OK, "text", "max_tokens", `{"input":3,"output":1,"total":4}`, "a", "map[total_ms:9]"},
		{"Converse, a small part read from the cache", "bedrock", "application/json", `{"output":{"message":{"role":"assistant","content":[{"text":"a"}]}},"stopReason":"max_tokens","usage":{"inputTokens":300,"outputTokens":1,"totalTokens":401,"cacheReadInputTokens":100},"metrics":{"latencyMs":9}}`,
			timeline.OK, "text", "max_tokens", `{"input":400,"cached":100,"output":1,"total":401}`, "a", "map[total_ms:9]"},
		{"Anthropic on Bedrock, wrapped", "anthropic", amazonStream, amazon(
			"chunk", chunk(`{"type":"message_start","message":{"usage":{"input_tokens":5}}}`),
			"chunk", chunk(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`),
			"chunk", chunk(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`),
			"chunk", chunk(`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"firstByteLatency":100}}`)),
			timeline.OK, "role text finish done", "end_turn", `{"input":5,"output":2}`, "a", ""},

		{"Cohere, thinking, a plan, a call, counts that are fractions", "cohere", events1, events(
			`{"type":"message-start","delta":{"message":{"role":"assistant"}}}`,
			`{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"hm"}}}}`,
			`{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"look"}}}`,
			`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"t","type":"function","function":{"name":"get","arguments":""}}}}}`,
			`{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{"}}}}}`,
			`{"type":"tool-call-end","index":0}`,
			`{"type":"content-delta","index":1,"delta":{"message":{"content":{"text":"a"}}}}`,
			`{"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":0,"end":1,"text":"a"}}}}`,
			`{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":3.0,"output_tokens":9.0},"tokens":{"input_tokens":70.0,"output_tokens":12.0},"cached_tokens":64.0}}}`),
			timeline.OK, "role reasoning reasoning tool tool empty text empty finish", "TOOL_CALL", `{"input":70,"cached":64,"output":12}`, "a", "[]"},
		// Version 1, as the fixtures of ai-sdk's @ai-sdk/cohere and of discourse-ai have it.
		{"Cohere 1", "cohere", "application/stream+json", `{"is_finished":false,"event_type":"stream-start","generation_id":"g"}` + "\n" +
			`{"is_finished":false,"event_type":"text-generation","text":"a"}` + "\n" + `{"text":"b","is_finished":false,"event_type":"text-generation"}` + "\n" +
			`{"is_finished":true,"event_type":"stream-end","response":{"response_id":"r","text":"ab","chat_history":[{"role":"CHATBOT","message":"ab"}],"finish_reason":"COMPLETE","meta":{"billed_units":{"input_tokens":9,"output_tokens":20},"tokens":{"input_tokens":17,"output_tokens":244}}},"finish_reason":"COMPLETE"}` + "\n",
			timeline.OK, "role text text finish", "COMPLETE", `{"input":17,"output":244}`, "ab", ""},
		{"Cohere 1, a call in pieces and again", "cohere", events1, events(
			`{"event_type":"tool-calls-chunk","tool_call_delta":{"name":"get","index":0}}`, `{"event_type":"tool-calls-chunk","tool_call_delta":{"parameters":"{}","index":0}}`,
			`{"event_type":"tool-calls-generation","tool_calls":[{"name":"get","parameters":{"a":1}}]}`, `{"event_type":"stream-end","finish_reason":"COMPLETE","response":{"text":""}}`),
			timeline.OK, "tool tool empty finish", "COMPLETE", `{}`, "", ""},
		{"Cohere 1, whole", "cohere", "application/json", `{"response_id":"r","text":"a","generation_id":"g","chat_history":[],"finish_reason":"COMPLETE","meta":{"tokens":{"input_tokens":3,"output_tokens":1}}}`,
			timeline.OK, "text", "COMPLETE", `{"input":3,"output":1}`, "a", ""},
		{"Cohere 1, cut", "cohere", "application/stream+json", `{"event_type":"text-generation","text":"a"}` + "\n", timeline.StreamTruncated, "text", "", `{}`, "a", ""},
		{"Cohere, an error at the end", "cohere", events1, events(`{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`, `{"type":"message-end","delta":{"finish_reason":"ERROR","error":"it broke"}}`),
			timeline.StreamError, "text error", "ERROR", `{}`, "a", "it broke"},
		{"Cohere, whole", "cohere", "application/json", `{"id":"c","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":"a"}]},"usage":{"tokens":{"input_tokens":3,"output_tokens":1}}}`,
			timeline.OK, "text", "COMPLETE", `{"input":3,"output":1}`, "a", ""},
		{"Cohere, cut", "cohere", events1, events(`{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`, `{"type":"content-end"}`),
			timeline.StreamTruncated, "text empty", "", `{}`, "a", ""},

		{"Triton", "triton", events1, events(`{"model_name":"m","model_version":"1","sequence_end":false,"text_output":"a"}`, `{"model_name":"m","model_version":"1","text_output":"b"}`),
			timeline.OK, "text text", "", `{}`, "ab", "[]"},
		{"Triton, whole", "triton", "application/json", `{"model_name":"m","model_version":"1","text_output":"ab"}`, timeline.OK, "text", "", `{}`, "ab", ""},
		// TensorRT-LLM's model without its ensemble: triton-inference-server/tensorrtllm_backend, all_models/inflight_batcher_llm/tensorrt_llm/config.pbtxt
		{"Triton, ids", "triton", events1, events(`{"model_name":"tensorrt_llm","model_version":"1","output_ids":[15339],"sequence_length":[1]}`, `{"model_name":"tensorrt_llm","model_version":"1","output_ids":[1917],"sequence_length":[1]}`, `{"model_name":"tensorrt_llm","model_version":"1","output_ids":[],"sequence_length":[0]}`),
			timeline.OK, "text:1 text:1 empty", "", `{}`, "", ""},
		{"Triton, ids and text", "triton", events1, events(`{"model_name":"m","output_ids":[15339],"text_output":"a"}`, `{"model_name":"m","output_ids":[15],"text_output":""}`), timeline.OK, "text:1 empty", "", `{}`, "a", ""},
		{"Triton, an error", "triton", events1, events(`{"text_output":"a"}`, `{"error":"out of memory"}`), timeline.StreamError, "text error", "", `{}`, "a", "out of memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := ByName(c.api)
			if err != nil {
				t.Fatal(err)
			}
			tl := reply(a, c.contentType, c.body, timeline.EOF)
			for _, words := range []string{want("outcome", tl.Outcome, c.outcome), want("events", kinds(tl), c.kinds),
				want("finish", tl.FinishReason, c.finish), want("usage", jsonOf(tl.Usage), c.usage), want("text", tl.Text, c.text)} {
				if words != "" {
					t.Error(words)
				}
			}
			if rest := jsonlike(tl); !strings.Contains(rest, c.rest) {
				t.Errorf("%s does not have %s", rest, c.rest)
			}
			head := Head{200, map[string][]string{"Content-Type": {c.contentType}}}
			sameReply(t, tl, replay(a, head, single([]byte(c.body)), timeline.EOF))
		})
	}
}

// A conversation with a picture and tools as each vendor has it, by the examples of
// their references.
func TestVendorConversations(t *testing.T) {
	r := func() *Request {
		return &Request{Model: "m", Messages: []Message{
			{Role: "user", Content: "look", Images: []Image{{MIME: "image/png", Data: []byte{1, 2, 3}}}},
			{Role: "assistant", ToolCalls: []ToolCall{{ID: "t1", Type: "function", Function: ToolFunction{Name: "get", Arguments: `{"a":1}`}}}},
			{Role: "tool", ToolCallID: "t1", Content: "found"},
		}}
	}
	for a, want := range map[*API]string{
		Gemini: `{"contents":[{"parts":[{"inlineData":{"data":"AQID","mimeType":"image/png"}},{"text":"look"}],"role":"user"},` +
			`{"parts":[{"functionCall":{"args":{"a":1},"name":"get"}}],"role":"model"},{"parts":[{"functionResponse":{"name":"get","response":{"result":"found"}}}],"role":"user"}]}`,
		Bedrock: `{"messages":[{"content":[{"image":{"format":"png","source":{"bytes":"AQID"}}},{"text":"look"}],"role":"user"},` +
			`{"content":[{"toolUse":{"input":{"a":1},"name":"get","toolUseId":"t1"}}],"role":"assistant"},{"content":[{"toolResult":{"content":[{"text":"found"}],"toolUseId":"t1"}}],"role":"user"}]}`,
	} {
		call, err := a.Build(r())
		if err != nil || string(call.Body) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", a.Name, err, call.Body, want)
		}
	}
}

func TestReadPath(t *testing.T) {
	for _, c := range []struct {
		path, api, model string
		stream, says     bool
	}{
		{"/v1beta/models/gemini-3:streamGenerateContent", "gemini", "gemini-3", true, true},
		{"/v1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent", "gemini", "gemini-3", false, true},
		{"/model/anthropic.claude-v2:1/converse-stream", "bedrock", "anthropic.claude-v2:1", true, true},
		{"/model/m/converse", "bedrock", "m", false, true},
		{"/v2/models/ensemble/generate_stream", "triton", "ensemble", true, true},
		{"/v2/models/ensemble/versions/1/generate", "triton", "ensemble", false, true},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/c:streamRawPredict", "anthropic", "c", true, true},
		{"/v1/projects/p/locations/l/publishers/anthropic/models/c@20260101:rawPredict", "anthropic", "c@20260101", false, true},
		{"/v1/projects/p/locations/l/publishers/mistralai/models/c:streamRawPredict", "openai-chat", "c", true, true},
		{"/v1/projects/p/locations/l/publishers/ai21/models/jamba:rawPredict", "openai-chat", "jamba", false, true},
		{"/ml/v1/text/chat_stream", "openai-chat", "", false, false},
		{"/serving-endpoints/m/invocations", "openai-chat", "", false, false}, // the body tells
		{"/invocations", "openai-chat", "", false, false},
		{"/ml/v1/deployments/d/text/chat", "openai-chat", "", false, false},
		{"/model/us.anthropic.claude-x-v1:0/invoke-with-response-stream", "anthropic", "us.anthropic.claude-x-v1:0", true, true},
		{"/model/anthropic.claude-x/invoke", "anthropic", "anthropic.claude-x", false, true},
		{"/model/meta.llama3/invoke-with-response-stream", "", "", false, false}, // another form
		{"/model/arn:aws:bedrock:us-east-2:1:application-inference-profile/abcd1234/invoke-with-response-stream", "anthropic", "arn:aws:bedrock:us-east-2:1:application-inference-profile/abcd1234", true, true},
		{"/model/arn:aws-us-gov:bedrock:us-gov-west-1:1:provisioned-model/p1/invoke", "anthropic", "arn:aws-us-gov:bedrock:us-gov-west-1:1:provisioned-model/p1", false, true},
		{"/model/arn:aws:bedrock:us-east-2:1:application-inference-profile/abcd1234/converse-stream", "bedrock", "arn:aws:bedrock:us-east-2:1:application-inference-profile/abcd1234", true, true},
		{"/model/arn:aws:bedrock:us-east-2:1:application-inference-profile/abcd1234/async-invoke", "", "", false, false},
		{"/generate_stream", "tgi", "", false, false},
		{"/generate", "sglang", "", false, false},
		{"/v2/chat", "cohere", "", false, false},
		{"/x/v1/chat", "", "", false, false},
	} {
		a := OfPath(c.path)
		if a == nil || c.api == "" {
			if a != nil || c.api != "" {
				t.Errorf("%s is of %+v", c.path, a)
			}
			continue
		}
		model, stream, says := a.ReadPath(c.path)
		if a.Name != c.api || model != c.model || stream != c.stream || says != c.says {
			t.Errorf("%s: %s, %q, stream %v, says %v", c.path, a.Name, model, stream, says)
		}
	}
}

// Ids are tokens, as many as an event has. Source: TensorRT-LLM's tensorrt_llm model in
// Triton, whose output_ids are those of the step.
func TestTritonsIDsAreCounted(t *testing.T) {
	var list []string
	for range 3 {
		list = append(list, `{"model_name":"tensorrt_llm","model_version":"1","output_ids":[5,6,7],"sequence_length":[3]}`)
	}
	tl := reply(Triton, "text/event-stream", events(list...), timeline.EOF)
	if n := idTokens(tl); tl.Outcome != timeline.OK || n != 9 {
		t.Errorf("%s, %v tokens of three times three", tl.Outcome, n)
	}
	tl = reply(Triton, "application/json", `{"model_name":"tensorrt_llm","model_version":"1","output_ids":[1,2,3,4,5,6,7],"sequence_length":[7]}`, timeline.EOF) // unless exclude_input_in_output is set
	if n := idTokens(tl); tl.Outcome != timeline.OK || n != -1 {
		t.Errorf("%s, %v tokens of a whole answer, in which the prompt's may stand, too", tl.Outcome, n)
	}
}

// idTokens adds up what the events say of themselves; -1 where one says nothing.
func idTokens(tl *timeline.Timeline) (n int64) {
	for e := range tl.Events.All() {
		if e.Kind.Bears() {
			if !e.Tokens.OK() {
				return -1
			}
			n += e.Tokens.Or(0)
		}
	}
	return n
}

// Amazon's messages under another content type, or none, are known by the checksum of their
// first bytes, however they are split; other bytes under such a type are none.
func TestAmazonsMessagesUnderAnotherType(t *testing.T) {
	body := amazon("messageStart", `{"role":"assistant"}`, "contentBlockDelta", `{"delta":{"text":"a"}}`, "messageStop", `{"stopReason":"end_turn"}`,
		"metadata", `{"usage":{"inputTokens":5,"outputTokens":1,"totalTokens":6}}`)
	for kind, flagged := range map[string]bool{amazonStream: false, "": false, "application/octet-stream": true, "text/event-stream": true, "application/json": true, "text/plain": true} {
		for _, size := range []int{1, 5, len(body)} {
			head := Head{200, map[string][]string{"Content-Type": {kind}}}
			tl := replay(Bedrock, head, cutBy(body, size), timeline.EOF)
			if tl.Outcome != timeline.OK || tl.Text != "a" || tl.Usage.Input.Or(0) != 5 || tl.Flags.Has(timeline.WrongContentType) != flagged {
				t.Errorf("%q in %d: %s (%v), %q, %v", kind, size, tl.Outcome, tl.Error, tl.Text, tl.Flags.Names())
			}
			if kind != "application/octet-stream" {
				continue
			}
			if tl := replay(Bedrock, head, cutBy("\x00\x00"+body, size), timeline.EOF); tl.Outcome != timeline.BadContentType || tl.Flags != 0 {
				t.Errorf("other bytes in %d: %s (%v), %v", size, tl.Outcome, tl.Error, tl.Flags.Names())
			}
		}
	}
}

// cutBy are reads of so many bytes.
func cutBy(body string, size int) (reads [][]byte) {
	for len(body) > 0 {
		n := min(size, len(body))
		reads, body = append(reads, []byte(body[:n])), body[n:]
	}
	return reads
}
