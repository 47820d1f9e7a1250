package api

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Reasoning that a server leaves in the text of the answer, between marks at its head, is
// reasoning, in whatever pieces it comes. An opening mark further on is a part of the answer;
// a closing one that none came before ends a thought that the template opened.
// Sources: llama.cpp's --reasoning-format none, vLLM without --reasoning-parser, the chat
// templates of DeepSeek-R1, Qwen3, MiniMax, Magistral and Seed-OSS;
// https://github.com/ggml-org/llama.cpp/issues/11861 and vllm-project/vllm/issues/13125 (a
// closing mark alone); https://developers.openai.com/cookbook/articles/openai-harmony;
// Gemma 4's tokenizer_config.json.
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
		{"gpt-oss at Amazon Bedrock", "<reasoning>The user|is asking.</reasoning>|\\n(4200)", "rrt"}, // its OpenAI path; LiteLLM parts it so
		{"EXAONE Deep", "<thought>|\\nhm|</thought>|Hi", "rrrt"},
		{"Kimi-VL", "◁|think▷|hm|◁/think▷|Hi", "rrrrt"},
		{"Kimi-VL, escaped", "\\u25c1think\\u25b7|hm|◁/think▷|Hi", "rrrt"},
		{"Command A", "<~START_THINKING~>|hm|<~END_THINKING~>|Hi", "rrrt"},
		{"LongCat", "<longcat_think>|hm|</longcat_think>|Hi", "rrrt"},
		{"a quotation", "“Hi”| you", "tt"},
		{"another mark", "<|html|>|Hi", "tttt"},
		{"a part of a mark alone", "<|thi", "tt"},
		{"further on", "Hi|<think>|hm|</think>", "tttt"},
		{"harmony", "<~channel~>|analysis|<~message~>|hm|<~end~>|<~start~>|assistant|<~channel~>|final|<~message~>|Hi| you", "rrrrrrrrrrtt"},
		{"harmony, the answer alone", "<~channel~>|final|<~message~>|Hi", "tttt"},
		{"Gemma 4", "<~channel>|thought\\n|hm|<channel~>|Hi", "rrrrt"},
		{"opened by the template", "Okay|, hm|.\\n|</think>|\\n\\n|Hi| you", "rrrrttt"},
		{"opened so, the mark in pieces", "Okay| a < b|</|think|>|Hi", "rrrrrt"},
		{"opened so, thought and answer in one piece", "Okay|. </think> Hi| you", "rtt"},
		{"opened so, empty", "</think>|Hi", "rt"},
		{"opened so, escaped", "Okay|\\u003c/think\\u003e|Hi", "rrt"},
		{"opened so, cut off", "Okay|, hm", "tt"},
		{"of marks", "Put thoughts in <think> and </think>| marks", "tt"},
		{"of one mark", "DeepSeek closes it by|, as in| `</think>`| at its end", "tttt"},
		{"of one mark, in pieces", "It is| |`|</|think>|`", "tttttt"},
		{"of one mark, in quotation marks", "Write \\\"</think>\\\" first|.", "tt"},
		{"of one mark, in German and Chinese ones", "Es heißt „|</think>“|.", "ttt"},
		{"of one mark, in Chinese ones", "用「</think>」| 结束", "tt"},
		{"of one mark, in English and French ones", "It is “|</think>”|, « </think> »", "ttt"},
		{"a thought that ends in a German quotation", "Also „Paris“|</think>|Paris", "rrt"},
		{"a thought that ends in Chinese", "好的。|</think>|你好", "rrt"},
		{"a thought that ends in a quotation", "Okay, \\\"Paris\\\"|</think>|Paris", "rrt"},
		{"a thought that ends in code", "It is `f`|</think>|f", "rrt"},
		{"harmony in JSON", "<~channel~>|analysis|<~message~>|hm|<~end~>|<~start~>|assistant|<~channel~>|final| |<~constrain~>|json|<~message~>|{}", "rrrrrrrrrrrrrt"},
		{"a lone mark after all", "<think>|hm|</think>|Hi|</think>|.", "rrrttt"},
		{"a second time", "<think>|hm|</think>|Hi|<think>|hm", "rrrttt"},
		{"plain", " Hi| you", "tt"},
		{"a list", "[|THINGS|]", "ttt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for piece := range strings.SplitSeq(c.pieces, "|") {
				chunks = append(chunks, delta(`"content":"`+strings.ReplaceAll(piece, "~", "|")+`"`))
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
			plain := strings.NewReplacer("|", "", "~", "|", `\n`, "\n", `\"`, `"`, `\u003c`, "<", `\u003e`, ">", `\u25c1`, "◁", `\u25b7`, "▷").Replace(c.pieces)
			if tl.Text != plain {
				t.Errorf("text %q, want %q", tl.Text, plain)
			}
		})
	}
}

// Each choice has a text of its own, and reasoning that came as such leaves no mark to look for.
func TestReasoningInTheTextOfSeveralChoices(t *testing.T) {
	for want, chunks := range map[string][]string{
		"trrrrrtrrt": {`1 a`, `0 <think>`, `0 hm`, `2 b`, `2 </think>`, `0 </think>`, `0 A`, `3 Well`, `3 </think>`, `3 D`},
		"rtt":        {`0 {"reasoning_content":"hm"}`, `0 Hi`, `0 </think>`},
	} {
		for i, c := range chunks {
			index, delta, _ := strings.Cut(c, " ")
			if delta[0] != '{' {
				delta = `{"content":"` + delta + `"}`
			}
			chunks[i] = `{"choices":[{"index":` + index + `,"delta":` + delta + `}]}`
		}
		tl := timeline.New()
		s := NewStream(tl, OpenAIChat, StreamOptions{})
		s.Head(1, Head{200, eventStream})
		s.Read(2, 0, []byte(events(chunks...)))
		s.End(3, timeline.EOF, nil, nil)
		kinds := ""
		for ev := range tl.Events.Generation() {
			kinds += ev.Kind.String()[:1]
		}
		if kinds != want {
			t.Errorf("kinds %s, want %s", kinds, want)
		}
	}
}
