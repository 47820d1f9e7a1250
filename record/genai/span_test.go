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
