package main

import (
	"net/url"
	"strings"

	"tokenmeter/base/limitio"
)

// vendors are the hosts whose own variable is read without being asked for. A
// key never goes to any other host unless the user named its variable or file.
var vendors = []struct{ host, env string }{
	{"api.openai.com", "OPENAI_API_KEY"},
	{"api.anthropic.com", "ANTHROPIC_API_KEY"},
	{"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
	{"api.mistral.ai", "MISTRAL_API_KEY"},
	{"api.cohere.com", "CO_API_KEY"},
}

// baseURLs are variables by which users name their own OpenAI-compatible host.
var baseURLs = []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}

// key finds the API key, empty without one.
func (c *targetFlags) key(check *checker, a *app) string {
	switch {
	case c.APIKeyEnv != "" && c.APIKey != "":
		check.addf("--api-key-env and --api-key-file exclude each other: give one of them")
	case c.APIKeyEnv != "":
		key, _ := a.env(c.APIKeyEnv)
		if key = strings.TrimSpace(key); key == "" {
			check.addf("--api-key-env %s: the variable is empty; set it, or leave the flag out for a server without a key", c.APIKeyEnv)
		}
		return key
	case c.APIKey != "":
		data, err := limitio.File(c.APIKey, 64<<10)
		if err != nil {
			check.addf("--api-key-file: %w", err)
			return ""
		}
		key := strings.TrimSpace(string(data))
		if key == "" || strings.ContainsAny(key, "\r\n") {
			check.addf("--api-key-file %s: the file must hold one line, the key", c.APIKey)
		}
		return key
	}
	return c.vendorKey(a)
}

func (c *targetFlags) vendorKey(a *app) string {
	host := hostOf(c.URL)
	if host == "" {
		return ""
	}
	for _, v := range vendors {
		if host == v.host {
			key, _ := a.env(v.env)
			return strings.TrimSpace(key)
		}
	}
	for _, name := range baseURLs {
		if base, ok := a.env(name); ok && hostOf(base) == host {
			key, _ := a.env("OPENAI_API_KEY")
			return strings.TrimSpace(key)
		}
	}
	return ""
}

// hostOf is host and port in lower case; a port that is the scheme's own is left out.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"https": ":443", "http": ":80"} {
		if u.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return host
}
