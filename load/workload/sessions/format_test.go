package sessions

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// How a file begins is told of what is there, and what is no JSON ends it: a line that a
// killed writer cut with the next one behind it, a brace that a hand left out.
func TestBeginning(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1}` + "\n" + `{"b":2}`:        "a b",
		`[{"a":1},{"b":2}]`:                 "a b",
		`{"a":1,` + "\n" + `{"b":2}` + "\n": "a",
		`{"a":1` + "\n" + `{"b":2}`:         "a",
		`{"a": {"text":"x"} {"b":2}`:        "a",
		`[{"a":1,{"b":2}]`:                  "a",
		`{"a":1,[{`:                         "a",
		`{"a":1`:                            "a",
		`{{`:                                "",
		`{"a":[1,2`:                         "a",
		`no JSON`:                           "",
		"":                                  "",
		"{\"a\":\"x\n{\"b\":1}\n":           "a",
		`{"a":` + strings.Repeat("[", 100_000) + `{"b":1`: "a",
	} {
		if got := beginning(strings.NewReader(text)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}

func FuzzBeginning(f *testing.F) {
	for _, name := range []string{"claude.jsonl", "codex.jsonl", "spans.json", "weka.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data[:min(len(data), 2000)]))
	}
	f.Add(`{"a":1,` + "\n" + `{"b":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(beginning(strings.NewReader(text))); n > len(text)/2 {
			t.Errorf("%d names in %d bytes", n, len(text))
		}
	})
}
