package api

import (
	"encoding/json"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// delta is a chunk that adds the given members to the answer.
func delta(members string) string { return `{"choices":[{"index":0,"delta":{` + members + `}}]}` }

// Usage as vendors and gateways send it: what it means is theirs, told in their
// documents and bug reports; the sums are done by hand.
func TestUsageOfVendors(t *testing.T) {
	for _, c := range []struct {
		name, api string
		usages    []string // each in an event of its own, after one token
		want      string
	}{
		// Reasoning beside the answer.
		{"xAI: 279 + 6 + 89 = 374", "openai-chat", []string{`{"prompt_tokens":279,"completion_tokens":6,"total_tokens":374,"prompt_tokens_details":{"cached_tokens":149},"completion_tokens_details":{"reasoning_tokens":89}}`},
			`{"input":279,"cached":149,"output":95,"reasoning":89,"total":374}`},
		{"xAI: 10120 + 1499 + 2809 = 14428", "openai-chat", []string{`{"prompt_tokens":10120,"completion_tokens":1499,"total_tokens":14428,"prompt_tokens_details":{"cached_tokens":128},"completion_tokens_details":{"reasoning_tokens":2809}}`},
			`{"input":10120,"cached":128,"output":4308,"reasoning":2809,"total":14428}`},
		{"OpenAI: reasoning within the answer", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":100,"total_tokens":120,"completion_tokens_details":{"reasoning_tokens":64}}`},
			`{"input":20,"output":100,"reasoning":64,"total":120}`},
		{"Perplexity: more reasoning than answer, in no total", "openai-chat", []string{`{"prompt_tokens":33,"completion_tokens":7163,"total_tokens":7196,"citation_tokens":19028,"num_search_queries":18,"reasoning_tokens":73029}`},
			`{"input":33,"output":80192,"reasoning":73029,"total":7196}`},
		{"Gemini: only the total knows", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":198,"total_tokens":623}`},
			`{"input":20,"output":198,"total":623}`}, // 405 hidden: see package metric
		{"Responses of a gateway over Gemini", "openai-responses", []string{`{"input_tokens":20,"output_tokens":198,"total_tokens":623,"output_tokens_details":{"reasoning_tokens":405}}`},
			`{"input":20,"output":603,"reasoning":405,"total":623}`},

		// The cache beside the prompt.
		{"Portkey: 368 + 10536 + 19 = 10923", "openai-chat", []string{`{"prompt_tokens":368,"completion_tokens":19,"total_tokens":10923,"cache_read_input_tokens":10536,"cache_creation_input_tokens":0}`},
			`{"input":10904,"cached":10536,"cache_write":0,"output":19,"total":10923}`},
		{"a small part of the prompt read, a part written", "openai-chat", []string{`{"prompt_tokens":9000,"completion_tokens":19,"total_tokens":13019,"cache_read_input_tokens":3000,"cache_creation_input_tokens":1000}`},
			`{"input":13000,"cached":3000,"cache_write":1000,"output":19,"total":13019}`},
		{"more read than the prompt has, no total", "openai-chat", []string{`{"prompt_tokens":12,"completion_tokens":5,"cache_read_input_tokens":8000,"cache_creation_input_tokens":4000}`},
			`{"input":12012,"cached":8000,"cache_write":4000,"output":5}`},
		{"LiteLLM: both within the prompt, told twice", "openai-chat", []string{`{"prompt_tokens":12012,"completion_tokens":5,"total_tokens":12017,"prompt_tokens_details":{"cached_tokens":8000,"cache_write_tokens":4000},"cache_read_input_tokens":8000,"cache_creation_input_tokens":4000}`},
			`{"input":12012,"cached":8000,"cache_write":4000,"output":5,"total":12017}`},
		{"Mistral: beside the details", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"num_cached_tokens":16}`}, `{"input":20,"cached":16,"output":5,"total":25}`},
		{"GigaChat: cached ones are not billed, so beside", "openai-chat", []string{`{"prompt_tokens":1,"completion_tokens":4,"precached_prompt_tokens":37,"total_tokens":5}`}, `{"input":38,"cached":37,"output":4,"total":42}`},
		// Sber's OpenAPI of POST /chat/completions: prompt 55, completion 30, total 85, precached 4, all but the last after the subtraction of it.
		{"GigaChat: few cached ones", "openai-chat", []string{`{"prompt_tokens":55,"completion_tokens":30,"precached_prompt_tokens":4,"total_tokens":85}`}, `{"input":59,"cached":4,"output":30,"total":89}`},
		// Roo-Code, src/api/providers/__tests__/requesty.spec.ts.
		{"Requesty: its cache writes", "openai-chat", []string{`{"prompt_tokens":1000,"completion_tokens":20,"total_tokens":1020,"prompt_tokens_details":{"caching_tokens":500,"cached_tokens":200}}`}, `{"input":1000,"cached":200,"cache_write":500,"output":20,"total":1020}`},
		{"Snowflake: its guard explains the surplus (snowflake-core 1.14.0, Usage)", "openai-chat", []string{`{"prompt_tokens":12,"completion_tokens":6,"guard_tokens":20,"total_tokens":38}`}, `{"input":32,"output":6,"total":38}`},
		{"Alibaba's Responses: a session cache (Model Studio, Context cache)", "openai-responses", []string{`{"input_tokens":1524,"input_tokens_details":{"cached_tokens":1305},"output_tokens":1534,"output_tokens_details":{"reasoning_tokens":1187},"total_tokens":3058,"x_details":[{"input_tokens":1524,"output_tokens":1534,"prompt_tokens_details":{"cache_creation":{"ephemeral_5m_input_tokens":213},"cache_creation_input_tokens":213,"cache_type":"ephemeral","cached_tokens":1305},"total_tokens":3058,"x_billing_type":"response_api"}]}`},
			`{"input":1524,"cached":1305,"cache_write":213,"output":1534,"reasoning":1187,"total":3058}`},
		{"Inception: beside the details", "openai-chat", []string{`{"prompt_tokens":100,"reasoning_tokens":0,"completion_tokens":5,"total_tokens":105,"cached_input_tokens":64}`}, `{"input":100,"cached":64,"output":5,"reasoning":0,"total":105}`},
		{"Writer: one letter less", "openai-chat", []string{`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_token_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":8}}`}, `{"input":100,"cached":64,"output":20,"reasoning":8,"total":120}`},
		{"DeepSeek: hit and miss make the prompt", "openai-chat", []string{`{"prompt_tokens":300,"completion_tokens":10,"total_tokens":310,"prompt_cache_hit_tokens":256,"prompt_cache_miss_tokens":44}`},
			`{"input":300,"cached":256,"output":10,"total":310}`},
		{"Anthropic: always beside", "anthropic", []string{`{"input_tokens":12,"output_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":2}`},
			`{"input":24,"cached":10,"cache_write":2,"output":5}`},
		{"Anthropic: written for an hour", "anthropic", []string{`{"input_tokens":2048,"cache_read_input_tokens":1800,"cache_creation_input_tokens":248,"output_tokens":503,"cache_creation":{"ephemeral_5m_input_tokens":148,"ephemeral_1h_input_tokens":100}}`},
			`{"input":4096,"cached":1800,"cache_write":248,"cache_write_1h":100,"output":503}`},
		{"Anthropic: told twice, the end has no details", "anthropic", []string{`{"input_tokens":10,"cache_creation_input_tokens":50,"output_tokens":1,"cache_creation":{"ephemeral_1h_input_tokens":50,"ephemeral_5m_input_tokens":0}}`, `{"output_tokens":7,"cache_creation":null}`},
			`{"input":60,"cache_write":50,"cache_write_1h":50,"output":7}`},
		{"LiteLLM: written for an hour", "openai-chat", []string{`{"prompt_tokens":12012,"completion_tokens":5,"total_tokens":12017,"prompt_tokens_details":{"cached_tokens":8000,"cache_creation_tokens":4000,"cache_creation_token_details":{"ephemeral_5m_input_tokens":1000,"ephemeral_1h_input_tokens":3000}}}`},
			`{"input":12012,"cached":8000,"cache_write":4000,"cache_write_1h":3000,"output":5,"total":12017}`},

		// QuantumNous/new-api: dto.InputTokenDetails and dto.Usage; TestBuildOpenAIStyleUsageFromClaudeUsage; before that the cache was beside the prompt.
		{"new-api: written for an hour", "openai-chat", []string{`{"prompt_tokens":10520,"completion_tokens":16,"total_tokens":10536,"prompt_tokens_details":{"cached_tokens":0,"cached_creation_tokens":10500},"claude_cache_creation_5_m_tokens":0,"claude_cache_creation_1_h_tokens":10500}`},
			`{"input":10520,"cached":0,"cache_write":10500,"cache_write_1h":10500,"output":16,"total":10536}`},
		{"new-api: 100 + 30 + 50", "openai-chat", []string{`{"prompt_tokens":180,"completion_tokens":20,"total_tokens":200,"prompt_tokens_details":{"cached_tokens":30,"cached_creation_tokens":50}}`},
			`{"input":180,"cached":30,"cache_write":50,"output":20,"total":200}`},
		{"new-api, before: beside the prompt", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":16,"total_tokens":36,"prompt_tokens_details":{"cached_tokens":10000,"cached_creation_tokens":500}}`},
			`{"input":10520,"cached":10000,"cache_write":500,"output":16,"total":36}`},
		// maximhq/bifrost core/schemas, ChatCachedWriteTokenDetails.
		{"Bifrost: written for an hour", "openai-chat", []string{`{"prompt_tokens":10520,"completion_tokens":16,"total_tokens":10536,"prompt_tokens_details":{"cache_write_tokens":10500,"cached_write_tokens":10500,"cached_write_token_details":{"cached_write_tokens_5m":0,"cached_write_tokens_1h":10500}}}`},
			`{"input":10520,"cache_write":10500,"cache_write_1h":10500,"output":16,"total":10536}`},

		// Numbers in quotes, as protobuf's JSON writes those of 64 bits.
		{"in quotes", "openai-chat", []string{`{"prompt_tokens":"12","completion_tokens":"5","total_tokens":"17","prompt_tokens_details":{"cached_tokens":"8"}}`}, `{"input":12,"cached":8,"output":5,"total":17}`},
		{"Anthropic's in quotes", "anthropic", []string{`{"input_tokens":"12","output_tokens":"5","cache_read_input_tokens":"10"}`}, `{"input":22,"cached":10,"output":5}`},
		{"a part in quotes", "openai-chat", []string{`{"prompt_tokens":"20","completion_tokens":"30","total_tokens":"117","tool_use_prompt_tokens":"67"}`}, `{"input":87,"output":30,"total":117}`},
		{"fractions that are whole", "openai-chat", []string{`{"prompt_tokens":12.0,"completion_tokens":5.0,"total_tokens":1.7e1}`}, `{"input":12,"output":5,"total":17}`},
		{"texts that are no counts", "openai-chat", []string{`{"prompt_tokens":"","completion_tokens":"5","total_tokens":"many","prompt_tokens_details":{"cached_tokens":"-3"},"completion_tokens_details":{"reasoning_tokens":"1.5"}}`}, `{"output":5}`},

		// Other parts of a prompt beside it.
		{"tools' prompts", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":30,"total_tokens":117,"tool_use_prompt_tokens":67}`},
			`{"input":87,"output":30,"total":117}`},
		// google-genai 1.55.0, _interactions/types/usage.py; later total_thought_tokens.
		{"tools' prompts, Google's Interactions as first released", "openai-chat", []string{`{"total_input_tokens":7,"total_output_tokens":20,"total_reasoning_tokens":22,"total_tool_use_tokens":10,"total_tokens":59}`},
			`{"input":17,"output":42,"reasoning":22,"total":59}`},
		{"pictures and reasoning", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":30,"total_tokens":408,"prompt_tokens_details":{"image_tokens":258},"completion_tokens_details":{"reasoning_tokens":100,"image_tokens":0}}`},
			`{"input":278,"output":130,"reasoning":100,"total":408,"media":258}`},
		{"pictures within the prompt", "openai-chat", []string{`{"prompt_tokens":278,"completion_tokens":30,"total_tokens":308,"prompt_tokens_details":{"image_tokens":258,"audio_tokens":0}}`},
			`{"input":278,"output":30,"total":308,"media":258}`},
		// https://docs.mistral.ai/capabilities/audio_transcription: 203 s of sound, of 2,625 tokens.
		{"Mistral: sound in seconds, its tokens in the total alone", "openai-chat", []string{`{"prompt_audio_seconds":203,"prompt_tokens":4,"total_tokens":3264,"completion_tokens":635}`},
			`{"input":2629,"output":635,"total":3264}`},
		{"Mistral: no sound", "openai-chat", []string{`{"prompt_audio_seconds":0,"prompt_tokens":20,"total_tokens":623,"completion_tokens":198}`, `{"prompt_audio_seconds":null}`, `{"prompt_audio_seconds":{}}`},
			`{"input":20,"output":198,"total":623}`},
		{"sound in seconds and in tokens, all counted", "openai-chat", []string{`{"prompt_audio_seconds":2.5,"prompt_tokens":40,"total_tokens":70,"completion_tokens":30,"prompt_tokens_details":{"audio_tokens":32}}`},
			`{"input":40,"output":30,"total":70}`},
		{"sound spoken", "openai-chat", []string{`{"prompt_tokens":20,"completion_tokens":30,"total_tokens":90,"completion_tokens_details":{"audio_tokens":40}}`},
			`{"input":20,"output":70,"total":90}`},

		// Counts never fall.
		{"zeros after the real ones", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":30,"total_tokens":39}`, `{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`},
			`{"input":9,"output":30,"total":39}`},
		{"zeros before", "openai-chat", []string{`{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`, `{"prompt_tokens":9,"completion_tokens":30,"total_tokens":39}`},
			`{"input":9,"output":30,"total":39}`},
		{"a smaller count at the end", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":30}`, `{"prompt_tokens":9,"completion_tokens":1}`}, `{"input":9,"output":30}`},
		{"cached tokens that go away", "openai-chat", []string{`{"prompt_tokens":900,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":512}}`, `{"prompt_tokens":900,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":0}}`},
			`{"input":900,"cached":512,"output":4}`},
		{"Responses: zeros within the last event", "openai-responses", []string{`{"input_tokens":9,"output_tokens":3}`, `{"input_tokens":0,"output_tokens":4}`}, `{"input":9,"output":4}`},
		{"no prompt has no tokens", "openai-chat", []string{`{"prompt_tokens":0,"completion_tokens":4,"total_tokens":4}`}, `{"output":4,"total":4}`},
		{"MiniMax: a total of zero in each chunk", "openai-chat", []string{`{"total_tokens":0,"total_characters":0}`, `{"prompt_tokens":40,"completion_tokens":7,"total_tokens":47,"total_characters":0}`},
			`{"input":40,"output":7,"total":47}`},

		{"predictions", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":13,"total_tokens":22,"completion_tokens_details":{"accepted_prediction_tokens":2,"rejected_prediction_tokens":10}}`},
			`{"input":9,"output":13,"rejected":10,"total":22}`},
		{"rejected ones beside the answer, in the total", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":13,"total_tokens":32,"completion_tokens_details":{"accepted_prediction_tokens":2,"rejected_prediction_tokens":10}}`},
			`{"input":9,"output":23,"rejected":10,"total":32}`},
		{"more rejected than answer, no total", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":3,"completion_tokens_details":{"rejected_prediction_tokens":10}}`},
			`{"input":9,"output":13,"rejected":10}`},
		{"rejected ones and reasoning beside the answer", "openai-chat", []string{`{"prompt_tokens":9,"completion_tokens":13,"total_tokens":62,"completion_tokens_details":{"reasoning_tokens":30,"rejected_prediction_tokens":10}}`},
			`{"input":9,"output":53,"reasoning":30,"rejected":10,"total":62}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := ByName(c.api)
			chunks := []string{content("a")}
			wrap := func(u string) string { return `{"choices":[],"usage":` + u + `}` }
			switch c.api {
			case "anthropic":
				chunks = []string{`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`}
				wrap = func(u string) string { return `{"type":"message_delta","delta":{},"usage":` + u + `}` }
			case "openai-responses":
				chunks = []string{`{"type":"response.output_text.delta","delta":"a"}`}
				wrap = func(u string) string { return `{"type":"response.in_progress","response":{"usage":` + u + `}}` }
			}
			for _, u := range c.usages {
				chunks = append(chunks, wrap(u))
			}
			tl := reply(a, "text/event-stream", events(append(chunks, "[DONE]")...), timeline.EOF)
			got, _ := json.Marshal(tl.Usage)
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Anthropic's counts: message_start has the input, message_delta may repeat it
// as 0.
func TestAnthropicCountsNeverFall(t *testing.T) {
	for _, c := range [][3]string{
		{`{"input_tokens":25,"output_tokens":1}`, `{"input_tokens":0,"output_tokens":15}`, `{"input":25,"output":15}`},
		{`{"input_tokens":25,"cache_read_input_tokens":100,"output_tokens":1}`, `{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":15}`, `{"input":125,"cached":100,"output":15}`},
		{`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":40,"output_tokens":15}`, `{"input":40,"output":15}`},
		{`{"input_tokens":7,"output_tokens":40}`, `{"output_tokens":2}`, `{"input":7,"output":2}`}, // the first is provisional

		// Gateways that begin with the whole prompt: Qwen, Kimi, DashScope.
		{`{"input_tokens":8834,"output_tokens":0}`, `{"input_tokens":18,"output_tokens":426,"cache_creation_input_tokens":0,"cache_read_input_tokens":8831}`,
			`{"input":8849,"cached":8831,"cache_write":0,"output":426}`},
		{`{"input_tokens":8834,"output_tokens":0}`, `{"input_tokens":18,"output_tokens":426,"cache_read_input_tokens":8800}`, `{"input":8818,"cached":8800,"output":426}`},
		{`{"input_tokens":3602,"output_tokens":0}`, `{"cache_creation_input_tokens":0,"cache_read_input_tokens":3604,"prompt_tokens_details":{"cached_tokens":3604},"output_tokens":878}`,
			`{"input":3604,"cached":3604,"cache_write":0,"output":878}`},
		{`{"input_tokens":3602,"output_tokens":0}`, `{"cache_read_input_tokens":1000,"output_tokens":8}`, `{"input":3602,"cached":1000,"output":8}`},
		{`{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":4522,"cache_creation_input_tokens":4511,"output_tokens":5}`, `{"input":9033,"cache_write":4511,"output":5}`},
		// An estimate of the prompt before anything is answered, the count at the end: Ollama's (anthropic/anthropic.go,
		// StreamConverter) and new-api's (service/convert.go, StreamResponseOpenAI2Claude). A 0 at the end is none.
		{`{"input_tokens":30,"output_tokens":0}`, `{"input_tokens":20,"output_tokens":16}`, `{"input":20,"output":16}`},
		{`{"input_tokens":30,"output_tokens":0}`, `{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":16}`, `{"input":20,"cached":0,"cache_write":0,"output":16}`},
		{`{"input_tokens":20,"output_tokens":0}`, `{"input_tokens":30,"output_tokens":16}`, `{"input":30,"output":16}`},
		{`{"input_tokens":30,"output_tokens":0}`, `{"input_tokens":0,"output_tokens":16}`, `{"input":30,"output":16}`},
		{`{"input_tokens":30,"cache_read_input_tokens":8,"output_tokens":0}`, `{"input_tokens":20,"output_tokens":16}`, `{"input":38,"cached":8,"output":16}`},
		// The same with a cache of 0 at first (maximhq/bifrost#5354, Kimi): a prompt of 20000, of which 500 were fresh.
		{`{"input_tokens":20000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}`, `{"input_tokens":500,"cache_creation_input_tokens":0,"cache_read_input_tokens":19500,"output_tokens":3}`,
			`{"input":20000,"cached":19500,"cache_write":0,"output":3}`},
		{`{"input_tokens":20000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}`, `{"cache_read_input_tokens":19500,"output_tokens":3}`,
			`{"input":20000,"cached":19500,"output":3}`},
		{`{"input_tokens":20100,"cache_read_input_tokens":0,"output_tokens":1}`, `{"input_tokens":500,"cache_read_input_tokens":19500,"output_tokens":3}`, `{"input":20000,"cached":19500,"output":3}`},
		{`{"input_tokens":3602,"cache_read_input_tokens":0,"output_tokens":1}`, `{"input_tokens":0,"cache_read_input_tokens":3604,"output_tokens":3}`, `{"input":3604,"cached":3604,"output":3}`},
		{`{"input_tokens":25,"output_tokens":1}`, `{"input_tokens":10,"cache_read_input_tokens":0,"output_tokens":15}`, `{"input":25,"cached":0,"output":15}`},
		// OpenAI's names beside Anthropic's say that the cache is within: Kimi as reported (bifrost#5510), and the forms of sub2api's tests.
		{`{"input_tokens":173306,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"prompt_tokens":173306,"cached_tokens":0}`,
			`{"input_tokens":250,"cache_read_input_tokens":173056,"output_tokens":166,"prompt_tokens":173306,"completion_tokens":166,"total_tokens":173472,"cached_tokens":173056}`,
			`{"input":173306,"cached":173056,"output":166,"total":173472}`},
		{`{"output_tokens":0}`, `{"input_tokens":0,"prompt_tokens":173306,"cached_tokens":173306,"output_tokens":5}`, `{"input":173306,"cached":173306,"output":5}`},
		{`{"input_tokens":173306,"output_tokens":0}`, `{"input_tokens":0,"prompt_tokens":173306,"cached_tokens":173306,"output_tokens":5}`, `{"input":173306,"cached":173306,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":173306,"cache_read_input_tokens":173056,"prompt_tokens":173306,"cached_tokens":173056,"output_tokens":5}`, `{"input":173306,"cached":173056,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":1200,"prompt_tokens":1200,"prompt_tokens_details":{"cached_tokens":800},"output_tokens":5}`, `{"input":1200,"cached":800,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":1200,"prompt_cache_hit_tokens":800,"prompt_cache_miss_tokens":400,"output_tokens":5}`, `{"input":1200,"cached":800,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":400,"prompt_tokens":1200,"prompt_cache_hit_tokens":800,"prompt_cache_miss_tokens":400,"output_tokens":5}`, `{"input":1200,"cached":800,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":1000,"prompt_cache_hit_tokens":200,"prompt_cache_miss_tokens":1000,"output_tokens":5}`, `{"input":1200,"cached":200,"output":5}`},
		{`{"output_tokens":0}`, `{"input_tokens":400,"prompt_cache_hit_tokens":800,"cache_read_input_tokens":800,"output_tokens":5}`, `{"input":1200,"cached":800,"output":5}`},
		{`{"input_tokens":1200,"cached_tokens":800,"cache_read_input_tokens":0,"output_tokens":0}`, `{"output_tokens":5}`, `{"input":1200,"cached":800,"output":5}`},
		{`{"prompt_tokens":1200,"cached_tokens":800,"cache_creation_input_tokens":100,"output_tokens":0}`, `{"output_tokens":5}`, `{"input":1200,"cached":800,"cache_write":100,"output":5}`},
		// new-api as recorded, before an OpenAI-compatible server: the whole prompt is in the original usage, be input_tokens
		// the whole or the rest; Claude's own (semantic anthropic) has none of it and is beside.
		{`{"input_tokens":400,"output_tokens":0,"claude_cache_creation_5_m_tokens":0,"claude_cache_creation_1_h_tokens":0}`,
			`{"input_tokens":1984,"cache_creation_input_tokens":0,"cache_read_input_tokens":1536,"output_tokens":312,"billing_usage":{"source":"oai_chat","semantic":"openai","openai_usage":{"prompt_tokens":1984,"completion_tokens":312,"total_tokens":2296,"prompt_tokens_details":{"cached_tokens":1536},"completion_tokens_details":{"text_tokens":0,"reasoning_tokens":289}}}}`,
			`{"input":1984,"cached":1536,"cache_write":0,"cache_write_1h":0,"output":312,"reasoning":289}`},
		{`{"input_tokens":400,"output_tokens":0}`, `{"input_tokens":78,"cache_read_input_tokens":1024,"output_tokens":12,"billing_usage":{"semantic":"openai","openai_usage":{"prompt_tokens":1102,"completion_tokens":12,"prompt_tokens_details":{"cached_tokens":1024}}}}`,
			`{"input":1102,"cached":1024,"output":12}`},
		{`{"input_tokens":400,"output_tokens":0}`, `{"input_tokens":1984,"cache_read_input_tokens":1536,"output_tokens":12,"billing_usage":{"semantic":"anthropic","claude_usage":{"input_tokens":1984,"cache_read_input_tokens":1536,"output_tokens":12}}}`,
			`{"input":3520,"cached":1536,"output":12}`},
		{`{"output_tokens":0}`, `{"input_tokens":6430,"cache_read_input_tokens":2304,"output_tokens":5}`, `{"input":8734,"cached":2304,"output":5}`},
		// A context that was summarised first stands in its own pass (Anthropic's guide, compaction):
		// 180000 + 23000 read, 3500 + 1000 written, of which 3500 are no answer. Passes of the message are in its counts.
		{`{"input_tokens":23000,"output_tokens":1}`, `{"input_tokens":23000,"output_tokens":1000,"iterations":[{"type":"compaction","input_tokens":180000,"output_tokens":3500},{"type":"message","input_tokens":23000,"output_tokens":1000}]}`,
			`{"input":203000,"output":4500,"rejected":3500}`},
		{`{"input_tokens":2679,"output_tokens":1}`, `{"iterations":[{"type":"message","input_tokens":2679,"output_tokens":100},{"type":"message","input_tokens":8003,"output_tokens":410}],"input_tokens":10682,"output_tokens":510}`,
			`{"input":10682,"output":510}`},
		{`{"input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}`, `{"iterations":[{"type":"compaction","input_tokens":7,"cache_read_input_tokens":900,"output_tokens":60},{"type":"message","input_tokens":5,"output_tokens":9}],"input_tokens":5,"cache_read_input_tokens":100,"output_tokens":9}`,
			`{"input":1012,"cached":1000,"output":69,"rejected":60}`},
		// Anthropic's own: the same twice, or only what was fresh at first.
		{`{"input_tokens":317,"cache_creation_input_tokens":4425,"cache_read_input_tokens":0,"output_tokens":1}`, `{"input_tokens":317,"cache_creation_input_tokens":4425,"cache_read_input_tokens":0,"output_tokens":16}`,
			`{"input":4742,"cached":0,"cache_write":4425,"output":16}`},
		{`{"input_tokens":12,"cache_read_input_tokens":0,"output_tokens":1}`, `{"cache_read_input_tokens":8000,"output_tokens":5}`, `{"input":8012,"cached":8000,"output":5}`},
		{`{"input_tokens":25,"output_tokens":1}`, `{"input_tokens":0,"cache_read_input_tokens":0,"output_tokens":15}`, `{"input":25,"cached":0,"output":15}`},
	} {
		tl := reply(Anthropic, "text/event-stream", events(`{"type":"message_start","message":{"usage":`+c[0]+`}}`,
			`{"type":"content_block_delta","delta":{"type":"text_delta","text":"abc"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+c[1]+`}`, `{"type":"message_stop"}`), timeline.EOF)
		if got := jsonOf(tl.Usage); got != c[2] {
			t.Errorf("%s then %s: got %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// Vercel's gateway leaves Google's thoughts out of completion_tokens and of total_tokens. What
// Google itself counted stands in the answer's provider_metadata: 40 + 14 + 10 = 64.
// Source: recordings of charm.land/fantasy v0.48.0, providertests/testdata/TestVercelCommon.
func TestGooglesOwnCountsBehindAGateway(t *testing.T) {
	own := `{"thoughtsTokenCount":10,"promptTokenCount":40,"candidatesTokenCount":14,"totalTokenCount":64,"trafficType":"PROVISIONED_THROUGHPUT"}`
	usage := `"usage":{"prompt_tokens":40,"completion_tokens":14,"total_tokens":54,"completion_tokens_details":{"reasoning_tokens":10}}`
	end := func(metadata, more string) string {
		return `{"choices":[{"index":0,"delta":{"provider_metadata":{` + metadata + `,"gateway":{"cost":"0.1"}}},"finish_reason":"stop"}]` + more + `}`
	}
	for _, c := range []struct{ name, kind, body, want string }{
		{"in the same chunk", "text/event-stream", events(content("a"), end(`"google":{"usageMetadata":`+own+`}`, ","+usage), "[DONE]"), `{"input":40,"output":24,"reasoning":10,"total":64}`},
		{"before it, Vertex AI", "text/event-stream", events(content("a"), end(`"vertex":{"usageMetadata":`+own+`}`, ""), `{"choices":[],`+usage+`}`, "[DONE]"), `{"input":40,"output":24,"reasoning":10,"total":64}`},
		{"a whole answer", "application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":"a","provider_metadata":{"google":{"usageMetadata":` + own + `}}},"finish_reason":"stop"}],` + usage + `}`,
			`{"input":40,"output":24,"reasoning":10,"total":64}`},
		{"another vendor's", "text/event-stream", events(content("a"), end(`"anthropic":{"usage":{"input_tokens":1}},"google":null`, ","+usage), "[DONE]"), `{"input":40,"output":14,"reasoning":10,"total":54}`},
	} {
		tl := reply(OpenAIChat, c.kind, c.body, timeline.EOF)
		if got := jsonOf(tl.Usage); got != c.want || tl.ServiceTier != "" {
			t.Errorf("%s: got %s, want %s, tier %q", c.name, got, c.want, tl.ServiceTier)
		}
	}
}

// llama.cpp tells its counts in timings, also where no usage was sent.
func TestTimingsStandInForUsage(t *testing.T) {
	timings := `"timings":{"cache_n":236,"prompt_n":1,"prompt_ms":30,"predicted_n":35,"predicted_ms":600}`
	for _, c := range []struct{ name, chunk, want string }{
		{"no usage", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + timings + `}`, `{"input":237,"cached":236,"output":35}`},
		{"an older build without cache_n", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"timings":{"prompt_n":12,"predicted_n":3}}`, `{"input":12,"output":3}`},
		{"a usage of zeros", `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0},` + timings + `}`, `{"input":237,"cached":236,"output":35}`},
		{"usage wins", `{"choices":[],"usage":{"prompt_tokens":240,"completion_tokens":36},` + timings + `}`, `{"input":240,"output":36}`},
	} {
		tl := reply(OpenAIChat, "text/event-stream", events(content("a"), c.chunk, "[DONE]"), timeline.EOF)
		if got := jsonOf(tl.Usage); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
	tl := reply(LlamaCpp, "text/event-stream", events(`{"content":"a","stop":false}`, `{"content":"","stop":true,"stop_type":"eos",`+timings+`}`), timeline.EOF)
	if got := jsonOf(tl.Usage); got != `{"input":237,"cached":236,"output":35}` {
		t.Errorf("native: %s", got)
	}
}

// Reasoning, media and repeated messages under the names that vendors use.
func TestChannelsOfVendors(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		want   string // kinds
		says   string // text | thought
	}{
		{"MiniMax", []string{delta(`"content":"","reasoning_details":[{"type":"reasoning.text","text":"th","format":"unknown","index":0}]`), content("an")}, "reasoning text", "an|th"},
		{"OpenRouter: the same twice", []string{delta(`"content":"","reasoning":"th","reasoning_details":[{"type":"reasoning.text","text":"th"}]`)}, "reasoning", "|th"},
		{"OpenRouter: a summary", []string{delta(`"reasoning_details":[{"type":"reasoning.summary","summary":"th"}]`)}, "reasoning", "|th"},
		{"OpenRouter: sealed reasoning is hidden", []string{delta(`"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"c2VjcmV0"}]`)}, "empty", "|"},
		{"a Go gateway: types behind texts", []string{delta(`"content":[{"text":"th","type":"thinking"}]`), delta(`"content":[{"text":"a","type":"text"}]`)}, "reasoning text", "a|th"},
		{"LiteLLM", []string{delta(`"content":"","thinking_blocks":[{"type":"thinking","thinking":"th","signature":"s"}]`), delta(`"thinking_blocks":[{"type":"thinking","thinking":"","signature":"EqQBCg"}]`)}, "reasoning empty", "|th"},
		{"LiteLLM: whole items at the end", []string{delta(`"reasoning_content":"th"`), content("an"), delta(`"content":"","reasoning_items":[{"id":"rs_1","type":"reasoning","encrypted_content":"gA","summary":[{"type":"summary_text","text":"th"}]}]`)}, "reasoning text empty", "an|th"},
		{"GitHub Copilot", []string{delta(`"reasoning_text":"th"`), delta(`"content":"a","reasoning_opaque":"sealed"`)}, "reasoning text", "a|th"},
		{"GitHub Copilot, of OpenAI's", []string{delta(`"cot_id":"c1","cot_summary":"th"`), delta(`"cot_summary":null,"content":"a"`)}, "reasoning text", "a|th"},
		{"thinking as a string", []string{delta(`"thinking":"th"`)}, "reasoning", "|th"},
		{"thinking as an object", []string{delta(`"thinking":{"content":"th","signature":"x"}`)}, "reasoning", "|th"},
		{"reasoning as an object", []string{delta(`"reasoning":{"effort":"high","summary":[{"type":"summary_text","text":"th"}]}`)}, "reasoning", "|th"},
		{"reasoning_content as a list", []string{delta(`"reasoning_content":[{"type":"text","text":"t"},{"type":"text","text":"h"}]`)}, "reasoning", "|th"},
		{"Mistral", []string{delta(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"th"}],"closed":true}]`)}, "reasoning", "|th"},
		{"Databricks: a summary within a part", []string{delta(`"role":"assistant","content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"th","signature":""}]}]`), delta(`"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"","signature":"EqQBCg"}]}]`), content("a")}, "reasoning empty text", "a|th"},
		{"a summary before its type", []string{delta(`"content":[{"summary":["t",{"text":"h"}],"type":"reasoning"},{"type":"text","text":"a"}]`)}, "text", "a|th"},
		{"a part with parts of its own, alone and in a list", []string{delta(`"content":{"type":"reasoning","content":[{"type":"text","text":"t"}]}`), delta(`"content":[{"type":"reasoning","content":[{"type":"text","text":"h"}]}]`)}, "reasoning reasoning", "|th"},
		{"a part that says what it is", []string{delta(`"content":[{"type":"reasoning","text":"th"},{"type":"text","text":""}]`)}, "reasoning", "|th"},
		{"Perplexity", []string{delta(`"content":"","reasoning_steps":[{"thought":"th","type":"web_search"}]`)}, "reasoning", "|th"},
		{"Google: content that is thought", []string{delta(`"content":"th","extra_content":{"google":{"thought":true}}`), content("a")}, "reasoning text", "a|th"},
		{"what describes reasoning is none", []string{delta(`"content":"","reasoning_effort":"high","thought_signature":"abc","reasoning_id":"r1"`)}, "empty", "|"},
		{"beside the delta", []string{`{"choices":[{"index":0,"reasoning_content":"th","delta":{}}]}`, `{"choices":[{"index":0,"text":"","reasoning":"th"}]}`}, "reasoning reasoning", "|thth"},

		{"OpenRouter: pictures", []string{delta(`"content":"","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]`)}, "media", "|"},
		{"a part with a picture", []string{delta(`"content":[{"type":"image_url","image_url":{"url":"https://x/y.png"}}]`)}, "media", "|"},
		{"a part with sound", []string{delta(`"content":[{"type":"output_audio","audio":{"data":"UklG"}}]`)}, "media", "|"},
		{"sound that has not begun", []string{delta(`"audio":{"id":"audio_1","expires_at":1729018505}`)}, "empty", "|"},
		{"TGI 2: a call without a list", []string{delta(`"role":"assistant","tool_calls":{"index":0,"id":"","type":"function","function":{"name":null,"arguments":"{"}}`), delta(`"tool_calls":{"index":0,"function":{"name":"f","arguments":"}"}}`)}, "tool tool", "|"},
		{"no call", []string{delta(`"content":"a","tool_calls":null`)}, "text", "a|"},
		{"no pictures", []string{delta(`"content":"a","images":[]`)}, "text", "a|"},

		{"the last chunk repeats all", []string{content("w"), content("w"), `{"choices":[{"index":0,"delta":null,"finish_reason":"stop","message":{"role":"assistant","content":"ww"}}]}`}, "text text finish", "ww|"},
		{"each chunk repeats all", []string{`{"choices":[{"index":0,"message":{"content":"a"},"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"message":{"content":"ab"},"delta":{"content":"b"}}]}`}, "text text", "ab|"},
		{"the call is repeated", []string{delta(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]`), `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","message":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`}, "tool finish", "|"},
		{"messages alone", []string{`{"choices":[{"index":0,"message":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":null,"message":{"content":"b"}}]}`}, "text text", "ab|"},
		{"of another choice", []string{content("a"), `{"choices":[{"index":1,"message":{"content":"b"}}]}`}, "text text#1", "a\nb|"},

		{"an index that counts chunks (GuideLLM)", []string{`{"choices":[{"index":0,"text":"a"}]}`, `{"choices":[{"index":1,"text":"b"}]}`, `{"choices":[{"index":2,"text":"c"}]}`, `{"choices":[{"index":3,"text":"","finish_reason":"stop"}]}`}, "text text text finish", "abc|"},
		{"three choices", []string{`{"choices":[{"index":0,"text":"a"}]}`, `{"choices":[{"index":1,"text":"b"}]}`, `{"choices":[{"index":2,"text":"c"}]}`, `{"choices":[{"index":0,"text":"d"}]}`}, "text text#1 text#2 text", "ad\nb\nc|"},
		{"three choices of one chunk", []string{`{"choices":[{"index":0,"text":"a","finish_reason":"stop"}]}`, `{"choices":[{"index":1,"text":"b","finish_reason":"stop"}]}`, `{"choices":[{"index":2,"text":"c","finish_reason":"stop"}]}`}, "text text#1 text#2", "a\nb\nc|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := reply(OpenAIChat, "text/event-stream", events(c.chunks...), timeline.EOF)
			if got := kinds(tl); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := tl.Text + "|" + tl.Thought; got != c.says {
				t.Errorf("says %q, want %q", got, c.says)
			}
		})
	}
}

