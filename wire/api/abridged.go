package api

import (
	"strings"

	"tokenmeter/record/timeline"
)

// This file tells thoughts of which a reply has a summary, and in its output tokens all.

// leastSeal is how long a signature of Claude's thoughts is at least, in bytes: it holds
// them, encrypted. Others that speak Anthropic's API send none, an empty one, a
// placeholder or a hash.
const leastSeal = 65

// claudeSummarises reports whether a model of this name is a Claude that shows a summary of
// its thoughts, as it has done since version 4; 3.7 shows them in full. Who else is called
// so sends no signature of that length.
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking and
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-differences.html
func claudeSummarises(model string) bool {
	at := makeIn(model, "claude")
	if at < 0 {
		return false
	}
	behind := model[at:]
	first := strings.IndexAny(behind, digits)
	if first < 0 {
		return true
	}
	version := behind[first:]
	early := '1' <= version[0] && version[0] <= '3'
	return !early || len(version) > 1 && isDigit(version[1]) // a 10, or a date
}

// claudeSummarises reports whether the thoughts that came are Claude's summary by the model's
// name: by that of the reply, where it tells, or by the one that was asked for, which may be
// an alias.
func (s *Stream) claudeSummarises() bool {
	if makeIn(s.tl.ServedModel, "claude") >= 0 {
		return claudeSummarises(s.tl.ServedModel)
	}
	return claudeSummarises(s.tl.Model)
}

// showsSummaries reports whether a model of this name shows a summary of its thoughts at most,
// whatever a gateway calls it: Google's, and OpenAI's but for gpt-oss, which others serve.
// Source: https://ai.google.dev/gemini-api/docs/thinking#summaries and
// https://developers.openai.com/api/docs/guides/reasoning#reasoning-summaries
func showsSummaries(model string) bool {
	if isGemini(model) {
		return true
	}
	if behind, is := behindMake(model, "gpt"); is {
		return !strings.HasPrefix(strings.ToLower(strings.TrimLeft(behind, "-_. ")), "oss")
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, host := range []string{"openai", "azure"} {
		model = strings.TrimLeft(strings.TrimPrefix(model, host), "-._")
	}
	return len(model) > 1 && model[0] == 'o' && isDigit(model[1]) // o3, o4-mini; not Marco-o1
}

// modelIs reports whether something is so of the model that was asked for or of the one that
// the reply names.
func (s *Stream) modelIs(so func(model string) bool) bool {
	return so(s.tl.Model) || so(s.tl.ServedModel)
}

// thoughtsUncounted reports whether the output tokens hold thoughts of which nobody says how
// many they are. It goes by the model's name:
//
//   - Google's and OpenAI's show a summary at most, and usage counts no thoughts, as gateways
//     tell them by Anthropic's API;
//   - Claude's by another maker's API: its signature may be left out (new-api), and what is
//     counted may be the summary (LiteLLM).
//
// Where no thought came at all, the text must be too short for the tokens. Where as many events
// came as tokens, the thoughts came in full: that is another model under the name.
func (s *Stream) thoughtsUncounted() bool {
	u := &s.tl.Usage
	n := u.Output.Or(0)
	if n <= s.tokens+s.tokens/16+1 || s.reasoned == 0 && !s.textTooShort(n) {
		return false
	}
	return u.Reasoning.Or(0) == 0 && s.modelIs(showsSummaries) || s.api != Anthropic && s.claudeSummarises() && s.modelIs(isClaude)
}

// textTooShort reports whether n tokens are by far more than the answer's text has, by the API
// of another maker than the model's: gateways show no thoughts there and drop their count
// (LiteLLM 1.108.7, claude-code-router 2.0.0). A call's name and its frame are tokens without
// bytes, so that answers of anything but text tell nothing.
func (s *Stream) textTooShort(n int64) bool {
	if s.api != Anthropic && (s.api != Gemini || s.modelIs(isGemini)) || s.tl.Usage.Reasoning.OK() || !s.tl.Streamed {
		return false
	}
	var bytes int64
	for e := range s.tl.Events.Generation() {
		if e.Kind != timeline.Text {
			return false
		}
		bytes += e.Bytes
	}
	const wide = false // not known of it, and taken as English
	return tooLittleFor(n, s.tokens, bytes, wide)
}
