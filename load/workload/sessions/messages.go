package sessions

import (
	"encoding/json"
	"hash/fnv"
	"strings"

	"tokenmeter/record/genai"
	"tokenmeter/wire/api"
)

// spanMessages is the prompt of a span that has its texts (gen_ai.input.messages
// with parts, and gen_ai.system_instructions); nil where one part of it can't be
// sent, as pictures can't.
func spanMessages(sp *genai.Span) []api.Message {
	list := jsonList(sp.Attrs["gen_ai.input.messages"])
	if len(list) == 0 {
		return nil
	}
	var out []api.Message
	if parts := jsonList(sp.Attrs["gen_ai.system_instructions"]); len(parts) > 0 {
		if m, ok := partsOf("system", parts); ok {
			out = append(out, m...)
		}
	}
	for _, v := range list {
		object, _ := v.(map[string]any)
		role, _ := object["role"].(string)
		parts, ok := object["parts"].([]any)
		if text, plain := object["content"].(string); !ok && plain {
			parts = []any{map[string]any{"type": "text", "content": text}}
		}
		m, ok := partsOf(role, parts)
		if !ok {
			return nil
		}
		out = append(out, m...)
	}
	return out
}

// unsentOf names what a span has of its prompt beside messages that can be sent: the
// tools' definitions, and reasoning of earlier answers.
func unsentOf(sp *genai.Span) (names []string) {
	if len(jsonList(sp.Attrs["gen_ai.tool.definitions"])) > 0 {
		names = append(names, "gen_ai.tool.definitions")
	}
	for _, v := range jsonList(sp.Attrs["gen_ai.input.messages"]) {
		object, _ := v.(map[string]any)
		parts, _ := object["parts"].([]any)
		for _, v := range parts {
			if p, _ := v.(map[string]any); isReasoning(p["type"]) {
				return append(names, "reasoning")
			}
		}
	}
	return names
}

func isReasoning(kind any) bool { return kind == "reasoning" || kind == "thinking" }

// jsonList is a list, or a text that holds one.
func jsonList(v any) []any {
	if text, ok := v.(string); ok {
		s := newScanner(strings.NewReader(text))
		if v = s.value(0); s.err != nil {
			return nil
		}
	}
	list, _ := v.([]any)
	return list
}

// partsOf makes messages of a message's parts: results of tools stand for
// themselves.
func partsOf(role string, parts []any) (out []api.Message, ok bool) {
	switch role {
	case "system", "developer", "user", "assistant", "tool":
	default:
		return nil, false
	}
	m := api.Message{Role: role}
	for _, v := range parts {
		p, _ := v.(map[string]any)
		kind, _ := p["type"].(string)
		switch kind {
		case "text", "":
			text, isText := p["content"].(string)
			if !isText {
				return nil, false
			}
			m.Content += text
		case "reasoning", "thinking": // is not sent again
		case "tool_call":
			call := api.ToolCall{Type: "function"}
			call.ID, _ = p["id"].(string)
			call.Function.Name, _ = p["name"].(string)
			call.Function.Arguments = textOf(p["arguments"])
			m.ToolCalls = append(m.ToolCalls, call)
		case "tool_call_response":
			result := p["response"]
			if result == nil {
				result = p["result"]
			}
			id, _ := p["id"].(string)
			out = append(out, api.Message{Role: "tool", ToolCallID: id, Content: textOf(result)})
		default:
			return nil, false
		}
	}
	if m.Content != "" || len(m.ToolCalls) > 0 {
		out = append(out, m)
	}
	return out, len(out) > 0
}

// textOf is a text as it is, and anything else as JSON.
func textOf(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil || v == nil {
		return ""
	}
	return string(data)
}

// flat is a prompt as one text.
func flat(messages []api.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Role)
		b.WriteByte('\n')
		b.WriteString(m.Content)
		for _, c := range m.ToolCalls {
			b.WriteString(c.Function.Name)
			b.WriteString(c.Function.Arguments)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// textIDs are ids of a prompt's texts, each for 64 bytes and all in front of them:
// about a block of 16 tokens.
func textIDs(messages []api.Message) (ids []uint64) {
	const stretch = lengthBlock * bytesPerToken
	text := flat(messages)
	h := fnv.New64a()
	for len(text) >= stretch {
		h.Write([]byte(text[:stretch]))
		ids, text = append(ids, h.Sum64()), text[stretch:]
	}
	return ids
}