// A hundred chunks that are counted are one answer, whole and in order.
func TestManyNumberedChunks(t *testing.T) {
	var chunks []string
	for i := range 300 {
		chunks = append(chunks, strings.Replace(`{"choices":[{"index":N,"text":"w"}]}`, "N", jsonOf(i), 1))
	}
	tl := reply(OpenAICompletions, "text/event-stream", events(append(chunks, "[DONE]")...), timeline.EOF)
	if tl.Text != strings.Repeat("w", 300) || tl.Outcome != timeline.OK {
		t.Errorf("%s, text of %d bytes", tl.Outcome, len(tl.Text))
	}
	for ev := range tl.Events.All() {
		if ev.Choice != 0 {
			t.Fatalf("choice %d", ev.Choice)
		}
	}
}

// Errors within a reply of status 200, what only looks like one, and ends.
func TestErrorsOfVendors(t *testing.T) {
	good := []string{content("a"), stopChunk, "[DONE]"}
	const wholeReply = `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"OK"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`
	for _, c := range []struct {
		name, contentType, body string
		want                    timeline.Outcome
		says                    string
		flags                   []string
	}{
		{"FastAPI's detail", "text/event-stream", events(`{"detail":"Model is overloaded"}`), timeline.StreamError, "Model is overloaded", nil},
		{"in the middle", "text/event-stream", events(content("a"), `{"detail":[{"loc":["body"],"msg":"field required","type":"missing"}]}`, "[DONE]"), timeline.StreamError, "field required", nil},
		{"a problem without a detail (RFC 9457)", "application/json", `{"type":"about:blank","title":"Too Many Requests","status":429}`, timeline.StreamError, "Too Many Requests (type about:blank, status 429)", []string{"non_streaming", "stream_ignored"}},
		{"a problem among events", "text/event-stream", events(content("a"), `{"type":"https://example.com/quota","title":"Quota exceeded","status":503}`, "[DONE]"), timeline.StreamError, "Quota exceeded (type https://example.com/quota, status 503)", nil},
		{"a problem by its content type", "application/problem+json; charset=utf-8", `{"type":"https://example.com/quota","title":"Quota exceeded"}`, timeline.StreamError, "Quota exceeded (type https://example.com/quota)", []string{"non_streaming", "stream_ignored"}},
		{"a title alone", "text/event-stream", events(content("a"), `{"title":"A greeting"}`, `{"id":"1","title":"A greeting","status":"done"}`, `{"type":"title","title":"A greeting","status_code":200}`, `{"code":200,"msg":"success","title":"A greeting"}`,
			`{"title":"A greeting","code":7}`, `{"title":"A greeting","statusCode":200,"status":200}`, `{"title":"A greeting","status":"failed"}`, stopChunk, "[DONE]"), timeline.OK, "", nil},
		{"an answer with a title", "application/json", `{"choices":[{"message":{"content":"{\"title\":\"a\"}"},"finish_reason":"stop"}],"title":"a chat"}`, timeline.OK, "", []string{"non_streaming", "stream_ignored"}},
		{"as a whole body", "application/json", `{"detail":"Not authenticated"}`, timeline.StreamError, "Not authenticated", []string{"non_streaming", "stream_ignored"}},
		{"MiniMax", "application/json", `{"id":"1","choices":null,"base_resp":{"status_code":1004,"status_msg":"login fail"}}`, timeline.StreamError, "login fail (status_code 1004)", []string{"non_streaming", "stream_ignored"}},
		{"MiniMax in a stream", "text/event-stream", events(`{"choices":null,"usage":{"total_tokens":0},"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`), timeline.StreamError, "insufficient balance", nil},
		{"an error beside an empty usage", "text/event-stream", events(`{"id":"x","choices":[],"error_type":"BadRequestError","error_message":"context length exceeded","usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, "[DONE]"), timeline.StreamError, "context length exceeded (error_type BadRequestError)", nil},
		{"Groq stops early", "text/event-stream", events(content("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":null}],"x_groq":{"id":"req_1","error":"over capacity"}}`, "[DONE]"), timeline.StreamError, "over capacity", nil},
		{"Groq stops no stream", "text/event-stream", events(content("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"req_1","error":null,"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}},"x_meta":{"error":"of others it is not known"}}`, "[DONE]"), timeline.OK, "", nil},
		{"MiniMax is well", "text/event-stream", events(content("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"base_resp":{"status_code":0,"status_msg":""}}`, "[DONE]"), timeline.OK, "", nil},
		{"a code with a message", "text/event-stream", events(`{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"r"}`), timeline.StreamError, "Invalid API-key provided. (code InvalidApiKey)", nil},
		{"HTTP's status with a message", "text/event-stream", events(`{"status":429,"message":"Too many requests"}`), timeline.StreamError, "Too many requests", nil},
		{"a status in words", "text/event-stream", events(`{"status":"failed","message":"no worker","at":1}`), timeline.StreamError, "no worker", nil},
		{"a status that is well", "text/event-stream", events(`{"status":200,"message":"ready"}`, good[0], good[1], good[2]), timeline.OK, "", nil},
		{"a message alone", "application/json", `{"message":"The security token included in the request is invalid."}`, timeline.StreamError, "security token", []string{"non_streaming", "stream_ignored"}},
		{"all is well", "text/event-stream", events(`{"code":0,"message":"success"}`, good[0], good[1], good[2]), timeline.OK, "", nil},
		{"an error that is none", "text/event-stream", events(`{"choices":[{"index":0,"delta":{"content":"a"}}],"error":{"code":0,"message":""}}`, stopChunk, "[DONE]"), timeline.OK, "", nil},
		{"with nulls", "text/event-stream", events(`{"choices":[{"index":0,"delta":{"content":"a"}}],"error":{"code":null,"message":null,"type":""}}`, stopChunk, "[DONE]"), timeline.OK, "", nil},
		{"words beside an error of true", "text/event-stream", events(content("a"), `{"error":true,"message":"model is loading","code":1001}`), timeline.StreamError, "model is loading (code 1001)", nil},
		{"as a whole body, with a reason", "application/json", `{"error":true,"reason":"quota exceeded"}`, timeline.StreamError, "quota exceeded", []string{"non_streaming", "stream_ignored"}},
		{"words beside a number", "text/event-stream", events(`{"error":503,"message":"no worker"}`), timeline.StreamError, "no worker", nil},
		{"no words beside it", "text/event-stream", events(`{"error":true}`), timeline.StreamError, `{"error":true}`, nil},
		{"an error of false", "text/event-stream", events(`{"error":false,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]"), timeline.OK, "", nil},
		{"code 0 with words", "text/event-stream", events(`{"error":{"code":0,"message":"upstream timed out"}}`), timeline.StreamError, "upstream timed out", nil},

		{"a terminator with a space", "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE] \n\n", timeline.OK, "", nil},
		{"a terminator as a string", "text/event-stream", events(content("a"), stopChunk, `"[DONE]"`), timeline.OK, "", nil},
		{"no finish reason", "text/event-stream", events(content("a"), "[DONE]"), timeline.OK, "", []string{"no_finish_reason"}},

		{"a stream called text", "text/plain; charset=utf-8", events(good...), timeline.OK, "", []string{"wrong_content_type"}},
		{"a stream called bytes", "application/octet-stream", ": ping\n\n" + events(good...), timeline.OK, "", []string{"wrong_content_type"}},
		{"a stream called HTML, named events", "text/html", "\n\nevent: chunk\n" + events(good...), timeline.OK, "", []string{"wrong_content_type"}},
		// A whole reply under another type. Source: https://github.com/EricLBuehler/mistral.rs/issues/79
		{"a reply called text", "text/plain; charset=utf-8", wholeReply, timeline.OK, "", []string{"non_streaming", "stream_ignored", "wrong_content_type"}},
		{"a reply called HTML", "text/html", "\r\n" + wholeReply, timeline.OK, "", []string{"non_streaming", "stream_ignored", "wrong_content_type"}},
		{"an error called bytes", "application/octet-stream", `{"detail":"Not Found"}`, timeline.StreamError, "Not Found", []string{"non_streaming", "stream_ignored", "wrong_content_type"}},
		{"JSON of something else", "text/plain", `{"status":"up"}`, timeline.BadContentType, `{"status":"up"}`, nil},
		{"a list of something else", "text/plain", `["a"]`, timeline.BadContentType, `["a"]`, nil},
		{"words in brackets", "text/plain", "[ERROR] no worker", timeline.BadContentType, "[ERROR] no worker", nil},
		{"braces", "text/html", "{{ page }}", timeline.BadContentType, "{{ page }}", nil},
		// The terminator behind a whole reply. Source: https://github.com/decolua/9router/issues/3492 and pull request 3301
		{"a reply in a stream", "text/event-stream", wholeReply, timeline.OK, "", []string{"no_done"}},
		{"and its terminator", "text/event-stream", wholeReply + "data: [DONE]\n\n", timeline.OK, "", nil},
		{"on the next line", "text/event-stream", wholeReply + "\ndata: [DONE]\n\n", timeline.OK, "", nil},
		{"behind JSON", "application/json", wholeReply + "\n\ndata: [DONE]\n\n", timeline.OK, "", []string{"non_streaming", "stream_ignored"}},
		{"half a terminator", "text/event-stream", wholeReply + "\ndata:", timeline.OK, "", []string{"no_done"}},
		{"half of one in whole JSON", "application/json", wholeReply + "data:", timeline.Parse, "no JSON", []string{"non_streaming", "stream_ignored"}},
		{"behind lines", "application/x-ndjson", good[0] + "\n" + good[1] + "\ndata:[DONE]\n", timeline.OK, "", nil},
		{"HTML", "text/html", "<html>data: no</html>", timeline.BadContentType, "<html>", nil},
		{"words", "text/plain", "databases are down", timeline.BadContentType, "databases", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := reply(OpenAIChat, c.contentType, c.body, timeline.EOF)
			if tl.Outcome != c.want || c.says != "" && !strings.Contains(tl.Error.Message, c.says) {
				t.Errorf("%s: %+v, want %s with %q", tl.Outcome, tl.Error, c.want, c.says)
			}
			if got := tl.Flags.Names(); strings.Join(got, " ") != strings.Join(c.flags, " ") {
				t.Errorf("flags %v, want %v", got, c.flags)
			}
		})
	}
	for _, size := range []int{1, 2, 3, 5} { // whatever the reads
		var reads [][]byte
		body := "\r\n" + events(good...)
		for len(body) > 0 {
			n := min(size, len(body))
			reads, body = append(reads, []byte(body[:n])), body[n:]
		}
		tl := replay(OpenAIChat, Head{200, map[string][]string{"Content-Type": {"text/plain"}}}, reads, timeline.EOF)
		if tl.Outcome != timeline.OK || tl.Text != "a" {
			t.Errorf("reads of %d: %s %q", size, tl.Outcome, tl.Text)
		}
	}
	tl := reply(OllamaChat, "text/plain", `{"message":{"content":"a"},"done":false}`+"\n"+`{"message":{"content":""},"done":true}`+"\n", timeline.EOF)
	if tl.Outcome != timeline.OK || !tl.Flags.Has(timeline.WrongContentType) {
		t.Errorf("Ollama's lines: %s %v", tl.Outcome, tl.Flags.Names())
	}
}

// Cohere's reasons why an answer ended, by the types of its SDK.
func TestCoheresFailures(t *testing.T) {
	for reason, want := range map[string]timeline.Outcome{"COMPLETE": timeline.OK, "MAX_TOKENS": timeline.OK, "ERROR": timeline.StreamError, "TIMEOUT": timeline.StreamError} {
		tl := reply(Cohere, "text/event-stream", events(`{"type":"content-delta","delta":{"message":{"content":{"text":"a"}}}}`,
			`{"type":"message-end","delta":{"finish_reason":"`+reason+`","usage":{"tokens":{"input_tokens":9,"output_tokens":4}}}}`), timeline.EOF)
		if tl.Outcome != want || want != timeline.OK && !strings.Contains(tl.Error.Message, reason) {
			t.Errorf("%s: %s %v", reason, tl.Outcome, tl.Error)
		}
	}
}

// Servers and gateways that speak Ollama's API may call its lines JSON, as its whole
// reply is. Which it is does not hang on how the reads cut them.
func TestOllamasLinesCalledJSON(t *testing.T) {
	const (
		first = `{"model": "m", "message": {"role": "assistant", "content": "a"}, "done": false}`
		last  = `{"model":"m","message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}`
		whole = `{"model":"m","message":{"content":"say \"done\":false"},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}`
	)
	for name, c := range map[string]struct {
		body     string
		streamed bool
	}{
		"lines": {first + "\n" + last + "\n", true}, "blank lines first": {"\r\n\n" + first + "\r\n" + last, true},
		"a whole reply": {whole, false}, "with a line's end": {whole + "\n", false},
		"on many lines": {strings.ReplaceAll(whole, ",", ",\n"), false}, "a long first line": {strings.Replace(first, "a\"", strings.Repeat("a", 9000)+"\"", 1) + "\n" + last, true},
	} {
		for _, size := range []int{1, 7, 80, 1 << 20} {
			var reads [][]byte
			for rest := c.body; rest != ""; {
				n := min(size, len(rest))
				reads, rest = append(reads, []byte(rest[:n])), rest[n:]
			}
			tl := replay(OllamaChat, Head{200, map[string][]string{"Content-Type": {"application/json"}}}, reads, timeline.EOF)
			if tl.Outcome != timeline.OK || tl.Streamed != c.streamed || tl.Flags.Has(timeline.WrongContentType) != c.streamed || tl.Usage.Output.Or(0) != 3 || tl.Text == "" {
				t.Errorf("%s, reads of %d: %s, streamed %v, %v, %v %v", name, size, tl.Outcome, tl.Streamed, tl.Flags.Names(), tl.Usage, tl.Error)
			}
		}
	}
}

// Anthropic's blocks and Responses as gateways write them: text that stands in
// the events around the deltas counts where it is new, and once.
func TestTextAroundDeltas(t *testing.T) {
	const (
		start = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello there"}}`
		stop  = `{"type":"content_block_stop","index":0}`
		ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
		last  = `{"type":"message_stop"}`
	)
	piece := func(s string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}`
	}
	for _, c := range []struct {
		name   string
		api    *API
		chunks []string
		want   string
		says   string
	}{
		{"the text in the block's start", Anthropic, []string{start, stop, ended, last}, "text empty finish done", "Hello there"},
		{"the start, then the rest", Anthropic, []string{start, piece(" all"), stop, ended, last}, "text text empty finish done", "Hello there all"},
		{"the start, then all of it again", Anthropic, []string{start, piece("Hello"), piece(" there"), stop, ended, last}, "text empty empty empty finish done", "Hello there"},
		{"the stop repeats", Anthropic, []string{piece("Hi"), `{"type":"content_block_stop","index":0,"content_block":{"type":"text","text":"Hi"}}`, ended, last}, "text empty finish done", "Hi"},
		{"the message repeats", Anthropic, []string{piece("Hi"), `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"message":{"content":[{"type":"text","text":"Hi"}]}}`, last}, "text finish done", "Hi"},
		{"a call with its input, then again", Anthropic, []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f","input":{"a":1}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}`, ended, last}, "tool empty empty finish done", ""},
		{"a picture", Anthropic, []string{`{"type":"content_block_start","index":0,"content_block":{"type":"image","source":{"type":"base64","data":"iVBO"}}}`, ended, last}, "media finish done", ""},
		{"a terminator of OpenAI's", Anthropic, []string{piece("Hi"), ended, last, "[DONE]"}, "text finish done done", "Hi"},

		{"Responses: all in the last event", OpenAIResponses, []string{`{"type":"response.created","response":{"output":[]}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}}`}, "role text", "Hi"},
		{"Responses: the last event repeats", OpenAIResponses, []string{`{"type":"response.output_text.delta","delta":"Hi"}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}}`}, "text finish", "Hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := reply(c.api, "text/event-stream", events(c.chunks...), timeline.EOF)
			if got := kinds(tl); got != c.want || tl.Text != c.says || tl.Outcome != timeline.OK {
				t.Errorf("%s %q %s, want %s %q", got, tl.Text, tl.Outcome, c.want, c.says)
			}
		})
	}
}

