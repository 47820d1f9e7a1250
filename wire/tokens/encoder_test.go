package tokens

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// count is the number of tokens of a text, or -1 with an error.
func count(enc Encoder, text string) int {
	n, err := enc.Count(text)
	if err != nil {
		return -1
	}
	return n
}

// B17: a hundred generated spaces encode to far fewer tokens when joined, which
// is why a server's usage comes first.
func TestB17JoinedSpaces(t *testing.T) {
	if n, _ := open(t, Default, Options{}).Count(strings.Repeat(" ", 100)); n != 2 { // as tiktoken
		t.Errorf("100 spaces have %d tokens, want 2", n)
	}
}

// B18: nothing is added to a text, so the empty one has no tokens.
func TestB18NoTokensForNoText(t *testing.T) {
	for _, name := range Names() {
		for _, opt := range []Options{{}, {Specials: true}} {
			enc := open(t, name, opt)
			if n, _ := enc.Count(""); n != 0 {
				t.Errorf("%s: the empty text has %d tokens", name, n)
			}
			if ids, _ := enc.Append(nil, ""); len(ids) != 0 {
				t.Errorf("%s: the empty text has ids %v", name, ids)
			}
		}
	}
}

// A byte that is not UTF-8 is counted and comes back as it was.
func TestNoUTF8(t *testing.T) {
	for _, name := range Names() {
		enc := open(t, name, Options{})
		for _, text := range []string{"\xff", "a\x80b", "\xe4\xb8", "x\xc3(\xf0\x9f\x98 y", "\xed\xa0\x80"} {
			ids, _ := enc.Append(nil, text)
			back, err := enc.AppendText(nil, ids)
			if err != nil || string(back) != text || count(enc, text) != len(ids) {
				t.Errorf("%s: %q has %d ids, a count of %d, and decodes to %q", name, text, len(ids), count(enc, text), back)
			}
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	enc := open(t, Default, Options{})
	if got, _ := enc.Append([]uint32{1, 2}, "hello world"); !slices.Equal(got, []uint32{1, 2, 24912, 2375}) {
		t.Errorf("ids %v", got)
	}
	if got, err := enc.AppendText([]byte("x:"), []uint32{24912, 2375}); err != nil || string(got) != "x:hello world" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := enc.AppendText(nil, []uint32{1 << 30}); err == nil {
		t.Error("an id that is no token decodes")
	}
}

func TestByNameRefuses(t *testing.T) {
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.json")
	if err := os.WriteFile(broken, []byte(`{"model":`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{
		"gpt5": "is neither a file nor one of cl100k_base, o200k_base", folder: "has no tokenizer.json", broken: "JSON is broken",
	} {
		if _, err := ByName(name); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error %v, want one with %q", name, err, why)
		}
	}
	if enc, err := ByName(""); err != nil || enc.Name() != Default {
		t.Errorf("the empty name: %v", err)
	}
}

// Counting allocates nothing once it has run.
func TestCountAllocatesNothing(t *testing.T) {
	for _, name := range Names() {
		enc := open(t, name, Options{})
		text := strings.Repeat("Die Würde des Menschen ist unantastbar. हिन्दी, 123!\n", 20)
		enc.Count(text)
		if n := testing.AllocsPerRun(20, func() { enc.Count(text) }); n > 0 {
			t.Errorf("%s: %v allocations a count", name, n)
		}
	}
}

// One letter again and again is one piece, and no matter of its length squared:
// a hundred times the text takes about a hundred times as long, not ten thousand.
func TestLongRunsAreNotQuadratic(t *testing.T) {
	enc := open(t, Default, Options{})
	took := func(n int) time.Duration {
		text, least := strings.Repeat("a", n), time.Hour
		for range 3 {
			start := time.Now()
			enc.Count(text)
			least = min(least, time.Since(start))
		}
		return least
	}
	took(20_000)
	if short, long := took(20_000), took(2_000_000); long > 1000*short {
		t.Errorf("20,000 letters take %v, 2,000,000 take %v", short, long)
	}
}

// Whatever the text: no panic, as many ids as counted, and the text comes back.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{"", "hello world", "a\u0301\u1c89\u1c8a 中文 'S \r\n  x", "\xff\xfe", "<|endoftext|>", strings.Repeat("ab", 200)} {
		f.Add(s)
	}
	var all []Encoder
	for _, name := range Names() {
		all = append(all, open(f, name, Options{}), open(f, name, Options{Specials: true}))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, enc := range all {
			ids, _ := enc.Append(nil, text)
			if n, _ := enc.Count(text); n != len(ids) {
				t.Errorf("%s: Count(%q) = %d, but %d ids", enc.Name(), text, n, len(ids))
			}
			back, err := enc.AppendText(nil, ids)
			if err != nil || string(back) != text {
				t.Errorf("%s: %q decodes to %q, %v", enc.Name(), text, back, err)
			}
		}
	})
}
