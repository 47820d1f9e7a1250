package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a terminal would act on becomes escapes, and the JSON says the same,
// however the writes cut it.
func FuzzJSON(f *testing.F) {
	f.Add("a\x1b[2J\u009b2J\u202e\u2066\u0085\x7f\ufeff\U000e0041é日", uint8(3))
	f.Fuzz(func(t *testing.T, s string, step uint8) {
		if !utf8.ValidString(s) {
			return
		}
		data, _ := json.Marshal(map[string]string{s: s})
		var out bytes.Buffer
		w := JSONWriter(&out)
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(step%7)+1)
			if m, err := w.Write(rest[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if got := out.String(); got != Text(got) || got != string(JSON(data)) {
			t.Fatalf("%q", got)
		}
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back[s] != s {
			t.Fatalf("%q came back as %q, %v", s, back, err)
		}
	})
}

func TestLinesWriter(t *testing.T) {
	var out strings.Builder
	w := LinesWriter(&out)
	for _, c := range []byte("a\té\n\x1b[1m\u009b\u202e") {
		if _, err := w.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := out.String(), "a\té\n␛[1m\uFFFD\uFFFD"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