// Writer's completions stream their text alone, and end with the body.
// Source: recordings of api.writer.com in opentelemetry_instrumentation_writer 0.62.4, tests.
func TestWritersCompletions(t *testing.T) {
	chunks := events(`{"value":"Sure"}`, `{"value":","}`, `{"value":" here"}`)
	for _, c := range []struct {
		name string
		api  *API
		kind string
		body string
		end  timeline.End
		want string
	}{
		{"a stream", OpenAICompletions, "text/event-stream", chunks, timeline.EOF, "ok text text text|Sure, here"},
		{"cut off", OpenAICompletions, "text/event-stream", chunks, timeline.Cut, "stream_truncated text text text|Sure, here"},
		{"nothing", OpenAICompletions, "text/event-stream", events(`{"value":""}`), timeline.EOF, "stream_truncated |"},
		{"another member of that name", OpenAICompletions, "text/event-stream", events(`{"value":{"x":1},"choices":[{"index":0,"text":"a"}]}`), timeline.EOF, "stream_truncated text|a"},
		{"text beside choices", OpenAICompletions, "text/event-stream", events(`{"choices":[{"index":0,"text":"a"}],"value":"b"}`), timeline.EOF, "stream_truncated text|a"},
		{"text before choices", OpenAICompletions, "text/event-stream", events(`{"value":"b","choices":[{"index":0,"text":"a"}]}`), timeline.EOF, "stream_truncated text|a"},
		{"no chat", OpenAIChat, "text/event-stream", chunks, timeline.EOF, "stream_truncated |"},
		{"a whole answer", OpenAICompletions, "application/json", `{"choices":[{"text":"Sure"}],"model":"palmyra-x5"}`, timeline.EOF, "ok text|Sure"},
	} {
		tl := timeline.New()
		s := NewStream(tl, c.api, StreamOptions{KeepText: true})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {c.kind}}})
		s.Read(2, 0, []byte(c.body))
		s.End(3, c.end, nil, nil)
		var kinds []string
		for ev := range tl.Events.Generation() {
			kinds = append(kinds, ev.Kind.String())
		}
		if got := string(tl.Outcome) + " " + strings.Join(kinds, " ") + "|" + tl.Text; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Google writes a thought's type behind its content, as members have no order.
