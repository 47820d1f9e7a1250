package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tokenmeter/service/telemetry/prometheus"
)

// A collector's key that is replaced on disk is noticed, and it is said that the daemon goes on
// with the old one.
func TestRotatedKeyOfTheCollector(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	file := "listeners: [{name: m, listen: \"127.0.0.1:0\"}]\nupstreams: [{name: u, url: \"http://127.0.0.1:1\"}]\nroutes: [{name: r, upstreams: [{name: u}]}]\n" +
		"otel: {endpoint: \"http://127.0.0.1:1\", key_file: " + key + "}\n"
	plan := func(text string) *Plan {
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Parse("t.yaml", []byte(file), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before, now := plan("first-0123456789"), plan("second-0123456789")
	if !slices.Contains(now.Files(), key) {
		t.Error("nobody looks whether the file changes")
	}
	x := &exporters{page: prometheus.New(prometheus.Options{}, nil)}
	defer x.page.Close()
	var log bytes.Buffer
	x.set(before, now, slog.New(slog.NewTextHandler(&log, nil)))
	if !strings.Contains(log.String(), "after a restart") || strings.Contains(log.String(), "0123456789") {
		t.Errorf("the log says %q", log.String())
	}
}
