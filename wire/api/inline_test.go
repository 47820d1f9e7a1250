package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Reasoning that a server leaves in the text of the answer, between marks at its head, is
// reasoning, in whatever pieces it comes. A mark further on is a part of the answer.
// Sources: llama.cpp's --reasoning-format none, vLLM without --reasoning-parser, the chat
// templates of DeepSeek-R1, Qwen3, MiniMax, Magistral and Seed-OSS.
func TestReasoningInTheText(t *testing.T) {
	for _, c := range []struct {
		name   string
		pieces string // between |
		kinds  string // r: reasoning, t: text
	}{
		{"a token each", "<think>|hm|</think>|Hi| you", "rrrtt"},
		{"marks in pieces", "<|th|ink|>|hm|</|thi|nk>|Hi", "rrrrrrrrt"},
		{"with white space before", "\\n| |<think>|hm|</think>|Hi", "rrrrrt"},
		{"thought and answer in one piece", "<think>hm</think>Hi| you", "tt"},
		{"the answer behind the mark", "<think>hm|.</think>\\n\\nHi| you", "rtt"},
		{"empty", "<think>\\n\\n</think>|Hi", "rt"},
		{"escaped as by Go", "\\u003cthink\\u003e|hm|\\u003c/think\\u003e|Hi", "rrrt"},
		{"cut off", "<think>|hm|m", "rrr"},
		{"Magistral", "[THINK]|hm|[/THINK]|Hi", "rrrt"},
		{"Seed-OSS", "<seed:think>|hm|</think>|</seed:think>|Hi", "rrrrt"},
		{"MiniMax M3", "<mm:think>|hm|</mm:think>|Hi", "rrrt"},
		{"another mark", "<|html|>|Hi", "tttt"},
		{"a part of a mark alone", "<|thi", "tt"},
		{"further on", "Hi|<think>|hm|</think>", "tttt"},
		{"a second time", "<think>|hm|</think>|Hi|<think>|hm", "rrrttt"},
		{"plain", " Hi| you", "tt"},
		{"a list", "[|THINGS|]", "ttt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for piece := range strings.SplitSeq(c.pieces, "|") {
				chunks = append(chunks, delta(`"content":"`+piece+`"`))
			}
			chunks = append(chunks, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
			tl := timeline.New()
			s := NewStream(tl, OpenAIChat, StreamOptions{KeepText: true})
			s.Head(1, Head{200, eventStream})
			s.Read(2, 0, []byte(events(chunks...)))
			s.End(3, timeline.EOF, nil, nil)
			kinds := ""
			for ev := range tl.Events.Generation() {
				kinds += ev.Kind.String()[:1]
			}
			if kinds != c.kinds {
				t.Errorf("kinds %s, want %s", kinds, c.kinds)
			}
			marked := strings.HasPrefix(c.kinds, "r") || strings.HasPrefix(c.pieces, "<think>")
			if tl.Flags.Has(timeline.InlineReasoning) != marked {
				t.Errorf("flags %v", tl.Flags.Names())
			}
			plain := strings.NewReplacer("|", "", `\n`, "\n", `\u003c`, "<", `\u003e`, ">").Replace(c.pieces)
			if tl.Text != plain {
				t.Errorf("text %q, want %q", tl.Text, plain)
			}
		})
	}
}

// Of several choices it is not told: their texts are mixed.
func TestReasoningInTheTextOfSeveralChoices(t *testing.T) {
	tl := timeline.New()
	s := NewStream(tl, OpenAIChat, StreamOptions{})
	s.Head(1, Head{200, eventStream})
	s.Read(2, 0, []byte(events(`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, `{"choices":[{"index":0,"delta":{"content":"<think>"}}]}`)))
	s.End(3, timeline.EOF, nil, nil)
	for ev := range tl.Events.Generation() {
		if ev.Kind != timeline.Text {
			t.Errorf("kind %s", ev.Kind)
		}
	}
}