// Source: openinference_instrumentation_google_genai 1.4.14, tests/cassettes/
// test_interactions_instrumentation/test_interactions_with_thinking_stream.yaml.
func TestTypesOfInteractionsStandAnywhere(t *testing.T) {
	step := func(delta string) string { return `{"index":0,"delta":` + delta + `,"event_type":"step.delta"}` }
	for want, delta := range map[string]string{
		"reasoning |th": `{"content":{"text":"th","type":"text"},"type":"thought_summary"}`,
		"text a|":       `{"text":"a","type":"text"}`,
		"tool |":        `{"name":"f","arguments":{"x":1},"type":"function_call"}`,
		"empty |":       `{"content":[{"text":"found","type":"text"}],"type":"google_search_result"}`,
	} {
		tl := timeline.New()
		s := NewStream(tl, GeminiInteractions, StreamOptions{KeepText: true})
		s.Head(1, Head{200, eventStream})
		s.Read(2, 0, []byte(events(step(delta))))
		s.End(3, timeline.EOF, nil, nil)
		kind := ""
		for ev := range tl.Events.All() {
			kind = ev.Kind.String()
		}
		if got := kind + " " + tl.Text + "|" + tl.Thought; got != want {
			t.Errorf("%s: %s, want %s", delta, got, want)
		}
	}
}

