package daemon

import (
	"strings"
	"testing"
)

// A key that stands where the name of a variable belongs is in no message,
// whichever of the options it is.
func TestKeyInPlaceOfVariable(t *testing.T) {
	const key = "sk-proj-0123456789abcdef"
	const upstream = "upstreams: [{name: a, url: \"http://h\"}]\nlisteners: [{name: l, listen: \"127.0.0.1:0\"}]\n"
	for name, text := range map[string]string{
		"upstream":  "upstreams: [{name: a, url: \"http://h\", key_env: KEY}]\nlisteners: [{name: l, listen: \"127.0.0.1:0\"}]",
		"file":      "upstreams: [{name: a, url: \"http://h\", key_file: KEY}]\nlisteners: [{name: l, listen: \"127.0.0.1:0\"}]",
		"client":    "upstreams: [{name: a, url: \"http://h\"}]\nlisteners: [{name: l, listen: \"127.0.0.1:0\", keys: [{name: c, key_env: KEY}]}]",
		"admin":     upstream + "admin: {listen: \"127.0.0.1:0\", token_env: KEY}",
		"otel":      upstream + "otel: {endpoint: \"http://h\", key_env: KEY}",
		"scrape":    upstream + "scrape: [{url: \"http://h/metrics\", key_env: KEY}]",
		"rows":      upstream + "rows: {folder: d, s3: {endpoint: \"http://h\", bucket: b, region: r, access_key_env: KEY, secret_key_env: KEY, token_env: KEY}}",
		"slack":     upstream + "slo: {notify: [{slack_env: KEY}]}",
		"messenger": upstream + "slo: {notify: [{webhook: \"http://h\", key_env: KEY}]}",
	} {
		_, err := Parse("c.yaml", []byte(strings.ReplaceAll(text, "KEY", key)), func(string) (string, bool) { return "", false })
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "not shown") && name != "file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
