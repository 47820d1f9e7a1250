package secret

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
)

// A key is one whatever the header, field or flag that holds it is called.
func TestKeysUnderHarmlessNames(t *testing.T) {
	for _, key := range []string{
		"sk-proj-AbCdEfGhIjKlMnOp0123", "sk-ant-api03-AbCdEfGhIjKl", "gsk_AbCdEfGhIjKlMnOp0123", "hf_AbCdEfGhIjKlMnOp0123",
		"nvapi-AbCdEfGhIjKlMnOp0123", "csk-abcdefghijklmnop0123", "pplx-abcdefghijklmnop0123", "xai-abcdefghijklmnop0123",
		"r8_AbCdEfGhIjKlMnOp0123", "github_pat_AbCdEfGhIjKlMnOp0123", "AIzaSyAbCdEfGhIjKlMnOp0123456789AbCdEfG",
	} {
		for _, value := range []string{key, "use " + key + " please", `{"upstream":"` + key + `"}`, "a=1;k=" + key} {
			h := http.Header{"X-Config": {value}}
			for what, got := range map[string]string{
				"a line":             RedactHeaderLine("X-Config: " + value),
				"an argument":        strings.Join(RedactArgs([]string{"bench", "-H", "X-Config: " + value, "--name", value, value}), " "),
				"base64 of it":       ForTarget("http://h", h).String("you sent " + base64.StdEncoding.EncodeToString([]byte(value))),
				"it in capitals":     ForTarget("http://h", h).String("YOU SENT " + strings.ToUpper(key)),
				"its escaped form":   ForTarget("http://h", h).String(`{"error":"\"` + strings.ReplaceAll(key, "-", `-`) + `\""}`),
				"the start of a cut": ForTarget("http://h", h).String("you sent " + key[:len(key)-4] + "…"),
			} {
				hidden := base64.StdEncoding.EncodeToString([]byte(key))[:16]
				if low := strings.ToLower(got); strings.Contains(low, strings.ToLower(key[:len(key)-4])) || what == "base64 of it" && value == key && strings.Contains(got, hidden) {
					t.Errorf("%s shows %s: %s", what, key, got)
				}
			}
		}
	}
	// What is no key stays as it is.
	for _, value := range []string{"gpt-4o", "task-sk-1", "risk-averse-strategy", "basic", "r8_short", "text/event-stream; charset=utf-8"} {
		if got := RedactHeaderLine("X-Config: " + value); got != "X-Config: "+value {
			t.Errorf("%q", got)
		}
	}
}
