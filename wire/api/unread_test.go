package api

import (
	"net/http"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// streamOf replays events of an API: server-sent ones, or its own lines.
func streamOf(t *testing.T, name string, events ...string) *timeline.Timeline {
	t.Helper()
	a, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	head, text := http.Header{"Content-Type": {"text/event-stream"}}, "data: "+strings.Join(events, "\n\ndata: ")+"\n\n"
	if a.Framer != nil {
		head.Set("Content-Type", "application/x-ndjson")
		text = strings.Join(events, "\n") + "\n"
	}
	return replay(a, Head{200, head}, [][]byte{[]byte(text)}, timeline.EOF)
}

func wholeOf(t *testing.T, name, body string) *timeline.Timeline {
	t.Helper()
	a, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return replay(a, Head{200, http.Header{"Content-Type": {"application/json"}}}, [][]byte{[]byte(body)}, timeline.EOF)
}

const (
	saysHello = `{"choices":[{"index":0,"delta":{"content":"Hello"}}]}`
	saysStop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done      = "[DONE]"
)

// Text of an answer under a name that no reader knows is told, wherever an API has text.
func TestUnreadTextIsTold(t *testing.T) {
	for _, c := range []struct {
		name, api string
		events    []string
		want      timeline.Unread
	}{
		{"beside the content", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"Hello","musing":"so it is"}}]}`, saysStop, done}, "text:delta.musing"},
		{"word by word", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"a","musing":"so"}}]}`, `{"choices":[{"index":0,"delta":{"content":"a","musing":"it"}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"a","musing":"is"}}]}`, saysStop, done}, "text:delta.musing"},
		{"nothing else", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"choices":[{"index":0,"delta":{"musing":"so"}}]}`, saysStop, done}, "text:delta.musing"},
		{"within an object", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"Hello","musing":{"said":"so it is"}}}]}`, saysStop, done}, "text:musing.said"},
		{"beside the delta", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"Hello"},"said":"so it is"}]}`, saysStop, done}, "text:choices.said"},
		{"a part of a type to come", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Hello"},{"type":"song","song":"la la"}]}}]}`, saysStop, done}, "text:content.song"},
		{"a flat call", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"c1","type":"function","name":"f","args":"{ \"a\": 1 }"}]}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, done}, "text:tool_calls.args"},
		{"events of a gateway's own", "openai-chat", []string{saysHello, `{"musing":"so"}`, `{"musing":"it"}`, `{"musing":"is"}`, saysStop, done}, "text:musing"},
		{"an event of its own, and no finish reason", "openai-chat", []string{saysHello, `{"trouble":"out of memory"}`, done}, "text:trouble"},
		{"another form altogether", "openai-chat", []string{`{"output":{"words":"Hello"}}`, `{"output":{"words":" you"}}`, done}, "text:output.words"},
		{"completions", "openai-completions", []string{`{"choices":[{"index":0,"words":"Hello"}]}`, `{"choices":[{"index":0,"finish_reason":"stop"}]}`, done}, "text:choices.words"},
		{"a delta of a type to come", "anthropic", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"song_delta","song":"la la"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`}, "text:delta.song"},
		{"events of a type to come", "anthropic", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`, `{"type":"song","verse":"la"}`, `{"type":"song","verse":"li"}`, `{"type":"song","verse":"lu"}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`}, "text:verse"},
		{"an item of a type to come", "openai-responses", []string{`{"type":"response.output_text.delta","delta":"Hello"}`, `{"type":"response.output_item.done","item":{"type":"song","id":"i1","status":"completed","verse":"la la"}}`,
			`{"type":"response.completed","response":{"status":"completed"}}`}, "text:item.verse"},
		{"a part", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"Hello"},{"song":{"verse":"la la"}}]},"finishReason":"STOP"}]}`}, "text:song.verse"},
		{"a step's delta", "gemini-interactions", []string{`{"event_type":"step.delta","delta":{"type":"text","text":"Hello"}}`, `{"event_type":"step.delta","delta":{"type":"song","verse":"la la"}}`,
			`{"event_type":"interaction.completed","interaction":{"status":"completed"}}`}, "text:delta.verse"},
		{"a message's member", "cohere", []string{`{"type":"content-delta","delta":{"message":{"content":{"text":"Hello"},"tool_song":"la la"}}}`, `{"type":"message-end","delta":{"finish_reason":"COMPLETE"}}`}, "text:message.tool_song"},
		{"a message's member", "ollama-chat", []string{`{"message":{"role":"assistant","content":"Hello","musing":"so it is"},"done":false}`, `{"done":true,"done_reason":"stop"}`}, "text:message.musing"},
		{"the text of another name", "ollama-generate", []string{`{"model":"m","created_at":"2026-01-01","token":"Hello","done":false}`, `{"done":true,"done_reason":"stop"}`}, "text:token"},
		{"an output of another name", "triton", []string{`{"model_name":"m","model_version":"1","OUTPUT":"Hello"}`}, "text:OUTPUT"},
		{"SGLang's", "sglang", []string{`{"words":"Hello","meta_info":{"id":"1","finish_reason":null}}`, `{"words":"Hello you","meta_info":{"id":"1","finish_reason":{"type":"stop"}}}`, done}, "text:words"},
		{"llama.cpp's", "llamacpp", []string{`{"words":"Hello","stop":false}`, `{"words":"","stop":true,"stop_type":"eos"}`}, "text:words"},
		{"TGI's", "tgi", []string{`{"token":{"id":1,"words":"Hello"}}`, `{"token":{"id":2,"words":" you"},"generated_text":""}`}, "text:token.words"},
	} {
		t.Run(c.api+"/"+c.name, func(t *testing.T) {
			tl := streamOf(t, c.api, c.events...)
			if tl.Unread != c.want || !tl.Flags.Has(timeline.UnreadText) {
				t.Errorf("unread %q, want %q; flags %v, outcome %s, %v", tl.Unread, c.want, tl.Flags.Names(), tl.Outcome, tl.Error)
			}
			if tl.Outcome == timeline.EmptyOutput && !strings.Contains(tl.Error.Message, "text that is not read may be it") {
				t.Errorf("the words blame the server: %s", tl.Error.Message)
			}
		})
	}
}

// Names have no more room in a reply than they are shown with, however long and many.
func TestUnreadNamesHaveABound(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var events []string
	for i := range 100 {
		events = append(events, delta(`"content":"a","`+long+string(rune('a'+i%26))+`":"so it is","`+string(rune('A'+i%26))+`":"so it is"`))
	}
	tl := streamOf(t, "openai-chat", append(events, saysStop, done)...)
	if n := len(tl.Unread); n == 0 || n > 250 {
		t.Errorf("%d bytes of names: %.300s", n, tl.Unread)
	}
}

// Of a reply that was cut off, an event of a gateway's own is no missing answer, and half a
// usage does not have to add up.
func TestUnreadOfACutReply(t *testing.T) {
	body := "data: {\"progress_text\":\"Looking it up\",\"usage\":{\"prompt_tokens\":3,\"dream_tokens\":7}}\n\n"
	for _, more := range []string{"", "data: " + saysHello + "\n\n"} {
		for end, told := range map[timeline.End]bool{timeline.EndRunEnd: false, timeline.EndTimeoutTTFT: false, timeline.Reset: false, timeline.EOF: true} {
			tl := replay(OpenAIChat, Head{200, eventStream}, [][]byte{[]byte(body + more)}, end)
			if (tl.Unread != "") != told {
				t.Errorf("%q, ended by %s: unread %q", more, end, tl.Unread)
			}
		}
	}
}

// A whole reply in another form is told, too.
func TestUnreadTextOfAWholeReply(t *testing.T) {
	for _, c := range []struct {
		name, api, body string
		want            timeline.Unread
	}{
		{"DashScope's own", "openai-chat", `{"output":{"text":"Hello there","finish_reason":"stop"},"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5},"request_id":"r"}`, "text:output.text"},
		{"Cloudflare's own", "openai-chat", `{"result":{"response":"Hello there"},"success":true,"errors":[],"messages":[]}`, "text:result.response"},
		{"a message's member", "openai-chat", `{"choices":[{"message":{"role":"assistant","content":"Hello","musing":"so it is"},"finish_reason":"stop"}]}`, "text:message.musing"},
		{"a block of a type to come", "anthropic", `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"song","verse":"la la"}],"stop_reason":"end_turn"}`, "text:content.verse"},
		{"text among many counts", "openai-chat", `{"choices":[{"message":{"content":""},"finish_reason":"stop"}],"usage":{"a_tokens":1,"b_tokens":1,"c_tokens":1,"d_tokens":1},"result":{"response":"Hello there"}}`,
			"text:result.response count:usage.a_tokens count:usage.b_tokens count:usage.c_tokens"},
		{"Bedrock", "bedrock", `{"output":{"message":{"role":"assistant","content":[{"song":{"verse":"la la"}}]}},"stopReason":"end_turn"}`, "text:song.verse"},
	} {
		if tl := wholeOf(t, c.api, c.body); tl.Unread != c.want {
			t.Errorf("%s: unread %q, want %q (%s)", c.name, tl.Unread, c.want, tl.Outcome)
		}
	}
}

