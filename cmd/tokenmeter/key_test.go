package main

import (
	"io"
	"testing"
)

// Keys go to no host that the user did not mean.
func TestVendorKey(t *testing.T) {
	vars := map[string]string{
		"OPENAI_API_KEY": "openai", "ANTHROPIC_API_KEY": "anthropic",
		"OPENAI_BASE_URL": "https://llm.example:8443/v1",
	}
	a := &app{env: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	for url, want := range map[string]string{
		"https://api.openai.com/v1":              "openai",
		"https://API.OpenAI.com:443/v1":          "openai",
		"https://api.anthropic.com":              "anthropic",
		"https://llm.example:8443/other":         "openai",
		"https://llm.example/v1":                 "",
		"https://api.openai.com.evil.example/v1": "",
		"https://evil.example/api.openai.com":    "",
		"https://api.openai.com@evil.example/":   "",
		"http://localhost:8000":                  "",
		"localhost:8000":                         "",
		"":                                       "",
	} {
		if got := (&targetFlags{URL: url}).vendorKey(a); got != want {
			t.Errorf("%s gets %q, want %q", url, got, want)
		}
	}
}

// A proxy on another machine reads what goes to this one in clear.
func TestVendorKeyThroughAProxy(t *testing.T) {
	for _, c := range []struct{ url, proxy, want string }{
		{"http://localhost:8000", "", "key"},
		{"http://localhost:8000", "http://127.0.0.1:3128", "key"},
		{"http://localhost:8000", "127.0.0.1:3128", "key"},
		{"http://localhost:8000", "proxy.example:3128", ""},
		{"http://localhost:8000", "http://proxy.example:3128", ""},
		{"ws://localhost:8000", "http://proxy.example:3128", ""},
		{"https://localhost:8000", "http://proxy.example:3128", "key"},
	} {
		vars := map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": c.url}
		a := &app{env: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, stderr: io.Discard}
		f := &targetFlags{URL: c.url}
		f.Proxy = c.proxy
		if got := f.vendorKey(a); got != c.want {
			t.Errorf("%s through %q gets %q, want %q", c.url, c.proxy, got, c.want)
		}
	}
}