// What nests deeper than any answer is passed over, as each level is looked through ahead.
func TestContentIsReadAsDeepAsTheAPINests(t *testing.T) {
	for levels, want := range map[int]int{0: 1, 2: 1, 3: 1, 4: 0, 9000: 0} {
		delta := strings.Repeat(`{"content":`, levels) + `{"text":"a","type":"text"}` + strings.Repeat(`}`, levels)
		tl := timeline.New()
		s := NewStream(tl, GeminiInteractions, StreamOptions{})
		s.Head(1, Head{200, eventStream})
		s.Read(2, 0, []byte(events(`{"event_type":"step.delta","delta":`+delta+`}`)))
		s.End(3, timeline.EOF, nil, nil)
		n := 0
		for range tl.Events.Generation() {
			n++
		}
		if n != want {
			t.Errorf("%d levels: %d events", levels, n)
		}
	}
}

// Google begins with an estimate of the prompt. What its last event says adds up and holds,
// also where it is less; a part of a usage, or zeros behind the real one, replace nothing.
// Source: recordings of github.com/tmc/langchaingo v0.1.14, llms/googleai/testdata/*.httprr.
func TestGeminisPromptIsEstimatedAtFirst(t *testing.T) {
	for _, c := range []struct {
		usages []string
		want   string
	}{
		{[]string{`"promptTokenCount":78,"totalTokenCount":78`, `"promptTokenCount":33,"candidatesTokenCount":12,"totalTokenCount":45`}, `{"input":33,"output":12,"total":45}`},
		{[]string{`"promptTokenCount":19,"totalTokenCount":19`, `"promptTokenCount":19,"totalTokenCount":19`, `"promptTokenCount":17,"candidatesTokenCount":22,"totalTokenCount":39`}, `{"input":17,"output":22,"total":39}`},
		{[]string{`"promptTokenCount":100,"cachedContentTokenCount":64,"totalTokenCount":100`, `"promptTokenCount":90,"candidatesTokenCount":5,"totalTokenCount":95`}, `{"input":90,"cached":64,"output":5,"total":95}`},
		{[]string{`"promptTokenCount":20,"candidatesTokenCount":2,"totalTokenCount":22`, `"promptTokenCount":17,"candidatesTokenCount":6,"thoughtsTokenCount":40,"totalTokenCount":63`}, `{"input":17,"output":46,"reasoning":40,"total":63}`},
		{[]string{`"promptTokenCount":17,"candidatesTokenCount":6,"totalTokenCount":23`, `"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11`}, `{"input":17,"output":6,"total":23}`},
		{[]string{`"promptTokenCount":17,"candidatesTokenCount":6,"totalTokenCount":23`, `"promptTokenCount":0,"candidatesTokenCount":0,"totalTokenCount":0`}, `{"input":17,"output":6,"total":23}`},
		{[]string{`"promptTokenCount":17,"totalTokenCount":17`, `"promptTokenCount":1,"candidatesTokenCount":6`}, `{"input":17,"output":6,"total":17}`},
	} {
		var chunks []string
		for _, u := range c.usages {
			chunks = append(chunks, `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{`+u+`}}`)
		}
		if got := jsonOf(reply(Gemini, "text/event-stream", events(chunks...), timeline.EOF).Usage); got != c.want {
			t.Errorf("%v: got %s, want %s", c.usages, got, c.want)
		}
	}
}

