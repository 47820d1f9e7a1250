package main

import "testing"

func TestPathOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://localhost:8000":    "",
		"http://localhost:8000/":   "",
		"localhost:11434":          "",
		"http://h/v1?key=x":        "v1",
		"https://h/a/v1/messages/": "a/v1/messages",
		"h:8000/v1/completions":    "v1/completions",
	} {
		if got := pathOf(url); got != want {
			t.Errorf("pathOf(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestAPIOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:8000":                         "openai-chat",
		"http://h:8000/v1":                      "openai-chat",
		"http://h:8000/v1/completions":          "openai-completions",
		"http://h:8000/v1/chat/completions?a=b": "openai-chat",
		"http://h:8000/v1/messages":             "anthropic",
		"https://api.anthropic.com":             "anthropic",
		"http://h:11434/api/generate":           "ollama-generate",
	} {
		var check checker
		if got := (&benchCmd{URL: url}).api(&check); got.Name != want || check.err() != nil {
			t.Errorf("%s: %s, %v; want %s", url, got.Name, check.err(), want)
		}
	}
}
