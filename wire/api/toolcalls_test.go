package api

import (
	"encoding/json"
	"strings"
	"testing"
)

// A recorded tool call and its result stand in the way of each API.
func TestToolMessages(t *testing.T) {
	conversation := []Message{
		{Role: "user", Content: "weather?"},
		{Role: "assistant", ToolCalls: []ToolCall{{ID: "c1", Type: "function", Function: ToolFunction{"weather", `{"city":"Bonn"}`}}}},
		{Role: "tool", Content: "rain", ToolCallID: "c1"},
	}
	for a, want := range map[*API]string{
		OpenAIChat: `[{"role":"user","content":"weather?"},
			{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}}]},
			{"role":"tool","content":"rain","tool_call_id":"c1"}]`,
		Anthropic: `[{"role":"user","content":"weather?"},
			{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{"city":"Bonn"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"rain"}]}]`,
		OllamaChat: `[{"role":"user","content":"weather?"},
			{"role":"assistant","content":"","tool_calls":[{"function":{"name":"weather","arguments":{"city":"Bonn"}}}]},
			{"role":"tool","content":"rain"}]`,
	} {
		call, err := a.Build(&Request{Model: "m", Messages: conversation})
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		var body struct{ Messages any }
		var expected any
		if err := json.Unmarshal(call.Body, &body); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(body.Messages)
		wanted, _ := json.Marshal(expected)
		if string(got) != string(wanted) {
			t.Errorf("%s:\n got %s\nwant %s", a.Name, got, wanted)
		}
	}
	if _, err := TGI.Build(&Request{Messages: conversation}); err == nil || !strings.Contains(err.Error(), "tool messages") {
		t.Errorf("an API without tool messages: %v", err)
	}
}
