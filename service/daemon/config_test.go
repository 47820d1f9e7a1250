package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/base/config"
)

func noEnv(string) (string, bool) { return "", false }

const small = `listeners: [{listen: "127.0.0.1:0"}]
upstreams: [{name: a, url: "http://127.0.0.1:1"}]
routes: [{name: all, upstreams: [{name: a}]}]
`

func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	const bad = `listeners:
  - listen: nowhere
    streams: -1
upstreams:
  - name: a
    url: ftp://x
    key_env: NO_SUCH_KEY
  - name: a
    url: http://h
    heders: {}
routes:
  - name: r
    paths: [v1/chat]
    upstreams:
      - {name: b, weight: -2}
    usage: maybe
    limits: {body: 1 elephant}
admin: {listen: "0.0.0.0:9464"}
objectives: ["p99 tpoot < 1ms", "output_tps > 5"]
keep: 2
identity: {session: cookie}
`
	_, err := Parse("bad.yaml", []byte(bad), noEnv)
	if err == nil {
		t.Fatal("it was taken")
	}
	for _, want := range []string{
		"bad.yaml:2:", `"nowhere" is no HOST:PORT`, "bad.yaml:3:", "bad.yaml:6:", `scheme "ftp"`, "bad.yaml:7:", "NO_SUCH_KEY is not set",
		"bad.yaml:8:", "is there already", "bad.yaml:10:", `did you mean "headers"?`, "bad.yaml:13:", `"v1/chat" is no path`,
		"bad.yaml:15:", `there is no upstream "b"`, "a weight below 0", "bad.yaml:16:", "bad.yaml:17:", "is no size",
		"bad.yaml:18:", "can be reached from elsewhere", "bad.yaml:19:", "bad.yaml:20:", "a share is between 0 and 1", "bad.yaml:21:", "cookie",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestASmallFileIsEnough(t *testing.T) {
	p, err := Parse("small.yaml", []byte(small), noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if p.Config.Admin.Listen != DefaultAdmin {
		t.Errorf("admin at %s", p.Config.Admin.Listen)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "4096": 4096, "64KiB": 64 << 10, "32 MiB": 32 << 20, "1GiB": 1 << 30} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s is %d (%v), want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.5MiB", "9999999GiB", "MiB"} {
		var s Size
		if s.UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestSchemaFile(t *testing.T) {
	data, err := config.Schema(&Config{}, "urn:tokenmeter:schema:serve", "The configuration of tokenmeter serve")
	if err != nil {
		t.Fatal(err)
	}
	var any map[string]any
	if err := json.Unmarshal(data, &any); err != nil {
		t.Fatal(err)
	}
}

// The examples are good configurations.
func TestExamplesAreGood(t *testing.T) {
	files, _ := filepath.Glob("../../examples/deploy/*.yaml")
	n := 0
	for _, path := range files {
		if !strings.HasPrefix(filepath.Base(path), "tokenmeter") {
			continue
		}
		n++
		if _, err := Load(path, func(string) (string, bool) { return "x", true }); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n == 0 {
		t.Error("there is no example")
	}
	data, err := os.ReadFile("../../examples/deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, inner, _ := strings.Cut(string(data), "tokenmeter.yaml: |\n")
	inner, _, _ = strings.Cut(inner, "---\n")
	inner = strings.ReplaceAll(inner, "token_file: /etc/tokenmeter-token/token", "token_env: TOKEN")
	if _, err := Parse("kubernetes.yaml", []byte(inner), func(string) (string, bool) { return "x", true }); err != nil {
		t.Error(err)
	}
}
