package workload

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/wire/api"
)

// roles are those that some API takes.
var roles = []string{"system", "developer", "user", "assistant", "tool", "function"}

// chatMessage reads a message of a file: a role and a content, which is a text
// or a list of parts (texts, and pictures as data: URLs); an assistant's calls
// of tools; the call whose result a tool's message is.
func chatMessage(v any) (api.Message, error) {
	object, _ := v.(map[string]any)
	role, _ := object["role"].(string)
	if role == "" {
		return api.Message{}, errors.New(`no "role"`)
	}
	if !slices.Contains(roles, role) {
		return api.Message{}, fmt.Errorf("the role %q; want one of %s", role, strings.Join(roles, ", "))
	}
	m := api.Message{Role: role}
	m.ToolCallID, _ = object["tool_call_id"].(string)
	if err := toolCalls(&m, object["tool_calls"]); err != nil {
		return m, err
	}
	switch content := object["content"].(type) {
	case nil:
		if len(m.ToolCalls) > 0 {
			return m, nil
		}
	case string:
		m.Content = content
		return m, nil
	case []any:
		for _, p := range content {
			if err := readPart(&m, p); err != nil {
				return m, err
			}
		}
		return m, nil
	}
	return api.Message{}, errors.New(`"content" is neither a text nor a list of parts`)
}

func readPart(m *api.Message, v any) error {
	p, _ := v.(map[string]any)
	kind, _ := p["type"].(string)
	text, _ := p["text"].(string)
	switch kind {
	case "text", "input_text":
		m.Content += text
		return nil
	case "image_url", "input_image":
		url, isText := p["image_url"].(string)
		if object, ok := p["image_url"].(map[string]any); ok {
			url, isText = object["url"].(string)
		}
		if !isText {
			return fmt.Errorf("a part of type %q without its picture", kind)
		}
		picture, err := dataURL(url)
		m.Images = append(m.Images, picture)
		return err
	}
	return fmt.Errorf("a part of type %q; texts and pictures (image_url) are supported", kind)
}

// dataURL reads a picture that stands in the file itself. Others are not
// fetched: what a run sends must not depend on the net.
func dataURL(url string) (api.Image, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ",")
	mime, packed := strings.CutSuffix(head, ";base64")
	if !ok || !packed || !strings.HasPrefix(url, "data:image/") {
		return api.Image{}, errors.New("a picture must be in the file (data:image/…;base64,…), or be named by images: {files: …}")
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return api.Image{}, fmt.Errorf("a picture is no base64: %w", err)
	}
	return api.Image{MIME: mime, Data: data}, nil
}

func toolCalls(m *api.Message, v any) error {
	list, ok := v.([]any)
	if !ok && v != nil {
		return errors.New(`"tool_calls" is no list`)
	}
	for i, x := range list {
		object, _ := x.(map[string]any)
		function, _ := object["function"].(map[string]any)
		c := api.ToolCall{Type: "function"}
		c.ID, _ = object["id"].(string)
		c.Function.Name, _ = function["name"].(string)
		if c.Function.Name == "" {
			return fmt.Errorf("tool call %d: the function has no name", i+1)
		}
		switch arguments := function["arguments"].(type) {
		case string:
			c.Function.Arguments = arguments
		case nil:
			c.Function.Arguments = "{}"
		default:
			data, err := json.Marshal(arguments)
			if err != nil {
				return fmt.Errorf("tool call %d: %w", i+1, err)
			}
			c.Function.Arguments = string(data)
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return nil
}
