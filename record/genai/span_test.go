package genai

import (
	"encoding/json"
	"testing"
)

func attrs(t *testing.T, text string) map[string]any {
	t.Helper()
	var list []struct {
		Key   string
		Value any
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, a := range list {
		out[a.Key] = Plain(a.Value)
	}
	return out
}

func TestAttributes(t *testing.T) {
	s := Span{Attrs: attrs(t, `[{"key":"gen_ai.usage.prompt_tokens","value":{"intValue":"9"}},
		{"key":"gen_ai.usage.output_tokens","value":{"intValue":4}},
		{"key":"gen_ai.usage.cache_read.input_tokens","value":{"intValue":"-3"}},
		{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.25}},
		{"key":"gen_ai.request.model","value":{"stringValue":"m"}},
		{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"a"},{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":true}}]}}]}}}]`)}
	if n, ok := s.Input().Get(); n != 9 || !ok {
		t.Errorf("input %d", n)
	}
	if n, ok := s.Output().Get(); n != 4 || !ok {
		t.Errorf("output %d", n)
	}
	if s.Cached().OK() {
		t.Error("a count below 0 is none")
	}
	if v, ok := s.FirstChunkS().Get(); v != 0.25 || !ok {
		t.Errorf("first chunk %v", v)
	}
	if !s.AsksModel() {
		t.Error("a model and a prompt's length make a request, though no operation is named")
	}
	list, _ := s.Attrs["list"].([]any)
	if len(list) != 2 || list[0] != "a" || list[1].(map[string]any)["k"] != true {
		t.Errorf("list %v", list)
	}
}

// A framework's span and the client's within it are one request; a circle ends.
func TestNested(t *testing.T) {
	chat := map[string]any{"gen_ai.operation.name": "chat"}
	var spans Spans
	for _, s := range []*Span{
		{Trace: "t", ID: "1", Attrs: map[string]any{"gen_ai.operation.name": "invoke_agent"}},
		{Trace: "t", ID: "2", Parent: "1", Attrs: chat},
		{Trace: "t", ID: "3", Parent: "2", Attrs: map[string]any{}},
		{Trace: "t", ID: "4", Parent: "3", Attrs: chat},
		{Trace: "u", ID: "4", Parent: "2", Attrs: chat}, // its parent is in another trace
		{Trace: "t", ID: "7", Parent: "7", Attrs: chat}, // its own parent
	} {
		spans.Add(s)
	}
	for i, want := range []bool{false, false, true, true, false, false} {
		if got := spans.Nested(spans.All[i]); got != want {
			t.Errorf("span %d: nested %v", i, got)
		}
	}
}

// The conventions count the cache within the prompt; what is larger than its whole was
// counted beside it (OpenLLMetry's Bedrock, pi-ai).
func TestCacheBesideThePrompt(t *testing.T) {
	const read, old, made = "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.cache_creation.input_tokens"
	for name, c := range map[string]struct {
		attrs map[string]any
		want  int64
	}{
		"within":           {map[string]any{"gen_ai.usage.input_tokens": "1012", read: "1000"}, 1012},
		"all of it":        {map[string]any{"gen_ai.usage.input_tokens": "1000", read: "1000"}, 1000},
		"beside":           {map[string]any{"gen_ai.usage.input_tokens": "12", read: "1000"}, 1012},
		"read and written": {map[string]any{"gen_ai.usage.input_tokens": "3", read: "5758", made: "6174"}, 11935},
		"written alone":    {map[string]any{"gen_ai.usage.input_tokens": 10.0, made: 2000.0}, 2010},
		"older names":      {map[string]any{"gen_ai.usage.prompt_tokens": "3", old: "5758"}, 5761},
		"no cache":         {map[string]any{"gen_ai.usage.input_tokens": "7"}, 7},
	} {
		s := Span{Attrs: c.attrs}
		if got, ok := s.Input().Get(); !ok || got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if s := (&Span{Attrs: map[string]any{read: "1000"}}); s.Input().OK() {
		t.Error("a prompt of which only the cache is known")
	}
}

// The conventions count reasoning within the output; what is larger than its whole was
// counted beside it. Names: semantic-conventions-genai, traceloop/docs#100, pydantic-ai.
func TestReasoning(t *testing.T) {
	for _, name := range []string{"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "gen_ai.usage.details.reasoning_tokens"} {
		for output, want := range map[string]int64{"520": 520, "500": 500, "20": 520} {
			s := Span{Attrs: map[string]any{"gen_ai.usage.output_tokens": output, name: "500"}}
			if s.Reasoning().Or(0) != 500 || s.Output().Or(0) != want {
				t.Errorf("%s beside %s: %v of %v, want 500 of %d", name, output, s.Reasoning(), s.Output(), want)
			}
		}
	}
}

// vLLM tells seconds (vllm/tracing: GEN_AI_LATENCY_TIME_TO_FIRST_TOKEN), the AI SDK
// milliseconds (ai.response.msToFirstChunk of its telemetry's documentation).
func TestFirstChunkUnderOtherNames(t *testing.T) {
	for name, value := range map[string]any{"gen_ai.response.time_to_first_chunk": 0.25, "gen_ai.latency.time_to_first_token": 0.25, "ai.response.msToFirstChunk": 250.0} {
		if got := (&Span{Attrs: map[string]any{name: value}}).FirstChunkS(); got.Or(0) != 0.25 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// LiteLLM 1.110 names its functions as operations, and writes a list as a text of JSON.
func TestLiteLLMsSpans(t *testing.T) {
	for operation, want := range map[string]bool{"acompletion": true, "aresponses": true, "anthropic_messages": true, "agenerate_content": true, "aembedding": false, "execute_tool": false} {
		s := &Span{Attrs: map[string]any{"gen_ai.operation.name": operation, "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1.0}}
		if s.AsksModel() != want {
			t.Errorf("%s asks a model: %v", operation, s.AsksModel())
		}
	}
	for _, reasons := range []any{`["length"]`, []any{"length", "stop"}, "length"} {
		if got := (&Span{Attrs: map[string]any{"gen_ai.response.finish_reasons": reasons}}).Finish(); got != "length" {
			t.Errorf("%v ended by %q", reasons, got)
		}
	}
	if got := (&Span{}).Finish(); got != "" {
		t.Errorf("%q", got)
	}
	written := &Span{Attrs: map[string]any{"gen_ai.usage.input_tokens": 10.0, "gen_ai.usage.cache_write.input_tokens": 90.0}}
	if n := written.Input().Or(0); n != 100 {
		t.Errorf("%d tokens beside what was written to a cache", n)
	}
}