// The same on OpenAI's path, and through gateways that pass Google's counts on.
// Source: recordings of magentic 0.41.1, tests/cassettes/test_chat_model/test_openai_chat_model_gemini.
func TestPromptEstimatedByOtherPaths(t *testing.T) {
	for _, c := range []struct {
		usages []string
		want   string
	}{
		{[]string{`"completion_tokens":0,"prompt_tokens":4,"total_tokens":4`, `"completion_tokens":0,"prompt_tokens":4,"total_tokens":4`, `"completion_tokens":11,"prompt_tokens":3,"total_tokens":14`}, `{"input":3,"output":11,"total":14}`},
		{[]string{`"prompt_tokens":78,"total_tokens":78,"prompt_tokens_details":{"image_tokens":60}`, `"completion_tokens":12,"prompt_tokens":33,"total_tokens":45,"prompt_tokens_details":{"image_tokens":20}`}, `{"input":33,"output":12,"total":45,"media":20}`},
		{[]string{`"completion_tokens":1,"prompt_tokens":100,"total_tokens":101,"prompt_tokens_details":{"cached_tokens":64}`, `"completion_tokens":5,"prompt_tokens":90,"total_tokens":95`}, `{"input":90,"cached":64,"output":5,"total":95}`},
		// A cache beside the prompt, zeros, less output, and what does not add up replace nothing.
		{[]string{`"completion_tokens":0,"prompt_tokens":10904,"total_tokens":10904`, `"completion_tokens":19,"prompt_tokens":368,"total_tokens":10923,"cache_read_input_tokens":10536`}, `{"input":10904,"cached":10536,"output":19,"total":10923}`},
		{[]string{`"completion_tokens":6,"prompt_tokens":17,"total_tokens":23`, `"completion_tokens":0,"prompt_tokens":0,"total_tokens":0`}, `{"input":17,"output":6,"total":23}`},
		{[]string{`"completion_tokens":6,"prompt_tokens":17,"total_tokens":23`, `"completion_tokens":2,"prompt_tokens":9,"total_tokens":11`}, `{"input":17,"output":6,"total":23}`},
		{[]string{`"completion_tokens":0,"prompt_tokens":17,"total_tokens":17`, `"completion_tokens":6,"prompt_tokens":1`}, `{"input":17,"output":6,"total":17}`},
	} {
		var chunks []string
		for _, u := range c.usages {
			chunks = append(chunks, `{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{`+u+`}}`)
		}
		if got := jsonOf(reply(OpenAIChat, "text/event-stream", events(append(chunks, stopChunk, "[DONE]")...), timeline.EOF).Usage); got != c.want {
			t.Errorf("%v: got %s, want %s", c.usages, got, c.want)
		}
	}
}

