package api

import "strings"

// This file tells who made a model, by its name.

const digits = "0123456789"

// isClaude reports whether a model of this name is Anthropic's.
func isClaude(model string) bool {
	_, is := behindMake(model, "claude")
	return is
}

// isGemini reports whether a model of this name is Google's.
func isGemini(model string) bool {
	_, is := behindMake(model, "gemini")
	return is
}

// behindMake is what stands behind the make in a model's name. A digit before it is of another
// model, which was made of its answers: Qwen3-8B-Gemini-2.5-Flash-Distill.
func behindMake(model, name string) (behind string, is bool) {
	at := makeIn(model, name)
	if at < 0 || strings.ContainsAny(model[strings.LastIndexByte(model, '/')+1:at], digits) {
		return "", false
	}
	return model[at+len(name):], true
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
