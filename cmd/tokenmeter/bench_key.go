package main

import (
	"net/url"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/secret"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// baseURLs are variables by which users name their own OpenAI-compatible host.
var baseURLs = []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}

// key finds the API key, empty without one.
func (c *targetFlags) key(check *checker, a *app) string {
	switch {
	case c.APIKeyEnv != "" && c.APIKey != "":
		check.addf("--api-key-env and --api-key-file exclude each other: give one of them")
	case c.APIKeyEnv != "":
		key, err := secret.FromVariable(c.APIKeyEnv, a.env)
		if err != nil {
			check.addf("--api-key-env: %w", err)
		}
		return key
	case c.APIKey != "":
		data, err := limitio.File(c.APIKey, 64<<10)
		if err != nil {
			check.addf("--api-key-file: %w", secret.FileError(c.APIKey, err))
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

// vendorKey is the key that a vendor's own variable holds. It goes to no other
// host unless the user named the variable, a file, or the host, and never in
// clear to another machine: for that the variable must be named.
func (c *targetFlags) vendorKey(a *app) string {
	name, key := c.ambient(a)
	if key != "" && !c.private() {
		a.warn("warning: %s is not sent, as %s would carry it in clear; use https://, or --api-key-env %s if that is meant", name, hostOf(c.URL), name)
		return ""
	}
	return key
}

// ambient finds the variable that belongs to the host, and the key in it.
func (c *targetFlags) ambient(a *app) (name, key string) {
	host := hostOf(c.URL)
	if host == "" {
		return "", ""
	}
	if p := api.ProviderOf(host); p != nil {
		for _, name := range p.Keys {
			if key, _ := a.env(name); strings.TrimSpace(key) != "" {
				return name, strings.TrimSpace(key)
			}
		}
		return "", ""
	}
	for _, name := range baseURLs {
		if base, ok := a.env(name); ok && hostOf(base) == host {
			key, _ := a.env("OPENAI_API_KEY")
			return "OPENAI_API_KEY", strings.TrimSpace(key)
		}
	}
	return "", ""
}

// private reports whether nobody between can read what is sent: it is encrypted, or
// does not leave this machine, as it would through a proxy on another one.
func (c *targetFlags) private() bool {
	u, err := url.Parse(c.URL)
	if err != nil {
		return false
	}
	if client.HTTPScheme(u.Scheme) != "http" {
		return true
	}
	if !secret.Loopback(u.Hostname()) {
		return false
	}
	if c.Proxy == "" {
		return true
	}
	proxy, err := client.ParseProxy(c.Proxy)
	return err == nil && secret.Loopback(proxy.Hostname())
}

// hostOf is host and port in lower case; a port that is the scheme's own is left out.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	host := strings.ToLower(u.Host)
	for scheme, port := range map[string]string{"https": ":443", "http": ":80"} {
		if client.HTTPScheme(u.Scheme) == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return host
}
