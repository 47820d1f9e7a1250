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
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("k")))
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
		`listen: "0.0.0.0:1", keys: [{name: a}]`:                                             false,
		`listen: "0.0.0.0:1", keys: [{name: a, rate: -1, sha256: ` + sum + `}]`:              false,
		`listen: "0.0.0.0:1", keys: [{name: a, key_env: K}, {name: a, sha256: ` + sum + `}]`: false,
	} {
		for upstream, secret := range map[string]bool{`key_env: K`: true, `headers: {authorization: x}`: true, `keep_idle: 1s`: false} {
			_, err := Parse("t.yaml", []byte("listeners: [{"+text+`}]
upstreams: [{name: u, url: "http://127.0.0.1:1", `+upstream+`}]
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

// The smallest of the limits that hold is the limit.
func TestMemoryLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		limit int64
	}{
		"nothing known": {nil, 0},
		"the machine's": {map[string]string{"proc/meminfo": "MemTotal:       1024 kB\nMemFree: 1 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 1 << 20},
		"its own":       {map[string]string{"proc/meminfo": "MemTotal:       1024 kB\n", "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4096\n", "sys/fs/cgroup/a/memory.max": "8192\n"}, 4096},
		"one above":     {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "8192\n"}, 8192},
		"in a box":      {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/memory.max": "512\n"}, 512},
		"version 1":     {map[string]string{"proc/self/cgroup": "5:cpu,memory:/x\n3:pids:/y\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "77\n"}, 77},
	} {
		root := t.TempDir()
		for file, text := range tc.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := memoryLimit(root); got != tc.limit {
			t.Errorf("%s: %d, want %d", name, got, tc.limit)
		}
	}
}
