package spelling

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"ttft", "ttft", 0}, {"tfft", "ttft", 1}, {"kitten", "sitting", 3}, {"tpto", "tpot", 1},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d letters, want %d", c.a, c.b, got, c.want)
		}
	}
}

// It is a distance: the same both ways, and no more than the longer word.
func TestDistanceBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[abc]{0,8}`).Draw(t, "a"), rapid.StringMatching(`[abc]{0,8}`).Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || d > max(len(a), len(b)) || (d == 0) != (a == b) {
			t.Errorf("%q to %q is %d, back %d", a, b, d, Distance(b, a))
		}
	})
}

func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"rat":    `; did you mean "rate"?`,
		"banana": "; known are rate, requests",
	} {
		if got := Meant(name, []string{"rate", "requests"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Meant("x", nil); got != "" {
		t.Errorf("nothing is known: %q", got)
	}
}
