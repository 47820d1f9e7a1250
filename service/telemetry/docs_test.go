package telemetry_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "tokenmeter/service/telemetry"
)

var update = flag.Bool("update", false, "write the table of docs/telemetry.md anew")

const (
	from = "<!-- table: go test ./service/telemetry -run Documentation -update -->\n"
	to   = "<!-- end of table -->\n"
)

// The table of docs/telemetry.md is this package's.
func TestDocumentation(t *testing.T) {
	const path = "../../docs/telemetry.md"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	want := head + from + "\n" + Markdown() + "\n" + to + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(data) != want {
		t.Errorf("the table of %s is older than the code: go test ./service/telemetry -run Documentation -update", path)
	}
}

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
			if !strings.HasSuffix(name, "_") && ByName(name) == nil {
				t.Errorf("%s names %s", path, m[1])
			}
		}
	}
}
