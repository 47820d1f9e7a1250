package main

import (
	"io"
	"strings"
	"testing"
)

// What a file or a server is called must not act on the terminal.
func TestErrorsAreInert(t *testing.T) {
	var stderr strings.Builder
	none := func(string) (string, bool) { return "", false }
	code := Main([]string{"report", "no\x1b[2J\u202e\u009bsuch"}, io.Discard, &stderr, none)
	if code != exitUsage || strings.ContainsAny(stderr.String(), "\x1b\u202e\u009b") || !strings.Contains(stderr.String(), "no␛[2J") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}
