package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/wire/api"
)

const toolTalk = `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"weather in Bonn?"},
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}}]},
{"role":"tool","tool_call_id":"c1","content":"rain, 9 °C"},{"role":"assistant","content":"Rain."},{"role":"user","content":"and tomorrow?"}]}`

// A recorded conversation with tools is sent as it is, or turn by turn.
func TestRecordedToolMessages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "talk.jsonl")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(toolTalk, "\n", "")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := load(t, name, Options{})
	it := whole.Item(0)
	if it.Err != nil || it.Len() != 1 || len(it.Messages) != 6 || it.Messages[3].ToolCallID != "c1" || it.Messages[2].ToolCalls[0].Function.Arguments != `{"city":"Bonn"}` {
		t.Fatalf("%+v", it)
	}
	turns, err := FromSpec("x", Spec{Content: Content{File: name, Turns: "9"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer turns.Close()
	it = turns.Item(0)
	if it.Len() != 3 || it.Kind != Conversation {
		t.Fatalf("%d turns, %v, %v", it.Len(), it.Kind, it.Err)
	}
	var roles []string
	for _, m := range it.Conversation(2, nil) {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool assistant user" {
		t.Errorf("the last turn sends %s", got)
	}
	second := it.Conversation(1, nil)
	if m := second[len(second)-1]; m.Role != "tool" || m.Content != "rain, 9 °C" || second[2].ToolCalls[0].ID != m.ToolCallID {
		t.Errorf("the second turn sends %+v", second)
	}
}

func TestMessageErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`: "must be in the file",
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%%"}}]}`:  "no base64",
		`{"role":"user","content":[{"type":"input_audio"}]}`:                                               "texts and pictures",
		`{"role":"assistant","content":null}`:                                                              "neither a text",
		`{"role":"assistant","content":null,"tool_calls":[{}]}`:                                            "has no name",
		`{"role":"assistant","content":null,"tool_calls":7}`:                                               "no list",
		`{"content":"x"}`: `no "role"`,
	} {
		if _, _, err := chat("[" + text + "]"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	m, _, err := chat(`[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lG"}}]}]`)
	if err != nil || m[0].Content != "see" || m[0].Images[0].MIME != "image/gif" || string(m[0].Images[0].Data) != "GIF" {
		t.Errorf("%+v %v", m, err)
	}
}

// The user's own pictures are sent as they are, the same ones for one seed.
func TestOwnPictures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.png", "b.JPG", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := Spec{Content: Content{Input: "8", Images: &ImagesSpec{Files: dir, Count: "2"}}}
	seen := map[string]string{}
	var first []api.Image
	for range 2 {
		l, err := FromSpec("x", spec, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(20) {
			it := l.Item(i)
			if it.Err != nil || len(it.Messages[0].Images) != 2 {
				t.Fatalf("%+v", it)
			}
			for _, p := range it.Messages[0].Images {
				seen[string(p.Data)] = p.MIME
			}
		}
		if now := l.Item(3).Messages[0].Images; first == nil {
			first = now
		} else if string(now[0].Data) != string(first[0].Data) || string(now[1].Data) != string(first[1].Data) {
			t.Error("the same seed takes other pictures")
		}
	}
	if len(seen) != 2 || seen["a.png"] != "image/png" || seen["b.JPG"] != "image/jpeg" {
		t.Errorf("%v", seen)
	}
	spec.Images.Files = filepath.Join(dir, "*.webp")
	if _, err := FromSpec("x", spec, Options{}); err == nil || !strings.Contains(err.Error(), "no picture") {
		t.Errorf("%v", err)
	}
}

// What agents write for servers to read and is not sent is told: reasoning that DeepSeek
// wants back (https://api-docs.deepseek.com/guides/thinking_mode), cache_control of
// Anthropic's parts, detail of OpenAI's pictures. Empty members say nothing.
func TestMembersThatAreNotSent(t *testing.T) {
	for text, want := range map[string]string{
		`{"role":"assistant","content":"","reasoning_content":"why","tool_calls":[{"id":"a","function":{"name":"f"}}]}`:                            "messages.reasoning_content",
		`{"role":"assistant","content":"x","reasoning":"why","reasoning_details":[{"text":"why"}]}`:                                                "messages.reasoning messages.reasoning_details",
		`{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`:                                              "messages.content.cache_control",
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lG","detail":"low"}}]}`:                         "messages.content.image_url.detail",
		`{"role":"assistant","content":"x","prefix":true}`:                                                                                         "messages.prefix",
		`{"role":"assistant","content":"x","reasoning_content":null,"reasoning":"","thinking_blocks":[],"prefix":false,"name":"a","refusal":null}`: "",
	} {
		_, unsent, err := chat("[" + text + "," + text + "]")
		if got := strings.Join(unsent, " "); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", text, got, err, want)
		}
	}
}
