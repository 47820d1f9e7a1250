package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// ReadPrompts reads a file of prompts: one a line, as plain text, or as JSON
// objects with "prompt", "text" or "messages" and optionally "max_tokens" or
// "output_tokens". It is JSON when the first line is an object. Blank lines are
// skipped. Errors name the line.
func ReadPrompts(r io.Reader, name string) ([]Prompt, error) {
	data, err := limitio.All(r, maxPrompts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	isJSON := json.Valid(firstLine(data)) && bytes.HasPrefix(firstLine(data), []byte("{")) ||
		strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson")
	var prompts []Prompt
	for i, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		p := Text(string(line))
		if isJSON {
			if p, err = parsePrompt(line); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
			}
		}
		prompts = append(prompts, p)
	}
	if len(prompts) == 0 {
		return nil, fmt.Errorf("%s: no prompts in the file (--prompts wants one a line)", name)
	}
	return prompts, nil
}

// maxPrompts is the size of a file of prompts, which is held in memory.
const maxPrompts = 512 << 20

func firstLine(data []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	return bytes.TrimSpace(line)
}

func parsePrompt(line []byte) (Prompt, error) {
	var in struct {
		Prompt, Text *string
		Messages     []message
		MaxTokens    *int64 `json:"max_tokens"`
		OutputTokens *int64 `json:"output_tokens"`
	}
	if err := json.Unmarshal(line, &in); err != nil {
		return Prompt{}, err
	}
	var p Prompt
	switch {
	case len(in.Messages) > 0:
		for i, m := range in.Messages {
			text, err := m.text()
			if err != nil {
				return Prompt{}, fmt.Errorf("message %d: %w", i+1, err)
			}
			p.Messages = append(p.Messages, api.Message{Role: m.Role, Content: text})
		}
	case in.Prompt != nil && *in.Prompt != "":
		p = Text(*in.Prompt)
	case in.Text != nil && *in.Text != "":
		p = Text(*in.Text)
	default:
		return Prompt{}, fmt.Errorf(`want a "prompt", "text" or "messages" that is not empty`)
	}
	for _, n := range []*int64{in.MaxTokens, in.OutputTokens} {
		if n == nil {
			continue
		}
		if *n < 1 || *n > MaxTokens {
			return Prompt{}, fmt.Errorf("an output length of %d; want 1 to %d", *n, MaxTokens)
		}
		p.MaxTokens = timeline.Some(*n)
	}
	return p, nil
}

// message is a chat message whose content is a text or a list of parts.
type message struct {
	Role    string
	Content json.RawMessage
}

func (m message) text() (string, error) {
	if m.Role == "" {
		return "", fmt.Errorf(`no "role"`)
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text, nil
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", fmt.Errorf(`"content" is neither a text nor a list of parts`)
	}
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a part of type %q; only text is supported", p.Type)
		}
		text += p.Text
	}
	return text, nil
}
