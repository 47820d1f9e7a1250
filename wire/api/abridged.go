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

// abridges reports whether a model of this name shows a summary of its thoughts, as
// Claude has done since version 4; 3.7 shows them in full. Who else is called so sends no
// signature of that length.
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking and
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-differences.html
func abridges(model string) bool {
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

const digits = "0123456789"

// abridges reports whether the thoughts that came are a summary by the model's name: by that
// of the reply, where it tells, or by the one that was asked for, which may be an alias.
func (s *Stream) abridges() bool {
	if makeIn(s.tl.ServedModel, "claude") >= 0 {
		return abridges(s.tl.ServedModel)
	}
	return abridges(s.tl.Model)
}

// summarises reports whether a model of this name shows a summary of its thoughts at most,
// whatever a gateway calls it: Google's, and OpenAI's but for gpt-oss, which others serve.
// Source: https://ai.google.dev/gemini-api/docs/thinking#summaries and
// https://developers.openai.com/api/docs/guides/reasoning#reasoning-summaries
func summarises(model string) bool {
	if isGemini(model) {
		return true
	}
	if behind, is := plainly(model, "gpt"); is {
		return !strings.HasPrefix(strings.ToLower(strings.TrimLeft(behind, "-_. ")), "oss")
	}
	model = strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, host := range []string{"openai", "azure"} {
		model = strings.TrimLeft(strings.TrimPrefix(model, host), "-._")
	}
	return len(model) > 1 && model[0] == 'o' && isDigit(model[1]) // o3, o4-mini; not Marco-o1
}

// plainly is what stands behind the make in a model's name. A digit before it is of another
// model, which was made of its answers: Qwen3-8B-Gemini-2.5-Flash-Distill.
func plainly(model, name string) (behind string, is bool) {
	at := makeIn(model, name)
	if at < 0 || strings.ContainsAny(model[strings.LastIndexByte(model, '/')+1:at], digits) {
		return "", false
	}
	return model[at+len(name):], true
}

// either reports whether something is so of the model that was asked for or of the one that
// the reply names.
func (s *Stream) either(is func(model string) bool) bool {
	return is(s.tl.Model) || is(s.tl.ServedModel)
}

// uncounted reports whether the thoughts that came are a summary by the model's name, or none
// came at all, and usage counts all of them and does not say how many: so gateways tell those
// of Gemini and GPT by Anthropic's API, and Claude's by others, where its signature may be left
// out (new-api), and where they may have counted the summary.
// Where as many events came as it counts, they came in full: that is another model under the
// name.
func (s *Stream) uncounted() bool {
	u := &s.tl.Usage
	n := u.Output.Or(0)
	if n <= s.tokens+s.tokens/16+1 || s.reasoned == 0 && !s.unseen(n) {
		return false
	}
	return u.Reasoning.Or(0) == 0 && s.either(summarises) || s.api != Anthropic && s.abridges() && s.either(isClaude)
}

// unseen reports whether n tokens are by far more than the answer's text has, by an API of
// another maker than the model's: gateways show no thoughts there and drop their count
// (LiteLLM 1.108.7, claude-code-router 2.0.0). A call's name and its frame are tokens without
// bytes, so that answers of anything but text tell nothing.
func (s *Stream) unseen(n int64) bool {
	if s.api != Anthropic && (s.api != Gemini || s.either(isGemini)) || s.tl.Usage.Reasoning.OK() || !s.tl.Streamed {
		return false
	}
	var bytes int64
	for e := range s.tl.Events.Generation() {
		if e.Kind != timeline.Text {
			return false
		}
		bytes += e.Bytes
	}
	return fewFor(n, s.tokens, bytes, false)
}

// isClaude reports whether a model of this name is Anthropic's.
func isClaude(model string) bool {
	_, is := plainly(model, "claude")
	return is
}

// isGemini reports whether a model of this name is Google's.
func isGemini(model string) bool {
	_, is := plainly(model, "gemini")
	return is
}

// makeIn is where a model's name says its make, as a word; -1: nowhere. Hosts put their own
// names before it and write it as they like: databricks-claude-opus-4-6,
// anthropic--claude-4-sonnet, Claude-Sonnet-4.5.
func makeIn(model, name string) int {
	within := false // a word
	for i := strings.LastIndexByte(model, '/') + 1; i+len(name) <= len(model); i++ {
		end := i + len(name)
		if !within && strings.EqualFold(model[i:end], name) && (end == len(model) || !isLetter(model[end])) {
			return i
		}
		within = isLetter(model[i])
	}
	return -1
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
