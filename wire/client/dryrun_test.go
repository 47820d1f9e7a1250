package client

import (
	"os/exec"
	"strings"
	"testing"

	"tokenmeter/base/printable"
)

// A word means the text to a shell, and does nothing to a terminal.
func TestShellQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	for _, text := range []string{"", "plain", "it's", `a\b`, "two\nlines", "日本語", "a\u009b31m\u202eb\x7f'\\x41", "prompt=\u200fשלום", "\x1b[2J1"} {
		word := shellQuote(text)
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' && r != '\n' }) || printable.Lines(word) != word {
			t.Errorf("%q acts on a terminal", word)
		}
		got, err := exec.Command(bash, "-c", "printf %s "+word).Output()
		if err != nil || string(got) != text {
			t.Errorf("%s is %q to bash, %v; want %q", word, got, err, text)
		}
	}
}
