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
		"unix:///run/llm.sock":     "",
		"http+unix://%2Frun%2Fs":   "",
	} {
		if got := pathOf(url); got != want {
			t.Errorf("pathOf(%q) = %q, want %q", url, got, want)
		}
	}
}

func TestAPIOfURL(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:8000":                         "",
		"http://h:8000/v1":                      "",
		"unix:///run/v1/messages":               "",
		"http://h:8000/v1/completions":          "openai-completions",
		"http://h:8000/v1/chat/completions?a=b": "openai-chat",
		"http://h:8000/v1/messages":             "anthropic",
		"https://api.anthropic.com":             "anthropic",
		"http://h:11434/api/generate":           "ollama-generate",
	} {
		var check checker
		got := ""
		if a := (&targetFlags{URL: url}).apiOf(&check); a != nil {
			got = a.Name
		}
		if got != want || check.err() != nil {
			t.Errorf("%s: %q, %v; want %q", url, got, check.err(), want)
		}
	}
}
