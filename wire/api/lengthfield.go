package api

import "strings"

// The two names of the length field in OpenAI's dialects. Some servers refuse
// the older one, others ignore the newer one without a word.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// RefusesMaxTokens tells, from a server's words, a refused name from a refused
// value ("max_tokens is too large").
func RefusesMaxTokens(message string) bool {
	m := strings.ToLower(message)
	if !strings.Contains(m, MaxTokens) {
		return false
	}
	for _, word := range []string{MaxCompletionTokens, "unsupported", "not supported", "unrecognized", "unrecognised",
		"unknown", "not permitted", "unexpected", "deprecated"} {
		if strings.Contains(m, word) {
			return true
		}
	}
	return false
}
