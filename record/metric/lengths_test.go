package metric

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// The words about answers of another length name what ended them.
func TestShortAnswersNameTheReason(t *testing.T) {
	for name, c := range map[string]struct {
		finish []string
		usage  bool
		why    string
		do     string
	}{
		"the model":          {[]string{"stop", "stop", "stop"}, true, "the model ended them itself", "--ignore-eos"},
		"Anthropic's model":  {[]string{"end_turn", "end_turn"}, true, "the model ended them itself", "--ignore-eos"},
		"a limit":            {[]string{"length", "length", "stop"}, true, "Of 3 short ones, a limit of the server cut them in 2", "context"},
		"Gemini's limit":     {[]string{"MAX_TOKENS"}, true, "a limit of the server cut them", "context"},
		"tool calls":         {[]string{"tool_calls", "tool_use"}, true, "a tool call", "tools"},
		"a filter":           {[]string{"content_filter", "SAFETY"}, true, "a filter", "lets through"},
		"nothing said":       {[]string{"", ""}, true, "no reason", "--keep-text"},
		"counted as chunks":  {[]string{"stop", "stop"}, false, "counted as chunks", "--tokenizer"},
		"none of them short": {nil, true, "", ""},
	} {
		collected := NewCollector(CollectorOpts{})
		add := func(finish string, asked int64) {
			m := made{events: 10, gap: 5}.timeline()
			m.FinishReason, m.Requested = finish, timeline.Some(asked)
			if !c.usage {
				m.Usage.Output = timeline.Opt[int64]{}
			}
			collected.Add(m)
		}
		add("length", 10) // as long as asked
		for _, finish := range c.finish {
			add(finish, 100)
		}
		f := collected.Facts()
		if !strings.Contains(f.OSLWhy, c.why) || !strings.Contains(f.OSLDo, c.do) || (c.why == "") != (f.OSLWhy == "") {
			t.Errorf("%s: %q, %q", name, f.OSLWhy, f.OSLDo)
		}
		says := ""
		for _, w := range collected.Summary().Warnings {
			if w.Name == "osl_mismatch" {
				says = w.Says
			}
		}
		if !strings.Contains(says, c.why) || (says == "") != (c.why == "") {
			t.Errorf("%s: the warning is %q", name, says)
		}
	}
}

// Of prompts it is told which way they are off, and how much of it a template is.
func TestPromptLengthsNameTheReason(t *testing.T) {
	for _, c := range []struct {
		mean, asked, template float64
		why                   string
	}{
		{144, 128, 0, "adds a chat template"},
		{144, 128, 15, "15 tokens of each are the server's chat template"},
		{300, 128, 15, "its tokenizer needs more"},
		{64, 128, 0, "cuts prompts"},
		{64, 128, 15, "cuts prompts"},
	} {
		if why, do := promptWords(c.mean, c.asked, c.template); !strings.Contains(why, c.why) || do == "" {
			t.Errorf("%v: %q, %q", c, why, do)
		}
	}
}
