package api

import (
	"bytes"
	"strings"
)

// This file tells thoughts of which a reply has a summary, and in its output tokens all.

// leastSeal is how long a signature of Claude's thoughts is at least, in bytes: it holds
// them, encrypted. Others that speak Anthropic's API send none, an empty one, a
// placeholder or a hash.
const leastSeal = 65

// abridges reports whether a model of this name shows a summary of its thoughts, as
// Claude has done since version 4; 3.7 shows them in full. Before the name there may be
// the vendor's.
// Source: https://docs.claude.com/en/docs/build-with-claude/extended-thinking and
// https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-differences.html
func abridges(model []byte) bool {
	model = model[bytes.LastIndexByte(model, '/')+1:]
	if _, after, found := bytes.Cut(model, []byte("anthropic.")); found {
		model = after
	}
	name, is := bytes.CutPrefix(model, []byte("claude-"))
	version := bytes.IndexAny(name, "0123456789")
	return is && version >= 0 && name[version] >= '4'
}

// isGemini reports whether a model of this name is Google's, all of which show summaries
// of their thoughts, whatever a gateway calls these.
// Source: https://ai.google.dev/gemini-api/docs/thinking#summaries
func isGemini(model string) bool {
	return strings.HasPrefix(model[strings.LastIndexByte(model, '/')+1:], "gemini-")
}
