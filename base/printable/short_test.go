package printable

import "testing"

func TestShort(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"aé", 2, "a…"}, // é is two bytes
		{"aé", 3, "aé"},
		{"日本語", 7, "日本…"},
	} {
		if got := Short(c.text, c.most); got != c.want {
			t.Errorf("Short(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