// A context that was summarised first is beside Anthropic's own counts and within those that
// LiteLLM makes of them: its pass is added where the counts leave it out.
func TestCompactionsAreCountedOnce(t *testing.T) {
	for usage, want := range map[string]string{
		`"prompt_tokens":83555,"completion_tokens":139,"total_tokens":83694,"iterations":[{"type":"compaction","input_tokens":83555,"output_tokens":139}]`:                                                                   `{"input":83555,"output":139,"rejected":139,"total":83694}`,
		`"prompt_tokens":203000,"completion_tokens":4500,"total_tokens":207500,"iterations":[{"type":"compaction","input_tokens":180000,"output_tokens":3500},{"type":"message","input_tokens":23000,"output_tokens":1000}]`: `{"input":203000,"output":4500,"rejected":3500,"total":207500}`,
		`"prompt_tokens":23000,"completion_tokens":1000,"iterations":[{"type":"compaction","input_tokens":5000,"output_tokens":300},{"type":"message","input_tokens":23000,"output_tokens":1000}]`:                           `{"input":28000,"output":1300,"rejected":300}`,
		`"prompt_tokens":0,"completion_tokens":0,"iterations":[{"type":"compaction","input_tokens":83555,"output_tokens":139}]`:                                                                                              `{"input":83555,"output":139,"rejected":139}`,
	} {
		tl := reply(OpenAIChat, "text/event-stream", events(content("a"), stopChunk, `{"choices":[],"usage":{`+usage+`}}`, "[DONE]"), timeline.EOF)
		if got := jsonOf(tl.Usage); got != want {
			t.Errorf("%s: got %s, want %s", usage, got, want)
		}
	}
}

// A reply that stops at a compaction is no empty output, through LiteLLM too.
func TestCompactionThroughLiteLLM(t *testing.T) {
	for blocks, want := range map[string]timeline.Outcome{`[{"type":"compaction","content":"in short"}]`: timeline.OK, `[]`: timeline.EmptyOutput, `null`: timeline.EmptyOutput} {
		tl := reply(OpenAIChat, "application/json", `{"choices":[{"message":{"content":"","provider_specific_fields":{"compaction_blocks":`+blocks+`}},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, timeline.EOF)
		if tl.Outcome != want || tl.Unread != "" || tl.Flags.Has(timeline.HiddenReasoning) != (want == timeline.OK) {
			t.Errorf("%s: %s (%v), unread %q", blocks, tl.Outcome, tl.Error, tl.Unread)
		}
	}
}

// Gemini's answer count holds the thoughts on some ways to it; the total tells.
func TestGeminiThoughtsWithinTheAnswer(t *testing.T) {
	for usage, want := range map[string]string{
		`"promptTokenCount":8,"candidatesTokenCount":105,"thoughtsTokenCount":100,"totalTokenCount":113`:                              `{"input":8,"output":105,"reasoning":100,"total":113}`,
		`"promptTokenCount":8,"candidatesTokenCount":5,"thoughtsTokenCount":100,"totalTokenCount":113`:                                `{"input":8,"output":105,"reasoning":100,"total":113}`,
		`"promptTokenCount":8,"candidatesTokenCount":105,"thoughtsTokenCount":100,"toolUsePromptTokenCount":20,"totalTokenCount":133`: `{"input":28,"output":105,"reasoning":100,"total":133}`,
		`"promptTokenCount":8,"candidatesTokenCount":105,"thoughtsTokenCount":100`:                                                    `{"input":8,"output":205,"reasoning":100}`,
	} {
		tl := reply(Gemini, "text/event-stream", events(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{`+usage+`}}`), timeline.EOF)
		if got := jsonOf(tl.Usage); got != want {
			t.Errorf("%s: got %s, want %s", usage, got, want)
		}
	}
}

// Finish reasons that are no words: a null made text goes on, and an object has a
// type.
func TestFinishReasonsOfVendors(t *testing.T) {
	chunk := func(text, finish string) string {
		return `{"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":` + finish + `}]}`
	}
	for name, c := range map[string]struct {
		chunks  []string
		outcome timeline.Outcome
		finish  string
	}{
		"null as a word, then the end":  {[]string{chunk("a", `"null"`), chunk("b", `"null"`), chunk("", `"stop"`)}, timeline.OK, "stop"},
		"null as a word, and cut off":   {[]string{chunk("a", `"null"`), chunk("b", `"null"`)}, timeline.StreamTruncated, ""},
		"an empty word, and cut off":    {[]string{chunk("a", `""`)}, timeline.StreamTruncated, ""},
		"an object: length":             {[]string{chunk("a", `{"type":"length","length":16}`)}, timeline.OK, "length"},
		"an object: the server gave up": {[]string{chunk("a", "null"), chunk("", `{"type":"abort","message":"gone","status_code":503}`), "[DONE]"}, timeline.StreamError, "abort"},
	} {
		tl := reply(OpenAIChat, "text/event-stream", events(c.chunks...), timeline.EOF)
		if tl.Outcome != c.outcome || tl.FinishReason != c.finish {
			t.Errorf("%s: %s, %q", name, tl.Outcome, tl.FinishReason)
		}
	}
}

// Chunks of chat completions in lines of JSON are a stream, whatever that is called, at the
// times of its lines.
// Source: deepjavalibrary/djl-serving, serving/docs/lmi/user_guides/chat_input_output_schema.md
// (application/jsonlines); https://github.com/langchain-ai/langchain-aws/issues/128 (application/json)
func TestChunksInLines(t *testing.T) {
	const chunk = `{"id": "chatcmpl-0", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": " my"}, "logprobs": null, "finish_reason": null}]}` + "\n"
	const last = `{"id": "chatcmpl-0", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": " dear"}, "logprobs": null, "finish_reason": "length"}]}` + "\n"
	for kind, flagged := range map[string]bool{
		"application/jsonlines": false, "application/x-ndjson": false, "application/json-lines": false, "text/x-ndjson; charset=utf-8": false,
		"application/json": true, "text/plain": true, "application/octet-stream": true, "application/json-seq": true,
	} {
		for _, cut := range []int{0, 1, len(chunk) - 1, len(chunk) + 3} {
			head := Head{200, map[string][]string{"Content-Type": {kind}}}
			reads := [][]byte{[]byte(chunk + last)}
			if cut > 0 {
				reads = [][]byte{[]byte((chunk + last)[:cut]), []byte((chunk + last)[cut:])}
			}
			tl := replay(OpenAIChat, head, reads, timeline.EOF)
			if tl.Outcome != timeline.OK || tl.Text != " my dear" || !tl.Streamed || tl.Flags.Has(timeline.WrongContentType) != flagged || tl.Flags.Has(timeline.NonStreaming) {
				t.Errorf("%s, cut at %d: %s %v, %q, streamed %v, %v", kind, cut, tl.Outcome, tl.Error, tl.Text, tl.Streamed, tl.Flags.Names())
			}
		}
		if tl := reply(OpenAIChat, kind, chunk, timeline.EOF); tl.Outcome != timeline.StreamTruncated {
			t.Errorf("%s, one chunk alone: %s", kind, tl.Outcome)
		}
		// The text of a whole reply may hold anything.
		whole := `{"choices":[{"index":0,"message":{"content":"say \"delta\":{}"},"finish_reason":"stop"}]}` + "\n"
		if tl := reply(OpenAIChat, kind, whole, timeline.EOF); tl.Outcome != timeline.OK || tl.Streamed != (formOf(Head{200, map[string][]string{"Content-Type": {kind}}}) == lines) {
			t.Errorf("%s, a whole reply: %s, streamed %v", kind, tl.Outcome, tl.Streamed)
		}
	}
}

