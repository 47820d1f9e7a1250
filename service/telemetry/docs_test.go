package telemetry_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tokenmeter/service/telemetry/telemetrytest"
)

var mention = regexp.MustCompile(`(?:^|[^:\w])(tokenmeter_[a-z0-9_]+)`)

// No page names a metric that does not exist.
func TestPagesNameWhatExists(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, path := range append(pages, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				name = strings.TrimSuffix(name, end)
			}
			if !strings.HasSuffix(name, "_") && telemetrytest.ByName(name) == nil {
				t.Errorf("%s names %s", path, m[1])
			}
		}
	}
}
