package daemon

import (
	"fmt"
	"strings"
	"testing"
)

// good is a configuration without a mistake; tests add one to it.
const good = `listeners:
  - name: main
    listen: 127.0.0.1:0
    #listener
upstreams:
  - name: a
    url: http://127.0.0.1:9
    #upstream
routes:
  - name: all
    upstreams:
      - name: a
        #share
    #route
`

// Every mistake is told once, at the place that ¦ marks.
func TestOneMistakeHasOnePlace(t *testing.T) {
	for _, c := range []struct{ where, text, says string }{
		// kinds of values
		{"upstream", "connect_timeout: ¦abc", "is no time"},
		{"upstream", "connect_timeout: ¦5", "needs a unit"},
		{"upstream", "connect_timeout: ¦[1s]", "not a list"},
		{"listener", "streams: ¦many", "whole number"},
		{"listener", "streams: ¦1.5", "whole number"},
		{"listener", "streams: ¦99999999999999999999", "whole number"},
		{"listener", "hosts: ¦x", "want a list"},
		{"listener", "open: ¦1", "want true or false"},
		{"share", "weight: ¦x", "whole number"},
		{"route", "drain: ¦5s", "want fields"},
		{"route", "drain: {size: ¦5MB}", "is no size"},
		{"route", "usage: ¦stripp", "want strip, pass, off"},
		{"route", "leave: ¦[cancel]", "not a list"},
		{"upstream", "headers: {a: ¦[b]}", "not a list"},
		{"upstream", "health: {every: ¦soon}", "is no time"},
		{"", "keep: ¦lots", "want a number"},
		{"", "keep: ¦.nan", "want a number"},
		{"", "log: {level: ¦loud}", "want debug"},
		{"", "models: ¦{a: b}", "want a list"},
		{"", "models: [a, ¦[b]]", "want a text"},
		// names of fields
		{"", "¦listners: []", `did you mean "listeners"?`},
		{"upstream", "¦kye_env: X", `did you mean "key_env"?`},
		{"route", "limits: {¦stream: 1}", `did you mean "streams"?`},
		{"", "metrics: {¦buckets: [1]}", "known are"},
		{"", "¦routes: []", "given in line"},
		// what is missing
		{"listener", "tls: ¦{cert: a}", `"key" is missing`},
		{"", "scrape: [¦{}]", `"url" is missing`},
		{"", "scrape: [{¦uri: http://h:1/metrics}]", `did you mean "url"?`},
		{"", "scrape: [{¦url: }]", "has no value"},
		{"", "scrape: [{url: ¦\"\"}]", "is empty"},
		// ranges
		{"upstream", "¦connect_timeout: -5s", "below 0"},
		{"upstream", "health: {¦failures: -1}", "below 0"},
		{"listener", "¦streams: -1", "below 0"},
		{"share", "¦weight: -1", "below 0"},
		{"route", "drain: {¦time: -5s}", "below 0"},
		{"route", "limits: {¦streams: -1}", "below 0"},
		{"", "¦keep: 2", "between 0 and 1"},
		{"", "stop: {¦drain: -1s}", "below 0"},
		{"", "slo:\n  objectives:\n    - name: a\n      objective: ttft < 1s\n      target: ¦2", "is no share"},
		// references, and what files and variables hold
		{"route", "listeners: [main, ¦mian]", `did you mean "main"?`},
		{"upstream", "¦key_env: TOKENMETER_NOT_SET", "is not set"},
		{"upstream", "¦ca_file: /nope", "no such file"},
		{"upstream", "¦cert: /nope", "give key too"},
		{"upstream", "¦key: /nope", "give cert too"},
		{"listener", "¦keys_file: /nope", "no such file"},
		{"", "¦prices: /nope", "no such file"},
		{"", "identity: {¦secret_file: /nope}", "no such file"},
		{"", "admin: {token_env: A, ¦token_file: b}", "both given"},
		// texts with a form of their own
		{"", "admin: {¦listen: x}", "no HOST:PORT"},
		{"", "admin: {¦listen: 127.0.0.1:99999}", "is no port"},
		{"", "admin: {¦listen: 127.0.0.1:abc}", "is no port"},
		{"", "admin: {¦listen: 0.0.0.0:9}", "can be reached"},
		{"route", "¦api: opnai-chat", "unknown API"},
		{"route", `paths: [¦"v1"]`, "is no path"},
		{"upstream", "health: {¦path: x}", "begins with /"},
		{"upstream", `headers: {¦"a b": c}`, "no header name"},
		{"upstream", `headers: {¦a: "x\ny"}`, "control character"},
		{"listener", "keys: [{name: x, ¦sha256: ab}]", "64 digits"},
		{"listener", "keys: [{name: x, key_env: PATH, ¦rate: -1}]", "below 0"},
		{"", `objectives: [¦"p99 tpt < 5ms"]`, `did you mean "tpot"?`},
		{"", "identity: {¦session: cookie}", "traceparent"},
		{"", "otel: {¦endpoint: x}", "no URL"},
		{"", "datadog: {¦address: x}", "HOST:PORT"},
		// YAML
		{"", "keep: ¦[1", "not found"},
		{"", `keep: ¦"1`, "end character"},
		{"", "prices: ¦*u", "nothing is named"},
		{"", "---\n¦a: 1", "second document"},
	} {
		text, marked := good, c.text
		if c.where == "" {
			text += marked + "\n"
		} else {
			text = strings.Replace(text, "#"+c.where, marked, 1)
		}
		before, after, _ := strings.Cut(text, "¦")
		line := 1 + strings.Count(before, "\n")
		column := len(before) - strings.LastIndex(before, "\n")
		place := fmt.Sprintf("x.yaml:%d:%d: ", line, column)
		_, err := Parse("x.yaml", []byte(before+after), func(name string) (string, bool) { return "k", name != "TOKENMETER_NOT_SET" })
		got := fmt.Sprint(err)
		if !strings.HasPrefix(got, place) || !strings.Contains(got, c.says) || strings.Contains(got, "\n") {
			t.Errorf("%s\n  got  %s\n  want %s… %s", c.text, got, place, c.says)
		}
	}
}

// A mistake that aliases repeat is one mistake.
func TestAliasesRepeatNoMistake(t *testing.T) {
	text := strings.Replace(good, "  - name: a\n    url: http://127.0.0.1:9\n    #upstream\n",
		"  - &x\n    name: a\n    url: http://127.0.0.1:9\n    connect_timeout: -1s\n  - <<: *x\n    name: b\n", 1)
	_, err := Parse("x.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if got := fmt.Sprint(err); got != "x.yaml:9:5: a time below 0" {
		t.Error(got)
	}
}