// An event without data is a sign of life and nothing malformed; a stream under
// JSON's type is taken, and flagged as under any other wrong one.
func TestSignsOfLifeAndLabels(t *testing.T) {
	body := events(content("a"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	for name, c := range map[string]struct {
		kind, body string
		flags      timeline.FlagSet
	}{
		"data without data":        {"text/event-stream", "data: \n\ndata:\n\n" + body, 0},
		"a named one":              {"text/event-stream", "event: ping\ndata:\n\n" + body, 0},
		"words":                    {"text/event-stream", "data: processing\n\n" + body, timeline.MalformedEvent},
		"as JSON":                  {"application/json", body, timeline.WrongContentType},
		"as JSON, after a comment": {"application/json; charset=utf-8", ": waiting\n\n" + body, timeline.WrongContentType},
		"as lines":                 {"application/x-ndjson", body, timeline.WrongContentType},
	} {
		tl := reply(OpenAIChat, c.kind, c.body, timeline.EOF)
		if tl.Outcome != timeline.OK || tl.Flags != c.flags {
			t.Errorf("%s: %s, %v", name, tl.Outcome, tl.Flags.Names())
		}
	}
}

// Events that no empty line parts are read line by line, at the time at which they came,
// and flagged: the SDKs of the vendors refuse them. What is no list of events is skipped.
func TestEventsWithoutAnEmptyLine(t *testing.T) {
	const anthropic = `event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}` + "\n"
	const chat = `data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}` + "\n"
	delta := func(form, text string) string { return strings.Replace(form, "%s", text, 1) }
	for _, c := range []struct {
		name      string
		api       *API
		writes    []string // one a millisecond
		text      string
		outcome   timeline.Outcome
		first     int64
		malformed bool
	}{
		{"Anthropic", Anthropic, []string{delta(anthropic, "a") + delta(anthropic, "b") + "\n", delta(anthropic, "c") + "\n",
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\ndata: {\"type\":\"message_stop\"}\n\n"}, "abc", timeline.OK, 1000, true},
		{"chat", OpenAIChat, []string{delta(chat, "a") + delta(chat, "b") + "\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\ndata: [DONE]\n\n"}, "ab", timeline.OK, 1000, true},
		{"one event in lines", OpenAIChat, []string{"data: {\"choices\":[{\"index\":0,\"delta\":\ndata: {\"content\":\"a\"}}]}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}, "a", timeline.OK, 1000, false},
		{"no empty line at all", OpenAIChat, []string{delta(chat, "a"), delta(chat, "b"), delta(chat, "c"),
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n", "data: [DONE]\n"}, "", timeline.StreamTruncated, 0, false},
		{"no events", OpenAIChat, []string{"data: {\"choices\":\ndata: oops\n\n", delta(chat, "a") + "\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}, "a", timeline.OK, 2000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tl := timeline.New()
			s := NewStream(tl, c.api, StreamOptions{KeepText: true})
			s.Head(500, Head{200, map[string][]string{"Content-Type": {"text/event-stream"}}})
			at := int64(0)
			first := int64(0)
			for _, w := range c.writes {
				at += 1000
				if s.Read(at, 0, []byte(w)); first == 0 && s.HasToken() {
					first = at
				}
			}
			s.End(at+1000, timeline.EOF, nil, nil)
			if tl.Outcome != c.outcome || tl.Text != c.text || first != c.first || tl.Flags.Has(timeline.MalformedEvent) != c.malformed {
				t.Errorf("%s, %q, first token at %d, malformed %v; want %s, %q, %d, %v", tl.Outcome, tl.Text, first,
					tl.Flags.Has(timeline.MalformedEvent), c.outcome, c.text, c.first, c.malformed)
			}
		})
	}
}

// Google's clients by REST ask for enums as numbers. What these are called is in all of its
// APIs the same up to OTHER; a further number ends the answer by its own name.
// Source: google/ai/generativelanguage/v1beta/generative_service.proto and
// google/cloud/aiplatform/v1/prediction_service.proto
func TestGeminiEnumsAsNumbers(t *testing.T) {
	answer := func(finish, prompt, said string) *timeline.Timeline {
		return reply(Gemini, "text/event-stream", events(
			`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20}}`,
			`{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason": `+finish+`}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":9,"totalTokenCount":29,`+
				`"promptTokensDetails":[{"modality":`+prompt+`,"tokenCount":16}],"candidatesTokensDetails":[{"modality":`+said+`,"tokenCount":4}]}}`), timeline.EOF)
	}
	for _, c := range [][6]string{
		{`"STOP"`, `"TEXT"`, `"TEXT"`, "1", "1", "1"}, {`"MAX_TOKENS"`, `"IMAGE"`, `"AUDIO"`, "2", "2", "4"}, {`"SAFETY"`, `"VIDEO"`, `"IMAGE"`, "3", "3", "2"},
		{`"RECITATION"`, `"AUDIO"`, `"TEXT"`, "4", "4", "1"}, {`"OTHER"`, `"DOCUMENT"`, `"TEXT"`, "5", "5", "1"}, {`"9"`, `"TEXT"`, `"TEXT"`, "9", "99", "-1"},
	} {
		names, numbers := answer(c[0], c[1], c[2]), answer(c[3], c[4], c[5])
		if names.Outcome != numbers.Outcome || names.FinishReason == "" || names.FinishReason != numbers.FinishReason || jsonOf(names.Usage)+jsonOf(names.Server) != jsonOf(numbers.Usage)+jsonOf(numbers.Server) {
			t.Errorf("%v: %s %s %s, by numbers %s %s %s", c, names.Outcome, names.FinishReason, jsonOf(names.Usage), numbers.Outcome, numbers.FinishReason, jsonOf(numbers.Usage))
		}
	}
	if tl := answer("0", "0", "0"); tl.Outcome != timeline.StreamTruncated || tl.FinishReason != "" {
		t.Errorf("unspecified: %s, %q", tl.Outcome, tl.FinishReason)
	}
	blocked := reply(Gemini, "text/event-stream", events(`{"promptFeedback":{"blockReason":1},"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20}}`), timeline.EOF)
	named := reply(Gemini, "text/event-stream", events(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":20,"totalTokenCount":20}}`), timeline.EOF)
	if blocked.Outcome != named.Outcome || blocked.FinishReason != named.FinishReason {
		t.Errorf("blocked: %s %s, named %s %s", blocked.Outcome, blocked.FinishReason, named.Outcome, named.FinishReason)
	}
}

// Structured output of Cloudflare's Workers AI is an object in the place of the text: it is
// the answer, as JSON. A part by its type, or with nothing but a part's members, is none.
// Source: recordings of api.cloudflare.com in chatlas 0.23.0, test_provider_cloudflare
func TestAnswersThatAreObjects(t *testing.T) {
	for content, want := range map[string]string{
		`{"title":"Apples are tasty","author":"Hadley Wickham"}`: `{"title":"Apples are tasty","author":"Hadley Wickham"}`,
		`{"type":"book","title":"T"}`:                            `{"type":"book","title":"T"}`,
		`{"summary":"S","title":"T"}`:                            `{"summary":"S","title":"T"}`,
		`{ "n": 1 }`:                                             `{ "n": 1 }`,
		// What members are called says nothing: schemas ask for summaries and reasons, too.
		`{"summary":"S"}`:                                `{"summary":"S"}`,
		`{"reasoning":"because","summary":"x"}`:          `{"reasoning":"because","summary":"x"}`,
		`{"thought":"T","text":"A"}`:                     `{"thought":"T","text":"A"}`,
		`{"type":"text","title":"T"}`:                    `{"type":"text","title":"T"}`,
		`{"type":"image","title":"T"}`:                   `{"type":"image","title":"T"}`,
		`{"text":{"type":"reasoning","text":"hm"}}`:      "",
		`{"type":null,"text":"A"}`:                       "A",
		`{"type":"text","text":"A","annotations":[]}`:    "A",
		`{"text":"A"}`:                                   "A",
		`{"type":"output_text","text":"","logprobs":[]}`: "",
		`{}`: "",
		`[{"type":"text","text":"A"},{"type":"reference","reference_ids":[1]}]`: "A",
	} {
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{KeepText: true})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {"application/json"}}})
		s.Read(2, 0, []byte(`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":`+content+`},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":7}}`))
		s.End(3, timeline.EOF, nil, nil)
		if outcome := map[bool]timeline.Outcome{true: timeline.EmptyOutput, false: timeline.OK}[want == ""]; tl.Text != want || tl.Outcome != outcome {
			t.Errorf("%s: %q, %s %v", content, tl.Text, tl.Outcome, tl.Error)
		}
	}
}

// Structured output leaves no marks of what its members are called.
func TestObjectsThatSumUp(t *testing.T) {
	tl := reply(OpenAIChat, "text/event-stream", events(`{"choices":[{"index":0,"delta":{"content":{"summary":"S","title":"T"}}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":520,"completion_tokens_details":{"reasoning_tokens":500}}}`, "[DONE]"), timeline.EOF)
	if tl.Outcome != timeline.OK || tl.Text != `{"summary":"S","title":"T"}` || tl.Flags != 0 {
		t.Errorf("%s %v, %q, flags %v", tl.Outcome, tl.Error, tl.Text, tl.Flags.Names())
	}
}

// Text that Converse cites stands in a block of its own, and pictures and sound are media.
// Source: aws-sdk-go-v2 service/bedrockruntime v1.63, types.ContentBlock and ContentBlockDelta
func TestConversesOtherBlocks(t *testing.T) {
	whole := func(content string) *timeline.Timeline {
		tl := timeline.New()
		s := NewStream(tl, Bedrock, StreamOptions{KeepText: true})
		s.Head(1, Head{200, map[string][]string{"Content-Type": {"application/json"}}})
		s.Read(2, 0, []byte(`{"output":{"message":{"role":"assistant","content":[`+content+`]}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":6,"totalTokens":15}}`))
		s.End(3, timeline.EOF, nil, nil)
		return tl
	}
	for content, want := range map[string]string{
		`{"citationsContent":{"content":[{"text":"Hello there"}],"citations":[{"title":"T","sourceContent":[{"text":"S"}]}]}}`: "ok Hello there",
		`{"text":"He says "},{"citationsContent":{"content":[{"text":"Hello "},{"text":"there"}]}}`:                            "ok He says Hello there",
		`{"citationsContent":{"content":[],"citations":[]}}`:                                                                   "empty_output ",
		`{"image":{"format":"png","source":{"bytes":"aGVsbG8="}}}`:                                                             "ok ",
		`{"audio":{"format":"mp3","source":{"s3Location":{"uri":"s3://b/k"}}}}`:                                                "ok ",
		`{"image":{"format":"png","source":{"bytes":""}}}`:                                                                     "empty_output ",
	} {
		if tl := whole(content); string(tl.Outcome)+" "+tl.Text != want {
			t.Errorf("%s: %s %q, %v", content, tl.Outcome, tl.Text, tl.Error)
		}
	}
	tl := reply(Bedrock, amazonStream, amazon("messageStart", `{"role":"assistant"}`)+amazon("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"image":{"source":{"bytes":"aGVsbG8="}}}}`)+
		amazon("messageStop", `{"stopReason":"end_turn"}`)+amazon("metadata", `{"usage":{"inputTokens":9,"outputTokens":6,"totalTokens":15}}`), timeline.EOF)
	if tl.Outcome != timeline.OK {
		t.Errorf("a picture of a stream: %s %v", tl.Outcome, tl.Error)
	}
}
