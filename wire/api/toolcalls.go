package api

import (
	"encoding/json"
	"errors"
	"slices"
)

// ToolCall is a call of a tool in a conversation that is repeated.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"` // function
	Function ToolFunction `json:"function"`
}

// ToolFunction is what is called, with its arguments as a JSON text.
type ToolFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (m *Message) tools() bool { return len(m.ToolCalls) > 0 || m.ToolCallID != "" }

func (r *Request) hasTools() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return m.tools() })
}

var errNoTools = errors.New("this API takes no recorded tool messages here; use openai-chat, ollama-chat or anthropic")

// anthropicTools writes calls and results as that API has them: parts of the
// assistant's and of the user's messages.
func anthropicTools(m *Message, parts []any) any {
	if m.ToolCallID != "" {
		return map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": m.ToolCallID, "content": m.Content}}}
	}
	for _, c := range m.ToolCalls {
		parts = append(parts, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Function.Name, "input": argumentsOf(c.Function.Arguments)})
	}
	return map[string]any{"role": m.Role, "content": parts}
}

// argumentsOf is a JSON text as an object; what is none becomes an empty one.
func argumentsOf(text string) any {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil || v == nil {
		return map[string]any{}
	}
	return v
}