// What only describes an answer is silent, and so are events beside it.
func TestWhatIsNoTextIsNotTold(t *testing.T) {
	for _, c := range []struct {
		name, api string
		events    []string
	}{
		{"a word that stays", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"a","mode":"final"}}]}`, `{"choices":[{"index":0,"delta":{"content":"b","mode":"final"}}]}`, `{"choices":[{"index":0,"delta":{"content":"c","mode":"final"}}]}`, saysStop, done}},
		{"signatures, sources, ids", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"a","reasoning_opaque":"x y","thought_signature":"x y","annotations":[{"url_citation":{"title":"a title","url":"u"}}],"chunk_id":"a b"}}]}`, saysStop, done}},
		{"LiteLLM's copy of Claude's thinking", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"reasoning_content":"I need to "}}]}`, `{"choices":[{"index":0,"delta":{"reasoning_content":"find \"79\"."}}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_content":"","provider_specific_fields":{"thinking_blocks":[{"type":"thinking","thinking":"I need to find \"79\".","signature":"EqQB"}]},"content":""}}]}`, saysHello, saysStop, done}},
		{"Portkey's copy of Gemini's text", "openai-chat", []string{`{"choices":[{"index":0,"delta":{"content":"Hello ","content_blocks":[{"index":0,"delta":{"text":"Hello "}}]}}]}`, `{"choices":[{"index":0,"delta":{"content":"there ","content_blocks":[{"index":0,"delta":{"text":"there "}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"}]}`, done}},
		{"and in its Responses", "openai-responses", []string{`{"type":"response.reasoning_text.delta","output_index":0,"delta":"I need to "}`, `{"type":"response.reasoning_text.delta","output_index":0,"delta":"find it."}`, `{"type":"response.output_text.delta","output_index":1,"delta":"Hello"}`,
			`{"type":"response.content_part.done","output_index":0,"part":{"type":"reasoning_text","reasoning":"I need to find it."}}`, `{"type":"response.completed","response":{"status":"completed"}}`}},
		{"the stop string that was asked for", "openai-chat", []string{saysHello, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","matched_stop":"the end"}]}`, done}},
		{"what was searched for", "openai-chat", []string{saysHello, `{"search_results":[{"title":"a b","snippet":"c d"}]}`, `{"status_text":"Searching the web"}`, saysStop, done}},
		{"results of tools", "anthropic", []string{`{"type":"content_block_start","index":0,"content_block":{"content":[{"title":"a b","page_text":"c d"}],"tool_use_id":"t","type":"web_search_tool_result"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`}},
		{"an answer without a word", "openai-chat", []string{`{"id":"x","object":"chat.completion.chunk","model":"m","provider":"P","choices":[{"index":0,"delta":{"role":"assistant","content":""},"native_finish_reason":"end of it"}]}`, saysStop, done}},
		{"why an answer of nothing but reasoning ended (vercel/ai#18872)", "openai-responses", []string{`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","status":"in_progress","summary":[]}}`,
			`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":1,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":2}}}`}},
		{"an error", "openai-chat", []string{`{"error":{"message":"it is out of memory","hint":"ask for less"}}`, done}},
	} {
		if tl := streamOf(t, c.api, c.events...); tl.Unread != "" || tl.Flags.Has(timeline.UnreadText) {
			t.Errorf("%s: unread %q (%s)", c.name, tl.Unread, tl.Outcome)
		}
	}
}

// Counts that are not read are told where the others do not add up, and finish reasons
// by their name.
func TestUnreadCountsAndFinishReasons(t *testing.T) {
	for _, c := range []struct {
		name, api string
		events    []string
		want      timeline.Unread
	}{
		{"a surplus", "openai-chat", []string{saysHello, saysStop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":12,"dream_tokens":7}}`, done}, "count:usage.dream_tokens"},
		{"no surplus", "openai-chat", []string{saysHello, saysStop, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"dream_tokens":7}}`, done}, ""},
		{"other names of the counts", "openai-chat", []string{saysHello, saysStop, `{"choices":[],"usage":{"tokens_in":3,"tokens_out":2}}`, done}, "count:usage.tokens_in count:usage.tokens_out"},
		{"an object of another name", "openai-chat", []string{saysHello, saysStop, `{"choices":[],"consumption":{"in_tokens":3,"out_tokens":2}}`, done}, "count:consumption.in_tokens count:consumption.out_tokens"},
		{"speeds are no counts", "openai-chat", []string{saysHello, saysStop, `{"choices":[],"consumption":{"tokens_per_s":30,"max_tokens":2}}`, done}, ""},
		{"Google's", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":12,"dreamTokenCount":7}}`}, "count:usage.dreamTokenCount"},
		{"a reason of a vendor's", "openai-chat", []string{saysHello, `{"choices":[{"index":0,"delta":{},"finish_reason":"gave up\n"}]}`, done}, "finish:gave?up?"},
		{"a new one of Anthropic's", "anthropic", []string{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`, `{"type":"message_delta","delta":{"stop_reason":"bored"}}`, `{"type":"message_stop"}`}, "finish:bored"},
		{"Google's by number", "gemini", []string{`{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":17}]}`}, ""},
	} {
		tl := streamOf(t, c.api, c.events...)
		if tl.Unread != c.want || tl.Outcome != timeline.OK {
			t.Errorf("%s: unread %q, want %q (%s, %v)", c.name, tl.Unread, c.want, tl.Outcome, tl.Error)
		}
	}
}
