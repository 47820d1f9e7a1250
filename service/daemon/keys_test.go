package daemon

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// An address that others reach, with a key to spend, needs a lock, or the word
// that it has none.
func TestTheOperatorsKeyIsNoPublicService(t *testing.T) {
	dir := t.TempDir()
	sumOf := func(key string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(key))) }
	sum := sumOf("k")
	file := filepath.Join(dir, "keys.yaml")
	if err := os.WriteFile(file, []byte("keys: [{name: a, sha256: "+sum+"}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { return "canary", name == "K" }
	for text, good := range map[string]bool{
		`listen: "0.0.0.0:1"`:                                                                false,
		`listen: ":1"`:                                                                       false,
		`listen: "[::]:1"`:                                                                   false,
		`listen: "10.0.0.1:1"`:                                                               false,
		`listen: "gpu.example:1"`:                                                            false,
		`listen: "127.0.0.1:1"`:                                                              true,
		`listen: "localhost:1"`:                                                              true,
		`listen: "0.0.0.0:1", open: true`:                                                    true,
		`listen: "0.0.0.0:1", keys_file: ` + file:                                            true,
		`listen: "0.0.0.0:1", keys_file: ` + file + "x":                                      false,
		`listen: "0.0.0.0:1", keys: []`:                                                      false,
		`listen: "0.0.0.0:1", keys: [{name: a, key_env: K}]`:                                 true,
		`listen: "0.0.0.0:1", keys: [{name: a, key_env: L}]`:                                 false,
		`listen: "0.0.0.0:1", keys: [{name: a, sha256: ` + sum + `}]`:                        true,
		`listen: "0.0.0.0:1", keys: [{name: a, sha256: "sha256:` + sum + `"}]`:               true,
		`listen: "0.0.0.0:1", keys: [{name: a, sha256: ` + sum[1:] + `}]`:                    false,
		`listen: "0.0.0.0:1", keys: [{name: a, sha256: ` + sumOf("") + `}]`:                  false,
		`listen: "0.0.0.0:1", keys: [{name: a, sha256: ` + sumOf("\n") + `}]`:                false,
		`listen: "0.0.0.0:1", keys: [{name: a}]`:                                             false,
		`listen: "0.0.0.0:1", keys: [{name: a, rate: -1, sha256: ` + sum + `}]`:              false,
		`listen: "0.0.0.0:1", keys: [{name: a, key_env: K}, {name: a, sha256: ` + sum + `}]`: false,
	} {
		for upstream, secret := range map[string]bool{
			`url: "http://a:1", key_env: K`: true, `url: "http://a:1", headers: {authorization: x}`: true,
			`url: "http://u:p@a:1"`: true, `url: "http://a:1/?key=x"`: true, `url: "http://a:1/?api-version=1&api-key=x"`: true, `url: "http://a:1/v1?code=x"`: true,
			`url: "http://a:1/?api-version=1"`: false, `url: "http://a:1", keep_idle: 1s`: false,
		} {
			_, err := Parse("t.yaml", []byte("listeners: [{"+text+`}]
upstreams: [{name: u, `+upstream+`}]
routes: [{name: r, upstreams: [{name: u}]}]
`), env)
			open := strings.HasSuffix(strings.TrimSuffix(text, `, keys: []`), `:1"`)
			if wanted := good || open && !secret; (err == nil) != wanted {
				t.Errorf("%s, %s: %v", text, upstream, err)
			}
			if err != nil && (strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "t.yaml:1:")) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// Local addresses take requests for local names only, those of metrics too.
func TestLocalListenersKnowTheirNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "127.0.0.1:1"}, {name: n, listen: "127.0.0.2:1", hosts: [ours.example]}, {name: o, listen: "front:1"}`, allRoutes))
		for _, tc := range []struct {
			address, path, host string
			status              int
		}{
			{"127.0.0.1:1", "/v1/models", "localhost:1", 200}, {"127.0.0.1:1", "/v1/models", "evil.example", 421},
			{"127.0.0.2:1", "/v1/models", "ours.example:1", 200}, {"127.0.0.2:1", "/v1/models", "evil.example", 421},
			{"front:1", "/v1/models", "evil.example", 200},
			{"localhost:2", "/metrics", "localhost", 200}, {"localhost:2", "/metrics", "evil.example", 421},
		} {
			status, _, err := w.get(tc.address, strings.Replace(get(tc.path), "localhost", tc.host, 1))
			if err != nil || status != tc.status {
				t.Errorf("%+v: %d, %v", tc, status, err)
			}
		}
	})
}
