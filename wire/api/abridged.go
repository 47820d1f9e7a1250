package api

import "bytes"

// This file tells thoughts of which a reply has a summary, and in its output tokens all.

// leastSeal is how long a signature of Claude's thoughts is at least, in bytes: it holds
// them, encrypted. Others that speak Anthropic's API send none, an empty one, a
// placeholder or a hash.
const leastSeal = 65

// abridges reports whether a model of this name shows a summary of its thoughts, as
// Claude has done since version 4; 3.7 shows them in full.
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking and
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-differences.html
func abridges(model []byte) bool {
	if _, after, found := bytes.Cut(model, []byte("anthropic.")); found {
		model = after
	}
	behind, is := madeAs(model, "claude")
	version := bytes.IndexAny(behind, "0123456789")
	return is && version >= 0 && behind[version] >= '4'
}

// isGemini reports whether a model of this name is Google's, all of which show summaries
// of their thoughts, whatever a gateway calls these.
// Source: https://ai.google.dev/gemini-api/docs/thinking#summaries
func isGemini(model string) bool {
	_, is := madeAs([]byte(model), "gemini")
	return is
}

// madeAs reports whether a model is of a make, and what stands behind that in its name.
// Hosts put their own names before it and write it as they like: databricks-claude-opus-4-6,
// anthropic--claude-4-sonnet, Claude-Sonnet-4.5. A digit before it is of another model,
// which was made of its answers: Qwen3-14B-claude-distill.
func madeAs(model []byte, name string) (behind []byte, is bool) {
	model = model[bytes.LastIndexByte(model, '/')+1:]
	within := false // a word
	for i, c := range model {
		switch {
		case '0' <= c && c <= '9':
			return nil, false
		case !within && len(model)-i > len(name) && bytes.EqualFold(model[i:i+len(name)], []byte(name)) && !isLetter(model[i+len(name)]):
			return model[i+len(name):], true
		}
		within = isLetter(c)
	}
	return nil, false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
