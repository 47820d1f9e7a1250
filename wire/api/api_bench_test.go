package api

import (
	"net/http"
	"slices"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

var eventStream = http.Header{"Content-Type": {"text/event-stream"}}

// typicalChunks are one token's event of each server, as they send it.
var typicalChunks = []struct{ name, api, chunk string }{
	{"openai", "openai-chat", `{"id":"chatcmpl-9aBcDeFgHiJkLmNoPqRsTuVwXyZ01","object":"chat.completion.chunk","created":1795821382,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x9Kq"}`},
	{"llama.cpp", "openai-chat", `{"choices":[{"finish_reason":null,"index":0,"delta":{"content":" the"}}],"created":1795821382,"id":"chatcmpl-bzhAfgrrZC51BbyOAtX31pkLZfUyMlad","model":"tiny","system_fingerprint":"b1-80fb11a","object":"chat.completion.chunk"}`},
	{"vLLM", "openai-chat", `{"id":"chatcmpl-0f8fad5bd9cb469fa16570867728950e","object":"chat.completion.chunk","created":1795821382,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":512,"total_tokens":540,"completion_tokens":28}}`},
	{"realtime, sound", "realtime", `{"type":"response.output_audio.delta","event_id":"event_C1PSbgRcmpFNgcA6gxET","response_id":"resp_C1PSbsyhar4EpjNZg9fkB","item_id":"item_C1PSbur7hgTONg4H8lKhl","output_index":0,"content_index":0,"delta":"AAABAA=="}`},
	{"realtime", "realtime", `{"type":"response.output_text.delta","event_id":"event_C1PSbgRcmpFNgcA6gxET","response_id":"resp_C1PSbsyhar4EpjNZg9fkB","item_id":"item_C1PSbur7hgTONg4H8lKhl","output_index":0,"content_index":0,"delta":" token"}`},
	{"responses", "openai-responses", `{"type":"response.output_text.delta","sequence_number":14,"item_id":"msg_0f8fad5bd9cb469fa16570867728950e","output_index":0,"content_index":0,"delta":" token","logprobs":[],"obfuscation":"k9"}`},
	{"anthropic", "anthropic", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}}`},
	{"ollama", "ollama-chat", `{"model":"talk","created_at":"2026-11-27T23:16:44.194857791Z","message":{"role":"assistant","content":" token"},"done":false}`},
	{"generate", "ollama-generate", `{"model":"talk","created_at":"2026-11-27T23:16:44.070705241Z","response":" token","done":false}`},
	{"native", "llamacpp", `{"index":0,"content":" the","tokens":[389],"stop":false,"id_slot":-1,"tokens_predicted":2,"tokens_evaluated":2,"timings":{"cache_n":1,"prompt_n":1,"prompt_ms":0.586,"prompt_per_token_ms":0.586,"prompt_per_second":1706.4846416382254,"predicted_n":2,"predicted_ms":0.426,"predicted_per_token_ms":0.426,"predicted_per_second":2347.4178403755868}}`},
	{"TGI", "tgi", `{"index":12,"token":{"id":5,"text":" token","logprob":-0.1015625,"special":false},"generated_text":null,"details":null}`},
	{"SGLang", "sglang", `{"text":" token","output_ids":[5],"meta_info":{"id":"0f8fad5bd9cb469fa16570867728950e","finish_reason":null,"prompt_tokens":5,"weight_version":"default","completion_tokens":1,"cached_tokens":0}}`},
	{"Gemini", "gemini", `{"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":264,"candidatesTokenCount":12,"totalTokenCount":276,"promptTokensDetails":[{"modality":"TEXT","tokenCount":6},{"modality":"IMAGE","tokenCount":258}]},"modelVersion":"gemini-3-pro","responseId":"mAitaLmkHPPlz7IPvtfUqQ4"}`},
	{"Interactions", "gemini-interactions", `{"event_type":"step.delta","index":0,"delta":{"type":"text","text":" token"},"event_id":"evt_223"}`},
	{"Converse", "bedrock", `{"contentBlockIndex":0,"delta":{"text":" token"},"p":"abcdefghijklmnopqrstuvwxyzABCD"}`},
	{"Cohere", "cohere", `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":" token"}}}}`},
	{"Triton", "triton", `{"model_name":"ensemble","model_version":"1","sequence_end":false,"sequence_id":0,"sequence_start":false,"text_output":" token"}`},
	{"transcription", "transcription", `{"type":"transcript.text.delta","delta":" token"}`},
	{"completions", "openai-completions", `{"id":"cmpl-0f8fad5bd9cb469fa16570867728950e","object":"text_completion","created":1795821382,"model":"m","choices":[{"text":" part","index":0,"logprobs":null,"finish_reason":null}]}`},
}

func BenchmarkChunk(b *testing.B) {
	for _, c := range typicalChunks {
		b.Run(c.name, func(b *testing.B) {
			s := benchStream(c.api)
			e := framing.Event{Data: []byte(c.chunk)}
			b.SetBytes(int64(len(c.chunk)))
			b.ReportAllocs()
			for b.Loop() {
				s.decoder.read(e, s)
				s.decoder.apply(e, s)
				s.tl.Events.Reset()
			}
		})
	}
}

// BenchmarkStream is a whole reply of 200 tokens, one read each, per token.
func BenchmarkStream(b *testing.B) {
	chunk := []byte("data: " + typicalChunks[0].chunk + "\n\n")
	end := []byte("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	tl := timeline.New()
	b.ReportAllocs()
	for b.Loop() {
		events := tl.Events
		events.Reset()
		*tl = timeline.Timeline{Events: events}
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(100, Head{200, eventStream})
		for i := range int64(200) {
			s.Read(200+i, 0, chunk)
		}
		s.Read(401, 0, end)
		s.End(401, timeline.EOF, nil, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/token")
}

func benchStream(name string) *Stream {
	a, err := ByName(name)
	if err != nil {
		panic(err)
	}
	s := NewStream(timeline.New(), a, StreamOptions{})
	s.Head(0, Head{200, eventStream})
	if a.Framer != nil {
		s.form = native
	}
	s.start([]byte("d"))
	return s
}

// No chunk allocates, whatever the API.
func TestChunksAllocateNothing(t *testing.T) {
	for _, a := range All {
		if !a.Product().Wordless() && !slices.ContainsFunc(typicalChunks, func(c struct{ name, api, chunk string }) bool { return c.api == a.Name }) {
			t.Errorf("%s has no chunk here", a.Name)
		}
	}
	for _, c := range typicalChunks {
		s := benchStream(c.api)
		data := []byte("data: " + c.chunk + "\n\n")
		if s.form == lines || s.form == native {
			data = []byte(c.chunk + "\n")
		}
		at := int64(0)
		run := func() {
			at++
			s.Read(at, 0, data)
			if at%100 == 0 {
				s.tl.Events.Reset()
			}
		}
		for range 200 {
			run()
		}
		if n := testing.AllocsPerRun(500, run); n != 0 {
			t.Errorf("%s: %v allocations a chunk", c.name, n)
		}
		if !s.HasToken() {
			t.Errorf("%s: the chunk bears no token", c.name)
		}
	}
}
