package secret

import (
	"encoding/base64"
	"strings"
)

// valueSecrets lists the secret parts of a sensitive header's value.
func valueSecrets(name, value string) []string {
	value = strings.TrimSpace(value)
	out := Values(value)
	if strings.EqualFold(name, "cookie") || strings.EqualFold(name, "set-cookie") {
		for part := range strings.SplitSeq(value, ";") {
			if _, v, ok := strings.Cut(part, "="); ok {
				out = append(out, Values(strings.Trim(strings.TrimSpace(v), `"`))...)
			}
		}
		return out
	}
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || len(out) > 1 {
		return out
	}
	rest = strings.TrimSpace(rest)
	out = append(out, Values(rest)...)
	if strings.EqualFold(scheme, "basic") {
		if dec, err := base64.StdEncoding.DecodeString(rest); err == nil {
			out = append(out, string(dec))
			if _, password, ok := strings.Cut(string(dec), ":"); ok {
				out = append(out, password)
			}
		}
	}
	return out
}

// maskValue keeps an authorisation scheme and hides the rest.
func maskValue(value string) string {
	if scheme, _, ok := strings.Cut(strings.TrimSpace(value), " "); ok {
		switch strings.ToLower(scheme) {
		case "bearer", "basic", "digest", "token", "apikey":
			return scheme + " " + Mask
		}
	}
	return Mask
}

// RedactHeaderLine masks the value of a "Name: value" line when it is sensitive, else
// the fields in it that are (a gateway's settings in JSON), and what looks like a key.
func RedactHeaderLine(line string) string {
	name, value, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(strings.TrimSpace(name), "= \t\r\n") {
		return redactLoose(line)
	}
	if !SensitiveHeader(name) {
		return name + ":" + maskLooks(maskFields(value, SensitiveField))
	}
	space := value[:len(value)-len(strings.TrimLeft(value, " \t"))]
	return name + ":" + space + maskValue(value)
}

// redactLoose masks what follows the first word of a line that is no header:
// nobody can tell whether it is a key. NAME=value is a header, as vLLM's tool takes it.
func redactLoose(line string) string {
	const between = "=: \t\r\n"
	if name, value, ok := strings.Cut(line, "="); ok && name != "" && value != "" && !strings.ContainsAny(name, between) && maskLooks(name) == name && !SensitiveHeader(name) {
		return name + "=" + maskText(value)
	}
	if i := strings.IndexAny(line, between); i >= 0 && strings.Trim(line[i:], between) != "" {
		return line[:i+1] + Mask
	}
	return line
}
